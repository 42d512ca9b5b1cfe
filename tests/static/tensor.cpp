// tests/static/tensor.cpp: compile-time properties of Tensor.
#include <rowan/core/tensor.hpp>

#include <type_traits>

template <class T>
constexpr bool is_value = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                          std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T> && std::is_default_constructible_v<T>;

static_assert(is_value<rowan::Tensor<float>>);
static_assert(is_value<rowan::Tensor<bool>>);
static_assert(std::is_same_v<rowan::Tensor<float>, rowan::Tensor<float, rowan::Cpu>>);
static_assert(std::is_same_v<rowan::Tensor<float>::value_type, float>);
static_assert(rowan::Tensor<float>::static_layout == xt::layout_type::row_major);
static_assert(xt::is_xexpression<rowan::Tensor<float>>::value);
static_assert(!std::is_convertible_v<rowan::Tensor<float>, rowan::Tensor<double>&>);

// What a temporary returns outlives it.
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float>>().shape()), rowan::Tensor<float>::shape_type>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float>>().row(0)), rowan::detail::KeptSpan<float>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float>>().at(0)), float>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float> const>().shape()), rowan::Tensor<float>::shape_type>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float> const>().row(0)), rowan::detail::KeptSpan<float const>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Tensor<float>>().reshape({2, 3})), rowan::Tensor<float>>);
