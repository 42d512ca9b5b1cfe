// tests/op/any_threads.hpp: the same bits on 1, 2 and 8 threads.
#pragma once

#include "catch.hpp"
#include "reference.hpp"

#include <rowan/core/device.hpp>

#include <cstddef>
#include <tuple>
#include <vector>

namespace test {

template <class T>
bool same_bits(rowan::Tensor<T> const& a, rowan::Tensor<T> const& b) {
    return reference::same(a, b);
}
template <class T>
bool same_bits(std::vector<rowan::Tensor<T>> const& a, std::vector<rowan::Tensor<T>> const& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!reference::same(a[i], b[i])) return false;
    }
    return true;
}
template <class A, class B>
bool same_bits(std::tuple<A, B> const& a, std::tuple<A, B> const& b) {
    return same_bits(std::get<0>(a), std::get<0>(b)) && same_bits(std::get<1>(a), std::get<1>(b));
}

/// Calls f with 1, 2 and 8 threads and compares the results.
template <class F>
void check_any_threads(F const& f) {
    auto const want = f(rowan::Cpu{1});
    CHECK(same_bits(f(rowan::Cpu{2}), want));
    CHECK(same_bits(f(rowan::Cpu{8}), want));
}

}  // namespace test
