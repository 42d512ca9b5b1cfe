// tests/catch.hpp: Catch2, version 3 or 2, by one set of names, taught to compare tensors.
#pragma once

#include <rowan/fwd.hpp>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(std::string const& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

namespace Catch {

// The first step of CHECK(tensor == other). xtensor's `<=`, which takes anything, would else be chosen, or none of many.
template <class T, class Device>
using TensorLhs = ExprLhs<rowan::Tensor<T, Device> const&>;

template <class T, class Device>
TensorLhs<T, Device> operator<=(Decomposer&&, rowan::Tensor<T, Device> const& tensor) {
    return TensorLhs<T, Device>{tensor};
}
template <class T, class Device>
TensorLhs<T, Device> operator<=(Decomposer&&, rowan::Tensor<T, Device>& tensor) {
    return TensorLhs<T, Device>{tensor};
}
template <class T, class Device>
TensorLhs<T, Device> operator<=(Decomposer&&, rowan::Tensor<T, Device>&& tensor) {
    return TensorLhs<T, Device>{tensor};
}

}  // namespace Catch
