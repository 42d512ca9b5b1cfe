// tests/static/selected_rows.cpp: compile-time properties of SelectedRows.
#include <rowan/sparse/selected_rows.hpp>

#include <type_traits>

using rows = rowan::SelectedRows<float>;

static_assert(std::is_same_v<rows, rowan::SelectedRows<float, rowan::Cpu>>);
static_assert(std::is_nothrow_move_constructible_v<rows> && std::is_nothrow_move_assignable_v<rows>);
static_assert(std::is_copy_constructible_v<rows> && std::is_copy_assignable_v<rows>);
static_assert(std::is_same_v<decltype(std::declval<rows const&>().height()), std::int64_t>);
static_assert(std::is_same_v<decltype(std::declval<rows const&>().rows()), std::span<std::int64_t const>>);
static_assert(std::is_same_v<decltype(std::declval<rows&>().rows()), std::span<std::int64_t const>>);  // rows are never writable
