// rowan/op/table/weighted_functions.hpp: bags of rows of tables with weights.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/row_store.hpp>

#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// embedding_bag with a weight for each id: mean divides by the sum of the weights and sqrt by the square root of the
/// sum of their squares, as TensorFlow's embedding_lookup_sparse does; max compares weighted rows element-wise. The row
/// of a bag with divisor 0 is 0.
/// shapes   table [h, ...], ids [n] with levels, weight [n] -> [bags, ...]
/// errors   as embedding_bag; ShapeError if weight does not have the shape of ids
/// cost     as embedding_bag
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                              std::type_identity_t<Tensor<T, D>> const& weight, BagOptions const& options = {}) {
    return detail::run_of<weighted_embedding_bag_op, LoDTensor<T, D>>(exec, table, ids, weight, options);
}

/// Pools the rows of each bag of a table of which only some rows exist, as embedding_bag for a Tensor.
/// shapes   table of height h with rows [...], ids [n] with levels, weight [n] -> [bags, ...]
/// errors   as embedding_bag of such a table; ShapeError if weight does not have the shape of ids
/// cost     that for a Tensor, and find_rows; with unknown the rows are searched twice
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                              std::type_identity_t<Tensor<T, D>> const& weight, BagOptions const& options = {}) {
    return detail::run_of<weighted_embedding_bag_op, LoDTensor<T, D>>(exec, table, ids, weight, options);
}

/// Pools the rows of each bag of a store with a weight for each id, as embedding_bag for the tensor of its rows.
/// shapes   store [h, w], ids [n] with levels, weight [n] -> [bags, w]
/// errors   as for a Tensor; IoError if a row cannot be read from its file
/// cost     as embedding_bag
template <class T, id_type I>
LoDTensor<T> embedding_bag(Cpu const& exec, RowStore<T> const& store, LoDTensor<I> const& ids,
                           std::type_identity_t<Tensor<T>> const& weight, BagOptions const& options = {}) {
    return detail::run_of<weighted_embedding_bag_op, LoDTensor<T>>(exec, store, ids, weight, options);
}

/// The gradients of the table, one row for each id that is not padding, and of the weights, 0 for padding.
/// shapes   out_grad [bags, ...] -> a SelectedRows of the table's shape with n rows, less those of padding; [n]
/// errors   as embedding_bag; ShapeError if out_grad does not have the shape of its result
/// cost     as embedding_bag, and two reads of a table row for each id
template <class T, id_type I, device D>
std::tuple<SelectedRows<T, D>, Tensor<T, D>> embedding_bag_grad(D const& exec, Tensor<T, D> const& table,
                                                                LoDTensor<I, D> const& ids,
                                                                std::type_identity_t<Tensor<T, D>> const& weight,
                                                                std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                                BagOptions const& options = {}) {
    return detail::run_of<detail::backward_of<weighted_embedding_bag_op>, std::tuple<SelectedRows<T, D>, Tensor<T, D>>>(
        exec, table, ids, weight, out_grad, options);
}
template <class T, id_type I, device D>
std::tuple<SelectedRows<T, D>, Tensor<T, D>> embedding_bag_grad(D const& exec, SelectedRows<T, D> const& table,
                                                                LoDTensor<I, D> const& ids,
                                                                std::type_identity_t<Tensor<T, D>> const& weight,
                                                                std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                                BagOptions const& options = {}) {
    return detail::run_of<detail::backward_of<weighted_embedding_bag_op>, std::tuple<SelectedRows<T, D>, Tensor<T, D>>>(
        exec, table, ids, weight, out_grad, options);
}

}  // namespace rowan::inline v0
