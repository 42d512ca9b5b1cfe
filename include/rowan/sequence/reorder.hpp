// rowan/sequence/reorder.hpp: reorder, sequences brought into the order of an unpacked batch.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/step_rows.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Result j is the row or first-level sequence from(j) of x; `from` is a permutation.
template <class T, class From>
LoDTensor<T> permuted(Cpu exec, LoDTensor<T> const& x, std::size_t sequences, From const& from) {
    x.check();
    if (x.size() != sequences)
        throw ShapeError("x.size()", std::to_string(x.size()),
                         std::to_string(sequences) + ", the number of sequences of the map");
    Lod const& lod = x.lod();
    std::size_t const width = x.value().row_size();
    T const* const data = x.value().data();
    auto value = Tensor<T>::from_shape(x.shape());
    T* const to = value.data();
    if (lod.empty()) {
        copy_rows(
            exec, sequences, width * sizeof(T), [&](std::size_t j) { return data + from(j) * width; },
            [=](std::size_t j) { return to + j * width; });
        return value;
    }
    // begin[l]: where what belongs to each sequence begins in level l; the last counts rows
    auto const first = [&](std::size_t l, std::size_t s) {
        auto q = static_cast<std::int64_t>(s);
        for (std::size_t k = 0; k < l; ++k) q = lod[k][static_cast<std::size_t>(q)];
        return q;
    };
    std::vector<std::vector<std::int64_t>> lengths(lod.levels());
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        auto const offsets = lod[l];
        for (std::size_t j = 0; j < sequences; ++j) {
            auto const end = static_cast<std::size_t>(first(l, from(j) + 1));
            for (auto q = static_cast<std::size_t>(first(l, from(j))); q < end; ++q)
                lengths[l].push_back(offsets[q + 1] - offsets[q]);
        }
    }
    std::vector<std::int64_t> rows{0};
    for (std::size_t j = 0; j < sequences; ++j)
        rows.push_back(rows.back() + first(lod.levels(), from(j) + 1) - first(lod.levels(), from(j)));
    copy_blocks(
        exec, rows, width * sizeof(T),
        [&](std::size_t j) { return data + static_cast<std::size_t>(first(lod.levels(), from(j))) * width; },
        [&](std::size_t j) { return to + static_cast<std::size_t>(rows[j]) * width; });
    return {std::move(value), Lod::from_lengths(lengths)};
}

}  // namespace detail

/// The rows of x in the order of a map: result j is row order()[j]. With levels, whole sequences of the first one move.
/// shapes   x of as many rows, or sequences, as the map has
/// errors   ShapeError if x has another number of them
/// cost     O(rows): one read and one write of every row
template <class T>
LoDTensor<T> reorder(Cpu exec, LoDTensor<T> const& x, StepMap<> const& map) {
    std::int32_t const* const order = map.order().data();
    return detail::permuted(exec, x, map.sequences(),
                            [=](std::size_t j) { return static_cast<std::size_t>(order[j]); });
}

template <class T>
Tensor<T> reorder(Cpu exec, Tensor<T> const& x, StepMap<> const& map) {
    return reorder(exec, LoDTensor<T>(x.share()), map);
}

/// The adjoint and inverse of reorder: from the map's order back to the batch's.
template <class T>
LoDTensor<T> reorder_grad(Cpu exec, LoDTensor<T> const& out_grad, StepMap<> const& map) {
    std::vector<std::size_t> position(map.sequences());
    for (std::size_t j = 0; j < position.size(); ++j) position[static_cast<std::size_t>(map.order().data()[j])] = j;
    return detail::permuted(exec, out_grad, map.sequences(), [&](std::size_t s) { return position[s]; });
}

template <class T>
Tensor<T> reorder_grad(Cpu exec, Tensor<T> const& out_grad, StepMap<> const& map) {
    return reorder_grad(exec, LoDTensor<T>(out_grad.share()), map);
}

template <class T, class Device>
LoDTensor<T, Device> reorder(LoDTensor<T, Device> const& x, StepMap<Device> const& map) {
    return reorder(Device{}, x, map);
}
template <class T, class Device>
Tensor<T, Device> reorder(Tensor<T, Device> const& x, StepMap<Device> const& map) {
    return reorder(Device{}, x, map);
}
template <class T, class Device>
LoDTensor<T, Device> reorder_grad(LoDTensor<T, Device> const& out_grad, StepMap<Device> const& map) {
    return reorder_grad(Device{}, out_grad, map);
}
template <class T, class Device>
Tensor<T, Device> reorder_grad(Tensor<T, Device> const& out_grad, StepMap<Device> const& map) {
    return reorder_grad(Device{}, out_grad, map);
}

}  // namespace rowan::inline v0
