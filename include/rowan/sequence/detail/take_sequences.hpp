// rowan/sequence/detail/take_sequences.hpp: take_sequences, which gathers rows or whole sequences of a batch.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Result j, for j in [0, count), is row pick(j) of x or, if x has levels, its first-level sequence pick(j) with all
/// lower levels and rows.
template <class T, class D, class Pick>
LoDTensor<T, D> take_sequences(D const& exec, LoDTensor<T, D> const& x, std::size_t count, Pick const& pick) {
    Lod const& lod = x.lod();
    std::vector<Buffer<std::int64_t>> lengths(lod.levels());  // counted against the limits of a run
    std::vector<std::int64_t> from(count);                    // the first row of result j in x
    std::vector<std::int64_t> starts{0};                      // and in the result
    starts.reserve(count + 1);
    for (std::size_t j = 0; j < count; ++j) {
        auto begin = static_cast<std::int64_t>(pick(j));
        std::int64_t end = begin + 1;
        for (std::size_t l = 0; l < lod.levels(); ++l) {
            auto const offsets = lod[l];
            for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q) {
                lengths[l].push_back(offsets[q + 1] - offsets[q]);
            }
            begin = offsets[static_cast<std::size_t>(begin)];
            end = offsets[static_cast<std::size_t>(end)];
        }
        from[j] = begin;
        starts.push_back(checked_add("rows of the result", starts.back(), end - begin));
    }
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto value = new_tensor<T>(exec, shape);
    std::size_t const width = x.value().row_size();
    T const* const data = x.value().data();
    T* const to = value.data();
    if (lod.empty()) {
        take_rows(exec, count, width, data, OnDevice<std::int64_t, D>(exec, from).data(), to);
        return value;
    }
    copy_blocks(exec, starts, width * sizeof(T), blocks_at(data, from, width), blocks_at(to, starts, width));
    return {std::move(value), Lod::from_lengths(lengths)};
}

}  // namespace rowan::inline v0::detail
