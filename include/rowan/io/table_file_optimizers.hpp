// rowan/io/table_file_optimizers.hpp: update_rows, sgd, adagrad and rowwise_adagrad for a TableFile.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>
#include <rowan/sparse/update_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Calls step(), which changes these rows, first without changes, so that it refuses its arguments before anything is
/// written.
template <class T, class Files, class Rows, class Step>
void change_and(Cpu exec, TableFile<T, Files>& table, Rows const& rows, Step const& step) {
    if (!table.holds(table.rows()))
        throw Error({"rows() of ", table.path(), " is another tensor than that of the file"});
    {
        OnlyChecking const checking(true);
        step();
    }
    if (only_checking()) return;
    table.change(exec, rows);
    step();
}

/// The state "moment" of a file, of elements of type M.
template <class M, class T, class Files>
Tensor<M>& moment_of(TableFile<T, Files>& table) {
    auto& moment = table.template state<M>("moment");
    if (!table.holds(moment))
        throw Error({"the state \"moment\" of ", table.path(), " is another tensor than that of the file"});
    return moment;
}

/// The type of the moments that optimizers of T use unless told otherwise.
template <class M, class T>
struct moment_type {
    using type = M;
};
template <class T>
struct moment_type<void, T> {
    using type = typename dtype<T>::sum;
};

}  // namespace detail

/// update_rows on the rows of a file: the same bits. States are those of the file.
///     update_rows(Cpu{}, table, gradient, rule, table.state<float>("moment"));
/// shapes   as update_rows for tensors
/// errors   those of update_rows; Error if a state is not of the file; those of TableFile::change; the table is
///          unchanged, unless the rule throws
/// cost     that of TableFile::change and of update_rows
template <class T, class Files, class G, class Rule, class... S>
void update_rows(Cpu exec, TableFile<T, Files>& table, SelectedRows<G> const& grad, Rule const& rule,
                 Tensor<S>&... state) {
    if (!(table.holds(state) && ...)) throw Error({"a state is not one of ", table.path(), ": table.state<S>(name)"});
    detail::change_and(exec, table, grad.rows(), [&] { update_rows(exec, grad, rule, table.rows(), state...); });
}

/// sgd on the rows of a file: the same bits.
/// shapes   as sgd for tensors
/// errors   those of sgd and of TableFile::change; the table is unchanged
/// cost     that of TableFile::change and of sgd
template <class T, class Files, class G>
void sgd(Cpu exec, TableFile<T, Files>& table, SelectedRows<G> const& grad, double learning_rate) {
    detail::change_and(exec, table, grad.rows(), [&] { sgd(exec, table.rows(), grad, learning_rate); });
}

/// adagrad on the rows of a file and its state "moment", [height, width]: the same bits. M is the element type of the
/// moment: by default that of sums, float or double.
/// shapes   as adagrad for tensors
/// errors   Error if there is no state "moment", or another tensor was assigned to it; TypeError if its elements are
///          not M; those of adagrad and of TableFile::change; the table is unchanged
/// cost     that of TableFile::change and of adagrad
template <class M = void, class T, class Files, class G>
void adagrad(Cpu exec, TableFile<T, Files>& table, SelectedRows<G> const& grad, AdaGradOptions options = {}) {
    auto& moment = detail::moment_of<typename detail::moment_type<M, T>::type>(table);
    detail::change_and(exec, table, grad.rows(), [&] { adagrad(exec, table.rows(), moment, grad, options); });
}

/// rowwise_adagrad on the rows of a file and its state "moment", [height], otherwise as adagrad.
/// errors   those of adagrad
/// cost     that of TableFile::change and of rowwise_adagrad
template <class M = void, class T, class Files, class G>
void rowwise_adagrad(Cpu exec, TableFile<T, Files>& table, SelectedRows<G> const& grad, AdaGradOptions options = {}) {
    auto& moment = detail::moment_of<typename detail::moment_type<M, T>::type>(table);
    detail::change_and(exec, table, grad.rows(), [&] { rowwise_adagrad(exec, table.rows(), moment, grad, options); });
}

template <class T, class Files, class G, class Rule, class... S>
void update_rows(TableFile<T, Files>& table, SelectedRows<G> const& grad, Rule const& rule, Tensor<S>&... state) {
    update_rows(Cpu{}, table, grad, rule, state...);
}

template <class T, class Files, class G>
void sgd(TableFile<T, Files>& table, SelectedRows<G> const& grad, double learning_rate) {
    sgd(Cpu{}, table, grad, learning_rate);
}

template <class M = void, class T, class Files, class G>
void adagrad(TableFile<T, Files>& table, SelectedRows<G> const& grad, AdaGradOptions options = {}) {
    adagrad<M>(Cpu{}, table, grad, options);
}

template <class M = void, class T, class Files, class G>
void rowwise_adagrad(TableFile<T, Files>& table, SelectedRows<G> const& grad, AdaGradOptions options = {}) {
    rowwise_adagrad<M>(Cpu{}, table, grad, options);
}

}  // namespace rowan::inline v0
