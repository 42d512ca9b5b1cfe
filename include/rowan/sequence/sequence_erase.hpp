// rowan/sequence/sequence_erase.hpp: sequence_erase, which removes given tokens from sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Device-specific implementation of sequence_erase. `erased` is sorted; `starts` receives the last-level offsets of
/// the result, which has the rank of x.
template <class D>
struct SequenceErasure {
    static_assert(has_backend<D>,
                  "rowan: sequence_erase on a Thrust device needs #include <rowan/thrust/sequence/sequence_erase.hpp>");
};

template <>
struct SequenceErasure<Cpu> {
    template <class T>
    static Tensor<T> run(Cpu exec, std::span<std::int64_t const> offsets, Tensor<T> const& x,
                         std::vector<std::int64_t> const& erased, std::vector<std::int64_t>& starts) {
        auto const stays = [&](T token) {
            return !std::ranges::binary_search(erased, static_cast<std::int64_t>(dtype<T>::widen(token)));
        };
        T const* const rows = x.data();
        for_sequences(exec, offsets, 1, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) starts[s + 1] = std::count_if(rows + offsets[s], rows + offsets[s + 1], stays);
        });
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        auto shape = x.shape();
        shape[0] = static_cast<std::size_t>(starts.back());
        auto result = Tensor<T>::from_shape(shape);
        T* const out = result.data();
        for_sequences(exec, offsets, 1, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) std::copy_if(rows + offsets[s], rows + offsets[s + 1], out + starts[s], stays);
        });
        return result;
    }
};

}  // namespace detail

/// Removes the elements that equal one of `tokens` from the sequences of the last level; the others keep their order.
///
///     [3 1 4]  [1]  [5 1]   tokens {1}   ->   [3 4]  []  [5]
///
/// shapes   x [n] or [n, 1] …: rows of one element; tokens of any shape -> fewer rows, with the upper levels of x
/// errors   ShapeError if x has no levels or its rows have more or less than one element
/// cost     two reads of x and one write of the result, O(log tokens) per element; on a device the call synchronizes
template <class T, device D>
LoDTensor<T, D> sequence_erase(D const& exec, LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> tokens) {
    static_assert(std::integral<T>, "rowan::sequence_erase: tokens are integers, x must hold integers");
    detail::check_tokens(exec, "x", x);
    detail::HostIds<D> const on_host(exec, tokens);
    std::vector<std::int64_t> const erased = detail::sorted_ids(on_host);
    auto const offsets = detail::last_level(x.lod());
    std::vector<std::int64_t> starts(offsets.size());
    auto result = detail::SequenceErasure<D>::run(exec, offsets, x.value(), erased, starts);
    return {std::move(result), detail::with_last_level(x.lod(), std::move(starts))};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_erase(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> tokens) {
    return sequence_erase(x.device(), x, tokens);
}

}  // namespace rowan::inline v0
