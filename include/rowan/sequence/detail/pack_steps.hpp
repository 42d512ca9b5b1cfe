// rowan/sequence/detail/pack_steps.hpp: pack_steps, which reassembles the steps of a batch into sequences.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/step_rows.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Throws ShapeError unless levels 0 … level of `lod` equal those of `of_map`, a map's.
ROWAN_IF_CALLED void check_map_levels(Lod const& lod, Lod const& of_map, std::size_t level);
template <class D>
void check_map(Lod const& lod, StepMap<D> const& map) {
    check_map_levels(lod, map.lod(), map.level());
}

/// Throws ShapeError if the steps were unpacked with a map of other sequences or of another order.
ROWAN_IF_CALLED void check_same_origin(StepLayout const& layout, StepOrigin const& of_map);
template <class D>
void check_origin(StepLayout const& layout, StepMap<D> const& map) {
    check_same_origin(layout, StepMapAccess::origin(map));
}

/// Levels 0 … level of `above`, followed by the levels `below`, which may be empty.
ROWAN_IF_CALLED Lod join_levels(Lod const& above, std::size_t level,
                                std::vector<std::vector<std::int64_t>> const& below);

/// Allocates a batch for packed steps of single rows. `shape` is that of the rows; its first dim is ignored.
template <class T, class D>
LoDTensor<T, D> new_batch(D const& exec, StepMap<D> const& map, typename Tensor<T, D>::shape_type shape) {
    shape[0] = StepMapAccess::count(map);
    return {new_tensor<T>(exec, shape), join_levels(map.lod(), map.level(), {})};
}

/// Packs steps whose rows are contiguous in `block`.
template <class T, class D>
LoDTensor<T, D> pack_block(D const& exec, Tensor<T, D> const& block, StepMap<D> const& map) {
    auto batch = new_batch<T>(exec, map, block.shape());
    put_rows(exec, batch.shape()[0], block.row_size(), block.data(), StepMapAccess::elements(map),
             batch.value().data());
    return batch;
}

/// Implements TensorArray::pack. `shape` is the slots' shape, its first dim is ignored; `levels` is their number of
/// levels.
template <class T, class D>
LoDTensor<T, D> pack_steps(D const& exec, std::vector<LoDTensor<T, D>> const& slots, StepMap<D> const& map,
                           typename Tensor<T, D>::shape_type shape, std::size_t levels) {
    std::size_t const count = StepMapAccess::count(map);
    std::size_t const width = product_from(shape, 1);
    if (shape.empty()) throw ShapeError("slot rank", "0", "at least 1");
    if (levels == 0) {
        auto batch = new_batch<T>(exec, map, shape);
        put_blocks(
            exec, map.starts(), width,
            [data = slots.data()](std::size_t t) -> T const* { return data[t].value().data(); },
            StepMapAccess::elements(map), batch.value().data());
        return batch;
    }
    auto const elements = StepMapAccess::host_elements(map);
    // begin[l][e]: the start of element e in level l of the result; begin[levels] counts rows
    std::vector<std::vector<std::int64_t>> begin(levels + 1, std::vector<std::int64_t>(count + 1));
    std::vector<T const*> rows(count);
    auto const for_elements = [&](auto const& f) {
        for (std::size_t t = 0; t < slots.size(); ++t) {
            std::int64_t const* const step = elements.data() + map.starts()[t];
            for (std::size_t j = 0; j < map.step_size(t); ++j)
                f(slots[t], static_cast<std::size_t>(step[j]), static_cast<std::int64_t>(j));
        }
    };
    // Element q of a slot is sequence q of its level 0. first() returns its start in level l, or its first row if
    // l == levels.
    auto const first = [](Lod const& lod, std::size_t l, std::int64_t q) {
        for (std::size_t k = 0; k < l; ++k) q = lod[k][static_cast<std::size_t>(q)];
        return q;
    };
    for_elements([&](LoDTensor<T, D> const& slot, std::size_t e, std::int64_t j) {
        for (std::size_t l = 0; l <= levels; ++l)
            begin[l][e + 1] = first(slot.lod(), l, j + 1) - first(slot.lod(), l, j);
        rows[e] = slot.value().data() + static_cast<std::size_t>(first(slot.lod(), levels, j)) * width;
    });
    auto const add = [](std::int64_t sum, std::int64_t more) { return checked_add("rows of the steps", sum, more); };
    for (auto& list : begin) std::partial_sum(list.begin(), list.end(), list.begin(), add);
    std::vector<std::vector<std::int64_t>> offsets(levels);
    for (std::size_t l = 0; l < levels; ++l) offsets[l].resize(static_cast<std::size_t>(begin[l].back()) + 1);
    for_elements([&](LoDTensor<T, D> const& slot, std::size_t e, std::int64_t j) {
        for (std::size_t l = 0; l < levels; ++l) {
            auto const from = slot.lod()[l];
            auto const at = static_cast<std::size_t>(first(slot.lod(), l, j));
            auto const to = static_cast<std::size_t>(begin[l][e]);
            auto const n = static_cast<std::size_t>(begin[l][e + 1] - begin[l][e]);
            for (std::size_t k = 1; k <= n; ++k) offsets[l][to + k] = begin[l + 1][e] + from[at + k] - from[at];
        }
    });
    shape[0] = static_cast<std::size_t>(begin[levels].back());
    auto value = new_tensor<T>(exec, shape);
    copy_blocks(
        exec, begin[levels], width * sizeof(T), [&](std::size_t e) { return rows[e]; },
        blocks_at(value.data(), begin[levels], width));
    return {std::move(value), join_levels(map.lod(), map.level(), offsets)};
}

}  // namespace rowan::inline v0::detail

#include <rowan/sequence/detail/pack_steps_inl.hpp>
