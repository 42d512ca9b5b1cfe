// rowan/op/table/functions.hpp: rows of tables, and bags of them.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/row_store.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// update_bags, beside embedding_bags.
struct bags_update;
template <>
struct operator_named<bags_update> {
    using type = embedding_bags_op;
};

/// A step of update_bags.
template <class T>
using BagStep = std::function<void(Cpu, std::size_t, RowPlan<> const&, Tensor<T> const&)>;

template <class T, class I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Tensor<T> const* weight,
                 Tensor<T> const& out_grad, F const& update, Pooling pool) {
    static_assert(
        std::is_invocable_v<F const&, Cpu, std::size_t, RowPlan<> const&, Tensor<T> const&>,
        "rowan::update_bags: the step must take (Cpu, std::size_t table, RowPlan<> const&, Tensor<T> const&)");
    run_of<bags_update, void>(exec, tables, ids, weight, out_grad, BagStep<T>(std::cref(update)), pool);
}

}  // namespace detail

/// The rows of a table that ids name, as gather. The rows of `padding_id` are zeros, whatever the table contains, and
/// ids that the table does not have read the row `unknown`.
///     auto rows = rowan::lookup_table(table, ids, {.unknown = 0});     // -1 and table.shape(0) read row 0
/// shapes   table [h, ...], ids of any shape -> ids.shape + [...]
/// errors   IndexError if padding_id, unknown, or without unknown an id is not in [0, h); ShapeError if table has rank
///          0
/// cost     as gather; with unknown also a pass over the ids, and 8 bytes for each
template <class T, id_type I, device D>
Tensor<T, D> lookup_table(D const& exec, Tensor<T, D> const& table, Tensor<I, D> const& ids,
                          LookupOptions const& options = {}) {
    return detail::run_of<lookup_table_op, Tensor<T, D>>(exec, table, ids, options);
}
template <class T, class I, class Device>
Tensor<T, Device> lookup_table(Tensor<T, Device> const& table, Tensor<I, Device> const& ids,
                               LookupOptions const& options = {}) {
    return lookup_table(table.device(), table, ids, options);
}

/// The rows of a table of which only some exist, as lookup_table for a Tensor; the row of `padding_id` need not exist.
/// shapes   table of height h with rows [...], ids of any shape -> ids.shape + [...]
/// errors   IndexError if padding_id, unknown, or without unknown an id is not in [0, h), or if `unknown`, or without
///          it an id other than padding_id, is not among the rows of the table: `ids[1] = 7 is not a row of the table`
/// cost     find_rows and gather; with unknown the rows are searched twice
template <class T, id_type I, device D>
Tensor<T, D> lookup_table(D const& exec, SelectedRows<T, D> const& table, Tensor<I, D> const& ids,
                          LookupOptions const& options = {}) {
    return detail::run_of<lookup_table_op, Tensor<T, D>>(exec, table, ids, options);
}

/// The rows of a store, as lookup_table for the tensor of its rows.
/// shapes   store [h, w], ids of any shape -> ids.shape + [w]
/// errors   as for a Tensor; IoError if a row cannot be read from its file
/// cost     as gather; with unknown also a pass over the ids, and 8 bytes for each
template <class T, id_type I>
Tensor<T> lookup_table(Cpu const& exec, RowStore<T> const& store, Tensor<I> const& ids,
                       LookupOptions const& options = {}) {
    return detail::run_of<lookup_table_op, Tensor<T>>(exec, store, ids, options);
}

/// Pools the table rows of each bag, which is a sequence of ids of the last level, into one row: their sum, their mean,
/// their sum divided by the square root of the number of ids, or their element-wise maximum. The result has one level
/// less; the row of an empty bag, or of one with padding alone, is 0. Sums are formed in the order of the ids and in
/// blocks of 64, as in merge. As TensorFlow's embedding_lookup_sparse and PyTorch's EmbeddingBag.
/// shapes   table [h, ...], ids [n] with levels -> [bags, ...]
/// errors   ShapeError if ids have no levels or a rank other than 1, or table has rank 0; IndexError if padding_id,
///          unknown, or without unknown an id is not in [0, h); ValueError if options.pool is not sum, mean, sqrt or
///          max
/// cost     one read of a table row for each id, without an intermediate copy, and one write of the result (on a Thrust
///          device two: zeros, then the rows); on the host temporary memory of 8 bytes per id of 32 bits; with
///          padding_id or unknown also a copy of the ids, and with padding_id a Thrust device synchronizes; bags are
///          divided among threads: the same bits for any number of threads
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                              BagOptions const& options = {}) {
    return detail::run_of<embedding_bag_op, LoDTensor<T, D>>(exec, table, ids, options);
}

/// Pools the rows of each bag of a table of which only some rows exist, as embedding_bag for a Tensor.
/// shapes   table of height h with rows [...], ids [n] with levels -> [bags, ...]
/// errors   ShapeError if ids have no levels or a rank other than 1; ValueError if options.pool is not sum, mean, sqrt
///          or max; IndexError if padding_id, unknown, or without unknown an id is not in [0, h), or if `unknown`, or
///          without it an id, is not among the rows of the table: `ids[1] = 7 is not a row of the table`, with its
///          position among the ids that are not padding
/// cost     that for a Tensor, and find_rows; with unknown the rows are searched twice
template <class T, id_type I, device D>
LoDTensor<T, D> embedding_bag(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                              BagOptions const& options = {}) {
    return detail::run_of<embedding_bag_op, LoDTensor<T, D>>(exec, table, ids, options);
}

/// Pools the rows of each bag of a store, as embedding_bag for the tensor of its rows.
/// shapes   store [h, w], ids [n] with levels -> [bags, w]
/// errors   as for a Tensor; IoError if a row cannot be read from its file
/// cost     one read of a row for each id, as it is stored; those of files that are not mapped are copied first. Except
///          for sums of int8, int8_half and int4 as floats, the rows of a bag are decoded to temporary memory
template <class T, id_type I>
LoDTensor<T> embedding_bag(Cpu const& exec, RowStore<T> const& store, LoDTensor<I> const& ids,
                           BagOptions const& options = {}) {
    return detail::run_of<embedding_bag_op, LoDTensor<T>>(exec, store, ids, options);
}

/// The gradient of the table, one row for each id that is not padding. For max, the gradient of each column is assigned
/// to the first id with the largest element.
/// shapes   out_grad [bags, ...] -> a SelectedRows of the table's shape with n rows, less those of padding
/// errors   as embedding_bag; ShapeError if out_grad does not have the shape of its result
/// cost     one read of out_grad and one write of n rows; max writes twice (zeros, then the gradients) and also reads
///          the table rows
template <class T, id_type I, device D>
SelectedRows<T, D> embedding_bag_grad(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                                      std::type_identity_t<Tensor<T, D>> const& out_grad,
                                      BagOptions const& options = {}) {
    return detail::run_of<detail::backward_of<embedding_bag_op>, SelectedRows<T, D>>(exec, table, ids, out_grad,
                                                                                     options);
}
template <class T, id_type I, device D>
SelectedRows<T, D> embedding_bag_grad(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                                      std::type_identity_t<Tensor<T, D>> const& out_grad,
                                      BagOptions const& options = {}) {
    return detail::run_of<detail::backward_of<embedding_bag_op>, SelectedRows<T, D>>(exec, table, ids, out_grad,
                                                                                     options);
}

/// Pools the rows of bags of ids in several tables, and puts those of one example side by side:
///
///     tables [h0, 2], [h1, 3], batch of 2:   bags of ids  t0b0 t0b1 t1b0 t1b1   ->   row 0  t0b0 t0b0 t1b0 t1b0 t1b0
///                                                                                    row 1  t0b1 t0b1 t1b1 t1b1 t1b1
///
/// Ids are in the layout of TorchRec's KeyedJaggedTensor (values and lengths) and of FBGEMM: first the bags of table 0;
/// see join_bags. An id of -1, as of a row that was pruned or of an unknown key, is no part of its bag, and neither is
/// its weight. The row of an empty bag is 0. Bits are those of embedding_bag for each table.
/// shapes   tables [h, ...], ids [n] with one level of bags, as many for each table, weight [n] -> [batch, sum of the
///          widths]
/// errors   ShapeError if there is no table, or the number of bags is not a multiple of theirs, or as embedding_bag;
///          IndexError if an id is not in [-1, h) of its table; ValueError if pool is not sum, mean, sqrt or max
/// cost     one read of a table row for each id and one write of the result; all tables and bags are divided among
///          threads; on the host a copy of the ids if one is -1
template <class T, id_type I, device D>
Tensor<T, D> embedding_bags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            Pooling pool = Pooling::sum) {
    return detail::run_of<embedding_bags_op, Tensor<T, D>>(exec, tables, ids, pool);
}
template <class T, id_type I, device D>
Tensor<T, D> embedding_bags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            std::type_identity_t<Tensor<T, D>> const& weight, Pooling pool = Pooling::sum) {
    return detail::run_of<embedding_bags_op, Tensor<T, D>>(exec, tables, ids, weight, pool);
}
template <class T, id_type I, class Device>
Tensor<T, Device> embedding_bags(std::span<Tensor<T, Device> const> tables, LoDTensor<I, Device> const& ids,
                                 Pooling pool = Pooling::sum) {
    return embedding_bags(ids.device(), tables, ids, pool);
}
template <class T, id_type I, class Device>
Tensor<T, Device> embedding_bags(std::span<Tensor<T, Device> const> tables, LoDTensor<I, Device> const& ids,
                                 std::type_identity_t<Tensor<T, Device>> const& weight, Pooling pool = Pooling::sum) {
    return embedding_bags(ids.device(), tables, ids, weight, pool);
}

/// The gradient of each table, with the bits of embedding_bag_grad. To train tables without it, see update_bags.
/// shapes   out_grad of the shape that embedding_bags returns -> for each table a SelectedRows of its shape, with a row
///          for each of its ids that is not -1
/// errors   as embedding_bags; ShapeError if out_grad has another shape
/// cost     that of embedding_bag_grad for each table, and a copy of out_grad; a Thrust device synchronizes
template <class T, id_type I, device D>
std::vector<SelectedRows<T, D>> embedding_bags_grad(D const& exec, std::span<Tensor<T, D> const> tables,
                                                    LoDTensor<I, D> const& ids,
                                                    std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                    Pooling pool = Pooling::sum) {
    return detail::run_of<detail::backward_of<embedding_bags_op>, std::vector<SelectedRows<T, D>>>(exec, tables, ids,
                                                                                                   out_grad, pool);
}

/// The gradients of the tables and of the weights of their ids, which are 0 for ids of -1.
/// shapes   out_grad of the shape that embedding_bags returns -> for each table a SelectedRows of its shape; [n]
/// errors   as embedding_bags with weights; ShapeError if out_grad has another shape
/// cost     that without weights, and two reads of a table row for each id
template <class T, id_type I, device D>
std::tuple<std::vector<SelectedRows<T, D>>, Tensor<T, D>> embedding_bags_grad(
    D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& weight, std::type_identity_t<Tensor<T, D>> const& out_grad,
    Pooling pool = Pooling::sum) {
    return detail::run_of<detail::backward_of<embedding_bags_op>,
                          std::tuple<std::vector<SelectedRows<T, D>>, Tensor<T, D>>>(exec, tables, ids, weight,
                                                                                     out_grad, pool);
}

/// Calls update(exec, t, plan, grad) once for each table: the backward pass of embedding_bags, with a step of any
/// optimizer. `plan` has the rows of table t that the bags name, and `grad` the gradient of its bags, so that no
/// gradient of the single rows is made; that is made, of one table for each thread, for max and with weights:
///     update_bags(exec, tables, ids, out_grad, [&](Cpu e, std::size_t t, RowPlan<> const& plan, auto const& grad) {
///         rowwise_adagrad(e, plan, tables[t], moments[t], grad);
///     });
/// The parameters have the bits of a step with embedding_bag_grad.
/// shapes   out_grad of the shape that embedding_bags returns
/// requires tables do not share memory, and update may be called for several tables at the same time, unless
///          exec.threads is 1
/// errors   as embedding_bags; ShapeError if out_grad has another shape; then nothing is called; std::bad_alloc or the
///          first error of update, after which it is called for no more tables
/// cost     a sort of the ids, one read and a copy of out_grad, and the cost of update; tables are divided among threads if there
///          are as many, else update is passed the threads; for max and with weights also embedding_bag_grad
template <class T, id_type I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Tensor<T> const& out_grad,
                 F const& update, Pooling pool = Pooling::sum) {
    Tensor<T> const* const none = nullptr;
    detail::update_bags(exec, tables, ids, none, out_grad, update, pool);
}
template <class T, id_type I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids,
                 std::type_identity_t<Tensor<T>> const& weight, std::type_identity_t<Tensor<T>> const& out_grad,
                 F const& update, Pooling pool = Pooling::sum) {
    detail::update_bags(exec, tables, ids, &weight, out_grad, update, pool);
}

}  // namespace rowan::inline v0
