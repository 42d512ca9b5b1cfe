// rowan/op/detail/tensor_argument.hpp: constraints of functions whose names xtensor has too.
//
// xtensor's functions take any argument by forwarding reference. A tensor derives from xtensor's classes, so that
// unqualified calls find these functions too, and they would fit better than `Tensor<T> const&` if the tensor is not
// const. Ours of the same names take a constrained `X&&` as well: of two that fit equally, the constrained one is
// chosen.
#pragma once

#include <rowan/core/tensor.hpp>

#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class Device>
inline constexpr bool is_tensor<Tensor<T, Device>> = true;
template <class T, class Device>
inline constexpr bool is_tensor<std::vector<Tensor<T, Device>>> = true;
template <class T, class Device>
inline constexpr bool is_tensor<std::vector<SelectedRows<T, Device>>> = true;

/// `X&&` is a tensor, or a list of tensors or gradients.
template <class X>
concept tensor_argument = is_tensor<std::remove_cvref_t<X>>;

/// The same, but not `Tensor<T> const&`, for which there is another overload.
template <class X>
concept changeable_tensor = tensor_argument<X> && !std::is_same_v<X, std::remove_cvref_t<X> const&>;

}  // namespace detail

}  // namespace rowan::inline v0
