// rowan/op/table/join_bags.hpp: join_bags and split_bags, from the ids of each table to the ids of all, and back.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sequence/batches.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The number of examples of a batch whose bags are one after the other, as many for each table.
/// errors   ShapeError if there is no table, or lod has not one level with as many bags for each
inline std::size_t batch_of(Lod const& lod, std::size_t tables) {
    if (tables == 0) throw ShapeError("tables.size()", "0", "1 or more");
    if (lod.levels() != 1) throw ShapeError("ids levels", lod.levels(), "1");
    std::size_t const bags = lod.sequences(0);
    if (bags % tables != 0) throw ShapeError("ids", {bags, " bags"}, {"a multiple of the number of tables, ", tables});
    return bags / tables;
}

}  // namespace detail

/// Joins the bags of several tables to the layout of embedding_bags: first the bags of table 0. Their weights, as
/// LoDTensors, are joined by the same call.
///
///     [[3 0] [1]]  and  [[] [1 1]]   ->   [[3 0] [1] [] [1 1]]
///
/// It is the layout of TorchRec's KeyedJaggedTensor, and of FBGEMM, with one table for each key in order:
///     LoDTensor<std::int64_t> ids(values, Lod::from_lengths({lengths}));             // from a KeyedJaggedTensor
///     LoDTensor<std::int64_t> ids(values, Lod{offsets});                             // or from offsets
///     auto lengths = ids.lod().lengths(0);  auto offsets = ids.lod()[0];             // and back; values: ids.value()
/// shapes   x[t] [n_t, ...] with one level of m bags -> [Σ n_t, ...] with one level of x.size() · m bags
/// errors   ShapeError if x is empty, an x[t] has not one level, or numbers of bags or trailing dims differ
/// cost     one read and one write of every row
template <class T, device D>
LoDTensor<T, D> join_bags(D const& exec, std::span<LoDTensor<T, D> const> x) {
    for (std::size_t t = 0; t < x.size(); ++t) {
        auto const name = [&] { return "x[" + std::to_string(t) + "]"; };
        if (x[t].lod().levels() != 1) throw ShapeError({name(), " levels"}, x[t].lod().levels(), "1");
        if (x[t].size() != x[0].size())
            throw ShapeError(name(), {x[t].size(), " bags"}, {x[0].size(), ", as many as x[0]"});
    }
    return merge_batches(exec, x);
}
template <class T, class Device>
LoDTensor<T, Device> join_bags(std::vector<LoDTensor<T, Device>> const& x) {
    return join_bags(detail::device_of_first<LoDTensor<T, Device>>(x), std::span<LoDTensor<T, Device> const>(x));
}

/// The adjoint of join_bags: the bags of each table, which alias the rows of x.
/// shapes   x [n, ...] with one level of tables · m bags -> for each table [n_t, ...] with one level of m bags
/// errors   ShapeError if there is no table, or x has not one level with as many bags for each
/// cost     O(offsets of x), no rows copied
template <class T, class Device>
std::vector<LoDTensor<T, Device>> split_bags(LoDTensor<T, Device> const& x, std::size_t tables) {
    auto const batch = static_cast<std::int64_t>(detail::batch_of(x.lod(), tables));
    return split_batch(x, std::vector(tables, batch));
}

}  // namespace rowan::inline v0
