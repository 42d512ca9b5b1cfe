// tests/catch.hpp: Catch2, version 3 or 2, by one set of names, taught to compare tensors.
#pragma once

#include <rowan/fwd.hpp>

#include <type_traits>

// Below is the first step of CHECK(tensor == other). xtensor's `<=`, which takes anything, would else be chosen, or none of many.
#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {
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

#else

#include <catch2/catch.hpp>

namespace Catch {
namespace Matchers {
inline auto ContainsSubstring(std::string const& text) { return Contains(text); }
}  // namespace Matchers

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class Device>
inline constexpr bool is_tensor<rowan::Tensor<T, Device>> = true;
template <class X>
    requires is_tensor<std::remove_cvref_t<X>>
ExprLhs<std::remove_cvref_t<X> const&> operator<=(Decomposer&&, X&& tensor) {
    return ExprLhs<std::remove_cvref_t<X> const&>{tensor};
}
}  // namespace Catch

#endif
