// tests/catch.hpp: one set of names for Catch2 2 and 3, and comparisons of tensors.
#pragma once

#include <rowan/fwd.hpp>

#include <type_traits>

// The first step of CHECK(tensor == other). Otherwise overload resolution would choose xtensor's generic `<=` or fail.
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
