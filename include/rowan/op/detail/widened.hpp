// rowan/op/detail/widened.hpp: the elements of arguments and results in the type of sums.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/lanes.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Elements converted to the type of sums, or as they are if they have it.
template <class S, class T>
class Widened {
public:
    Widened(T const* from, std::size_t n) : from_(from), wide_(std::is_same_v<S, T> ? 0 : n) {
        if constexpr (!std::is_same_v<S, T>) copy_lanes<S>(n, from, wide_.data());
    }
    S const* data() const {
        if constexpr (std::is_same_v<S, T>) {
            return from_;
        } else {
            return wide_.data();
        }
    }

private:
    T const* from_;
    Buffer<S> wide_;
};

/// Results in the type of sums, which begin as zeros; `write` converts them unless they already are the results.
template <class S, class T>
class WideResult {
public:
    WideResult(T* to, std::size_t n) : to_(to), wide_(std::is_same_v<S, T> ? 0 : n) {
        std::fill_n(data(), n, constant<S>(0.0));
    }
    S* data() {
        if constexpr (std::is_same_v<S, T>) {
            return to_;
        } else {
            return wide_.data();
        }
    }
    void write(std::size_t n) {
        if constexpr (!std::is_same_v<S, T>) copy_lanes<S>(n, wide_.data(), to_);
    }

private:
    T* to_;
    Buffer<S> wide_;
};

}  // namespace rowan::inline v0::detail
