// rowan/sequence/detail/take_sequences.hpp: take_sequences, which gathers rows or whole sequences of a batch.
#pragma once

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

/// The rows of picked sequences of the first level, and their levels.
struct TakenSequences {
    std::vector<std::int64_t> from;    // the first row of result j in the batch
    std::vector<std::int64_t> starts;  // and in the result
    Lod lod;

    /// Picks `picks` of a batch with these levels.
    ROWAN_IF_CALLED TakenSequences(Lod const& of, std::vector<std::int64_t> picks);
};

/// Result j is row picks[j] of x or, if x has levels, its first-level sequence picks[j] with all lower levels and rows.
template <class T, class D>
LoDTensor<T, D> take_sequences(D const& exec, LoDTensor<T, D> const& x, std::vector<std::int64_t> picks) {
    check_usable(exec, x.value());
    std::size_t const width = x.value().row_size();
    auto shape = x.shape();
    if (x.lod().empty()) {
        shape[0] = picks.size();
        auto value = new_tensor<T>(exec, shape);
        take_rows(exec, picks.size(), width, x.value().data(), OnDevice<std::int64_t, D>(exec, picks).data(),
                  value.data());
        return value;
    }
    TakenSequences taken(x.lod(), std::move(picks));
    shape[0] = static_cast<std::size_t>(taken.starts.back());
    auto value = new_tensor<T>(exec, shape);
    copy_blocks(exec, taken.starts, width * sizeof(T), blocks_at(x.value().data(), taken.from, width),
                blocks_at(value.data(), taken.starts, width));
    return {std::move(value), std::move(taken.lod)};
}
/// Result j, for j in [0, count), is row or sequence pick(j).
template <class T, class D, class Pick>
LoDTensor<T, D> take_sequences(D const& exec, LoDTensor<T, D> const& x, std::size_t count, Pick const& pick) {
    std::vector<std::int64_t> picks(count);
    for (std::size_t j = 0; j < count; ++j) picks[j] = static_cast<std::int64_t>(pick(j));
    return take_sequences(exec, x, std::move(picks));
}

}  // namespace rowan::inline v0::detail

#include <rowan/sequence/detail/take_sequences_inl.hpp>
