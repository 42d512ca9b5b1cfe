// rowan/op/table/embedding_bags.hpp: embedding_bags, the pooled rows of many tables side by side.
#pragma once

#include <rowan/op/detail/table_bags.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace rowan::inline v0 {

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
    Tensor<T, D> const* const none = nullptr;
    detail::TableBags<T, I, D> all(exec, tables, ids, none, pool);
    auto out = detail::new_tensor<T>(exec, {all.batch(), all.width()});
    detail::TableLookups<D>::lookup(exec, all, out);
    return out;
}
template <class T, id_type I, device D>
Tensor<T, D> embedding_bags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            std::type_identity_t<Tensor<T, D>> const& weight, Pooling pool = Pooling::sum) {
    detail::TableBags<T, I, D> all(exec, tables, ids, &weight, pool);
    auto out = detail::new_tensor<T>(exec, {all.batch(), all.width()});
    detail::TableLookups<D>::lookup(exec, all, out);
    return out;
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

}  // namespace rowan::inline v0
