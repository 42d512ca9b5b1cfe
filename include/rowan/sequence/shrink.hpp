// rowan/sequence/shrink.hpp: shrink, the sequences that go on when the shorter ones have ended.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/pick_sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Of rows that stand for the sequences that have a step t - 1, or for all of them, the positions of those that have a step t.
inline std::vector<std::int64_t> survivors(StepMap<> const& map, std::size_t t, std::size_t rows) {
    std::vector<std::int64_t> kept;
    kept.reserve(map.step_size(t));
    if (t > 0 && rows == map.step_size(t - 1)) {
        auto const now = map.step(t);
        auto const before = map.step(t - 1);
        for (std::size_t r = 0; r < before.size() && kept.size() < now.size(); ++r) {
            if (now[kept.size()] == before[r] + 1) kept.push_back(static_cast<std::int64_t>(r));
        }
    } else {
        for (std::size_t j = 0; j < map.sequences(); ++j) {
            if (map.length(j) > static_cast<std::int64_t>(t)) kept.push_back(static_cast<std::int64_t>(j));
        }
    }
    return kept;
}

inline void check_shrink(StepMap<> const& map, std::size_t t, std::size_t rows) {
    bool const before = t > 0 && rows == map.step_size(t - 1);
    if (map.sorted() ? rows >= map.step_size(t) && rows <= map.sequences() : before || rows == map.sequences()) return;
    throw ShapeError("x.size()", std::to_string(rows),
                     "the number of sequences, or of those that have a step " + std::to_string(t == 0 ? 0 : t - 1));
}

}  // namespace detail

/// The rows of the sequences that have a step t, of rows that stand for all sequences in the map's order or for those that have a step
/// t - 1. With levels, sequences of the first one stay or go.
/// shapes   x of map.sequences() or map.step_size(t - 1) rows (sorted: any number from map.step_size(t) on) -> map.step_size(t) rows
/// errors   ShapeError if x has another number
/// cost     for a sorted map O(1): an alias of the first rows. Else, and for LoD, a copy of what stays
template <class T>
Tensor<T> shrink(Cpu exec, Tensor<T> const& x, StepMap<> const& map, std::size_t t) {
    detail::check_rows("x", x);
    detail::check_shrink(map, t, x.shape()[0]);
    std::size_t const count = map.step_size(t);
    if (map.sorted()) return x.slice(0, count);
    auto const kept = detail::survivors(map, t, x.shape()[0]);
    return detail::pick_sequences(exec, LoDTensor<T>(x.share()), count, [&](std::size_t i) { return kept[i]; });
}

template <class T>
LoDTensor<T> shrink(Cpu exec, LoDTensor<T> const& x, StepMap<> const& map, std::size_t t) {
    x.check();
    if (x.lod().empty()) return shrink(exec, x.value(), map, t);
    detail::check_shrink(map, t, x.size());
    std::size_t const count = map.step_size(t);
    Lod const& lod = x.lod();
    if (!map.sorted()) {
        auto const kept = detail::survivors(map, t, x.size());
        return detail::pick_sequences(exec, x, count, [&](std::size_t i) { return kept[i]; });
    }
    std::array<std::span<std::int64_t const>, Lod::max_levels> levels;
    std::size_t last = count;
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        levels[l] = lod[l].first(last + 1);
        last = static_cast<std::size_t>(levels[l].back());
    }
    return {x.value().slice(0, last),
            detail::LodAccess::make(detail::LodAccess::memory(lod), std::span(levels.data(), lod.levels()))};
}

/// The adjoint of shrink for rows: a gradient of the rows that stayed, with zeros for those that went.
/// shapes   out_grad [map.step_size(t), ...] -> [rows, ...], `rows` being what x had
template <class T>
Tensor<T> shrink_grad(Cpu exec, Tensor<T> const& out_grad, StepMap<> const& map, std::size_t t, std::size_t rows) {
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(map.step_size(t)));
    detail::check_shrink(map, t, rows);
    auto shape = out_grad.shape();
    shape[0] = rows;
    auto x_grad = Tensor<T>::zeros(shape);
    std::size_t const width = out_grad.row_size();
    auto const kept = map.sorted() ? std::vector<std::int64_t>() : detail::survivors(map, t, rows);
    detail::copy_rows(
        exec, map.step_size(t), width * sizeof(T), [&](std::size_t i) { return out_grad.data() + i * width; },
        [&, to = x_grad.data()](std::size_t i) {
            return to + (kept.empty() ? i : static_cast<std::size_t>(kept[i])) * width;
        });
    return x_grad;
}

template <class T, class Device>
Tensor<T, Device> shrink(Tensor<T, Device> const& x, StepMap<Device> const& map, std::size_t t) {
    return shrink(Device{}, x, map, t);
}
template <class T, class Device>
LoDTensor<T, Device> shrink(LoDTensor<T, Device> const& x, StepMap<Device> const& map, std::size_t t) {
    return shrink(Device{}, x, map, t);
}
template <class T, class Device>
Tensor<T, Device> shrink_grad(Tensor<T, Device> const& out_grad, StepMap<Device> const& map, std::size_t t,
                              std::size_t rows) {
    return shrink_grad(Device{}, out_grad, map, t, rows);
}

}  // namespace rowan::inline v0
