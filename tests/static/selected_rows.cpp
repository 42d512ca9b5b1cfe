// tests/static/selected_rows.cpp: compile-time properties of SelectedRows.
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <type_traits>

using rows = rowan::SelectedRows<float>;

static_assert(std::is_same_v<rows, rowan::SelectedRows<float, rowan::Cpu>>);
static_assert(std::is_nothrow_move_constructible_v<rows> && std::is_nothrow_move_assignable_v<rows>);
static_assert(std::is_copy_constructible_v<rows> && std::is_copy_assignable_v<rows>);
static_assert(std::is_same_v<decltype(std::declval<rows const&>().height()), std::int64_t>);
static_assert(std::is_same_v<decltype(std::declval<rows const&>().rows()), std::span<std::int64_t const>>);
static_assert(std::is_same_v<decltype(std::declval<rows&>().rows()), std::span<std::int64_t const>>);  // rows are never writable

// What a temporary returns outlives it: an object, or a span that keeps its elements.
using kept = rowan::detail::KeptSpan<std::int64_t const>;
static_assert(std::is_same_v<decltype(std::declval<rows>().rows()), kept>);
static_assert(std::is_same_v<decltype(std::declval<rows>().value()), rowan::Tensor<float>>);
static_assert(std::is_same_v<decltype(std::declval<rows&>().value()), rowan::Tensor<float>&>);
static_assert(std::is_same_v<decltype(std::declval<rowan::RowPlan<>>().rows()), kept>);
static_assert(std::is_same_v<decltype(std::declval<rowan::RowPlan<>>().offsets()), kept>);
static_assert(std::is_same_v<decltype(std::declval<rowan::RowPlan<>>().positions()), kept>);
