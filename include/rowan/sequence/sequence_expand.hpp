// rowan/sequence/sequence_expand.hpp: sequence_expand, which repeats rows or sequences.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Instance i of x, rows [rows[i], rows[i + 1]), is written times[i + 1] - times[i] times, from row starts[i] of the
/// result on.
struct Expansion {
    std::span<std::int64_t const> times;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> starts;
    Lod lod;  // of the result

    std::size_t length(std::size_t i) const { return length_at(rows, i); }
    std::size_t repeats(std::size_t i) const { return length_at(times, i); }

    /// Replaces sequence offsets by those one level below.
    static void descend(std::span<std::int64_t const> offsets, std::vector<std::int64_t>& at) {
        for (auto& q : at) q = offsets[static_cast<std::size_t>(q)];
    }

    /// The exclusive prefix sum of repeats(i) * (at[i + 1] - at[i]), followed by the total. Throws ShapeError if that
    /// exceeds 2^60.
    std::vector<std::int64_t> sums(std::vector<std::int64_t> const& at) const;
};

/// Throws a ShapeError for a batch of `rows` rows with `size` instances instead of `expected`.
[[noreturn]] void bad_instances(std::size_t size, std::size_t expected, std::size_t level, std::size_t levels,
                                std::size_t rows);

template <class T, class D>
Expansion make_expansion(LoDTensor<T, D> const& x, Lod const& lod, std::optional<std::size_t> const& given) {
    x.check();
    check_levels("lod", lod);
    std::size_t const level = given.value_or(lod.levels() - 1);
    Expansion e;
    e.times = lod[level];
    std::size_t const n = e.times.size() - 1;
    if (x.size() != n) bad_instances(x.size(), n, level, x.lod().levels(), x.shape()[0]);
    std::vector<std::int64_t> at(n + 1);
    std::iota(at.begin(), at.end(), std::int64_t{0});
    if (x.lod().empty()) {
        e.rows = std::move(at);
        e.starts.assign(e.times.begin(), e.times.end());
        e.lod = lod.slice_levels(level, level + 1);
        return e;
    }
    std::vector<std::size_t> sizes;
    for (std::size_t l = 0; l < x.lod().levels(); ++l) {
        sizes.push_back(static_cast<std::size_t>(e.sums(at).back()));
        Expansion::descend(x.lod()[l], at);
    }
    e.rows = at;
    e.starts = e.sums(at);
    auto const levels = std::make_shared<std::vector<std::vector<std::int64_t>>>();
    std::iota(at.begin(), at.end(), std::int64_t{0});
    for (std::size_t l = 0; l < x.lod().levels(); ++l) {
        auto const offsets = x.lod()[l];
        auto& out = levels->emplace_back();
        out.reserve(sizes[l] + 1);
        out.push_back(0);
        for (std::size_t i = 0; i < n; ++i) {
            if (at[i] == at[i + 1]) continue;
            for (std::size_t k = 0; k < e.repeats(i); ++k) {
                for (auto q = static_cast<std::size_t>(at[i]); q < static_cast<std::size_t>(at[i + 1]); ++q)
                    out.push_back(out.back() + offsets[q + 1] - offsets[q]);
            }
        }
        Expansion::descend(offsets, at);
    }
    e.lod = LodAccess::make(levels, *levels);
    return e;
}

/// Device-specific implementation of sequence_expand and of its gradient.
template <class D>
struct SequenceExpansion {
    static_assert(
        has_backend<D>,
        "rowan: sequence_expand on a Thrust device needs #include <rowan/thrust/sequence/sequence_expand.hpp>");
};

template <>
struct SequenceExpansion<Cpu> {
    template <class T>
    static void expand(Cpu exec, Expansion const& e, std::size_t width, T const* rows, T* out) {
        for_sequences(exec, e.starts, width, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                if (e.length(i) == 0) continue;
                detail::repeat(rows + static_cast<std::size_t>(e.rows[i]) * width, e.length(i) * width, e.repeats(i),
                               out + static_cast<std::size_t>(e.starts[i]) * width);
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, Expansion const& e, std::size_t width, T const* out_grad, T* x_grad) {
        using S = sum_t<T>;
        for_sequences(exec, e.starts, width, [&](std::size_t i, std::size_t end) {
            BlockSum<T, S> sum(out_grad, width, longest_of(e.times, i, end));
            std::vector<std::int64_t> positions;
            for (; i < end; ++i) {
                T* to = x_grad + static_cast<std::size_t>(e.rows[i]) * width;
                std::size_t const length = e.length(i);
                if (length == 0) continue;
                if (e.repeats(i) == 0) {
                    std::fill_n(to, length * width, zero<T>());
                    continue;
                }
                positions.resize(e.repeats(i));
                for (std::size_t k = 0; k < positions.size(); ++k)
                    positions[k] = e.starts[i] + static_cast<std::int64_t>(k * length);
                for (std::size_t r = 0; r < length; ++r, to += width) {
                    copy_lanes<S>(width, sum(positions.data(), positions.size(), 0), to);
                    for (auto& p : positions) ++p;
                }
            }
        });
    }
};

}  // namespace detail

/// Repeats instance i of x once for each element of sequence i of lod[level], by default the last level. An instance is
/// a row or, if x has levels, a first-level sequence with all that it contains.
///
///     x without levels     [a] [b]        sequences of 2 and 3   ->   [a a]  [b b b]
///     x {{0, 2, 4}}        [a b]  [c d]   of 2 and 1             ->   [a b]  [a b]  [c d]
///
/// shapes   x with one instance per sequence of the level -> [elements of the level, ...] with that level if x has no
///          levels, else the repeated sequences with as many levels as x
/// errors   ShapeError if x has another number of instances (see drop_levels, if its rows are meant), lod has no
///          levels, or the result is too large; IndexError if lod has no such level
/// cost     one read of x and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_expand(D const& exec, LoDTensor<T, D> const& x, Lod const& lod,
                                std::optional<std::size_t> level = {}) {
    detail::check_usable(exec, x.value());
    auto const e = detail::make_expansion(x, lod, level);
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(e.starts.back());
    auto result = detail::new_tensor<T>(exec, shape);
    detail::SequenceExpansion<D>::expand(exec, e, x.value().row_size(), x.value().data(), result.data());
    return {std::move(result), e.lod};
}

/// The adjoint of sequence_expand: the gradient of each row of x is the sum over its repeats, in their order and blocks
/// of 64. Only the shape and the levels of x are used.
/// shapes   out_grad as the result of sequence_expand -> [n, ...] with the levels of x
/// errors   as sequence_expand, and ShapeError if out_grad has another shape
/// cost     one read of out_grad and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_expand_grad(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                                     LoDTensor<T, D> const& x, Lod const& lod, std::optional<std::size_t> level = {}) {
    detail::check_usable(exec, out_grad, x.value());
    auto const e = detail::make_expansion(x, lod, level);
    detail::check_height("out_grad", out_grad, e.starts.back());
    detail::check_trailing("out_grad", out_grad, x.shape());
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceExpansion<D>::grad(exec, e, x_grad.row_size(), out_grad.data(), x_grad.data());
    return {std::move(x_grad), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_expand(LoDTensor<T, Device> const& x, Lod const& lod,
                                     std::optional<std::size_t> level = {}) {
    return sequence_expand(x.device(), x, lod, level);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_expand_grad(std::type_identity_t<Tensor<T, Device>> const& out_grad,
                                          LoDTensor<T, Device> const& x, Lod const& lod,
                                          std::optional<std::size_t> level = {}) {
    return sequence_expand_grad(out_grad.device(), out_grad, x, lod, level);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_expand_inl.hpp>
