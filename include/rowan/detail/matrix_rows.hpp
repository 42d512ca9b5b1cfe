// rowan/detail/matrix_rows.hpp: what is computed row by row of a matrix: the largest number, exponentials, and sums.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/lanes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace rowan::inline v0::detail {

/// The tensor is flat and has one element for each row of the matrix.
template <class T>
void check_one_per_row(char const* field, Tensor<T> const& x, std::size_t rows) {
    check_rank(field, x, 1);
    if (x.size() == rows) return;
    throw ShapeError(std::string(field).append(".shape(0)"), std::to_string(x.size()),
                     std::to_string(rows).append(", the number of rows"));
}

/// The largest of n > 0 numbers; NaNs do not count, but where they come first.
template <class S, class T>
S largest(std::size_t n, T const* x) {
    std::array<S, 16> most;
    most.fill(load<S>(x));
    auto const take = []<class V>(V const& a, V& m) { m = choose(a > m, a, m); };
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) for_lanes<S>(take, 16, x + i, most.data());
    for_lanes<S>(take, n - i, x + i, most.data());
    for (S const& m : most) take(m, most[0]);
    return most[0];
}

/// exp(x) for x <= 0, and 0 where it is below what normal numbers hold.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V exponential_of_negative(V const& x) {
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V const least = constant<V>(exp_traits<typename lane_of<V>::type>::least);
        return choose(x < least, constant<V>(0.0), exponential(x));
    } else {
        return exponential(x);
    }
}

/// Writes exp(x - greatest) and returns the sum of these.
template <class S, class T>
S exponentials(std::size_t n, T const* x, S const& greatest, S* e) {
    map_lanes<S>([&]<class V>(V const& a) { return exponential_of_negative(V(a - V(greatest))); }, n, x, e);
    return interleaved_sum<S>(n, static_cast<S const*>(e), [](auto const& a) { return a; });
}

/// to = e / total
template <class S, class T>
void normalise(std::size_t n, S const* e, S const& total, T* to) {
    map_lanes<S>([&]<class V>(V const& a) { return V(a / V(total)); }, n, e, to);
}

}  // namespace rowan::inline v0::detail
