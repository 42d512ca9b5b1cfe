// rowan/sequence/detail/sequences.hpp: helpers shared by the algorithms on sequences of the last level.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_IF_CALLED void check_levels(std::string const& field, Lod const& lod);

/// Throws unless `x` has levels that match its rows and a call may use it. Validates exec.threads even if there is no
/// work.
template <class T, class D>
void check_sequences(D const& exec, std::string const& field, LoDTensor<T, D> const& x) {
    check_exec(exec);
    check_usable(exec, x.value());
    x.check();
    check_levels(field + ".lod()", x.lod());
}

/// The rows of x, which belong to those of sequences with levels `like` one by one. Rows without levels belong to any.
/// errors   ShapeError if x has other levels
template <class T, class D>
Tensor<T, D> const& rows_along(char const* field, LoDTensor<T, D> const& x, char const* other, Lod const& like) {
    if (!x.lod().empty() && !(x.lod() == like))
        throw ShapeError({field, ".lod()"}, "other levels", {"those of ", other, ", or none"});
    return x.value();
}

/// check_sequences for sequences of tokens, whose rows have one element.
template <class T, class D>
void check_tokens(D const& exec, std::string const& field, LoDTensor<T, D> const& x) {
    check_sequences(exec, field, x);
    if (x.value().row_size() != 1) throw ShapeError({field, ".row_size()"}, x.value().row_size(), "1");
}

/// The ids in ascending order.
ROWAN_IF_CALLED std::vector<std::int64_t> sorted_ids(Ids<> const& ids);

/// Converts an argument to the element type. Throws ValueError if that is an integer type and x is not whole or out of
/// range.
template <class T>
T checked_number(char const* field, double x) {
    using S = sum_t<T>;
    if constexpr (std::integral<S>) {
        if (!is_whole<std::conditional_t<std::integral<T>, T, S>>(x))
            throw ValueError(field, x, "a whole number that the element type holds");
    }
    return dtype<T>::narrow(constant<S>(x));
}

/// The value that Tensor::zeros fills with.
template <class T>
T zero() {
    return dtype<T>::narrow(sum_t<T>{});
}

inline std::span<std::int64_t const> last_level(Lod const& lod) { return lod[lod.levels() - 1]; }

ROWAN_IF_CALLED Lod upper_levels(Lod const& lod);

/// Replaces the offsets of the last level. Their number must stay the same.
ROWAN_IF_CALLED Lod with_last_level(Lod const& lod, std::vector<std::int64_t> offsets);

/// The levels of batches that follow one another: the sequences of the first, then those of the second, and so on. All
/// have as many levels.
ROWAN_IF_CALLED Lod join_lods(std::span<Lod const> lods);

/// The length of sequence s.
inline std::size_t length_at(std::span<std::int64_t const> offsets, std::size_t s) {
    return static_cast<std::size_t>(offsets[s + 1] - offsets[s]);
}

/// The length of the longest of the sequences [begin, end).
ROWAN_IF_CALLED std::size_t longest_of(std::span<std::int64_t const> offsets, std::size_t begin, std::size_t end);

/// Calls f(begin, end) on ranges that partition the sequences, of about 2^15 elements each; small inputs run serially.
/// Does nothing if width is 0, except that it validates exec.threads.
template <class F>
void for_sequences(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, F const& f) {
    std::size_t const n = offsets.size() - 1;
    std::size_t const elements = static_cast<std::size_t>(offsets.back()) * width + n;
    if (width == 0) {
        thread_count(exec);
    } else {
        parallel_work(exec, elements, n, n / std::max<std::size_t>(elements >> 15, 1), f);
    }
}

/// Writes `times` consecutive copies of `size` elements.
template <class T>
void repeat(T const* from, std::size_t size, std::size_t times, T* to) {
    for (std::size_t i = 0; i < times; ++i) to = std::copy_n(from, size, to);
}

/// Writes the extremum of each column of n > 0 rows to `best`.
template <bool greatest, class S, class T>
void column_extremes(T const* rows, std::size_t n, std::size_t width, S* best) {
    copy_lanes<S>(width, rows, best);
    for (std::size_t i = 1; i < n; ++i) for_lanes<S>(keep_extreme<greatest>{}, width, rows + i * width, best);
}

/// Scratch memory for the computed rows of one sequence at a time, and their sum per column in input order and blocks
/// of 64.
template <class S>
class ScratchRows {
public:
    ScratchRows(std::size_t rows, std::size_t width)
        : rows_(rows * width), positions_(rows), width_(width), sum_(rows_.data(), width, rows) {
        std::iota(positions_.begin(), positions_.end(), std::int64_t{0});
    }
    ScratchRows(ScratchRows const&) = delete;
    ScratchRows& operator=(ScratchRows const&) = delete;

    S* row(std::size_t i) { return rows_.data() + i * width_; }
    S const* sum(std::size_t n) { return sum_(positions_.data(), n, 0); }

private:
    std::vector<S> rows_;
    std::vector<std::int64_t> positions_;
    std::size_t width_;
    BlockSum<S, S> sum_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/sequence/detail/sequences_inl.hpp>
