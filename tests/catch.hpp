// tests/catch.hpp: Catch2, version 3 or 2, taught to compare tensors.
#pragma once

#include <rowan/fwd.hpp>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <type_traits>

namespace Catch {

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class Device>
inline constexpr bool is_tensor<rowan::Tensor<T, Device>> = true;

/// The first step of CHECK(tensor == other). xtensor's `<=`, which takes anything, would else be chosen.
template <class X>
    requires is_tensor<std::remove_cvref_t<X>>
ExprLhs<std::remove_cvref_t<X> const&> operator<=(Decomposer&&, X&& tensor) {
    return ExprLhs<std::remove_cvref_t<X> const&>{tensor};
}

}  // namespace Catch
