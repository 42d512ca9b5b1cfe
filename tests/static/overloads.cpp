// tests/static/overloads.cpp: calls that compile, and calls for which there is no overload. The common mistakes have overloads
// whose sentence is the first error: tests/fail.
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using rowan::Cpu, rowan::Ids, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;

// A user's function template deduces element type and device.
template <class T, class D>
std::type_identity<std::pair<T, D>> deduced(Tensor<T, D>&);
template <class T, class D>
std::type_identity<std::pair<T, D>> deduced(SelectedRows<T, D> const&);
static_assert(std::is_same_v<decltype(deduced(std::declval<Tensor<float>&>())), std::type_identity<std::pair<float, Cpu>>>);
static_assert(std::is_same_v<decltype(deduced(std::declval<SelectedRows<int>>())), std::type_identity<std::pair<int, Cpu>>>);

// Ids convert from lists and tensors of integers only.
template <class... R>
constexpr bool are_ids = (std::is_convertible_v<R, Ids<>> && ...);
template <class... R>
constexpr bool are_no_ids = (!std::is_convertible_v<R, Ids<>> && ...);
static_assert(are_ids<std::vector<std::int32_t>, std::vector<std::int64_t> const&, std::span<std::int64_t const>, std::array<int, 3>>);
static_assert(are_ids<Tensor<std::int32_t>, Tensor<std::int64_t> const&, std::initializer_list<std::int64_t>>);
static_assert(are_ids<std::vector<std::uint32_t>, std::vector<std::size_t>, std::vector<short>, Tensor<std::uint8_t>>);
static_assert(are_no_ids<std::vector<bool>, std::vector<char>, Tensor<bool>>);
static_assert(are_no_ids<int, std::int64_t, std::int32_t const*, std::vector<std::vector<int>>>);

template <class Table, class I>
concept gathers = requires(Table table, I ids) { rowan::gather(table, ids); };
static_assert(gathers<Tensor<float> const&, std::vector<int>> && !gathers<Tensor<float> const&, std::vector<char>>);
static_assert(!gathers<SelectedRows<float> const&, std::vector<int>> && !gathers<Tensor<float> const&, double>);

// An output must not be const or a temporary, and has the written element type.
template <class Table, class Out>
concept gathers_into = requires(Table table, Ids<> ids, Out out) { rowan::gather_into(table, ids, static_cast<Out>(out)); };
static_assert(gathers_into<Tensor<float>&, Tensor<float>&>);
static_assert(!gathers_into<Tensor<float>&, Tensor<float> const&> && !gathers_into<Tensor<float>&, Tensor<double>&>);

template <class Table, class... From>
concept scatters = requires(Table table, From... from) { rowan::scatter_add(static_cast<Table>(table), from...); };
static_assert(scatters<Tensor<float>&, SelectedRows<float>> && scatters<Tensor<float>&, std::vector<int>, Tensor<rowan::bfloat16>>);
static_assert(!scatters<Tensor<float>&, std::vector<char>, Tensor<float>> && !scatters<Tensor<float>&, Tensor<float>>);

template <class Param, class... Rest>
concept steps = requires(Param param, Rest... rest) { rowan::adagrad(static_cast<Param>(param), static_cast<Rest>(rest)...); };
static_assert(steps<Tensor<float>&, Tensor<float>&, SelectedRows<float> const&>);
static_assert(steps<Tensor<rowan::bfloat16>&, Tensor<float>&, Tensor<float> const&, rowan::AdaGradOptions>);
static_assert(!steps<Tensor<float>&, Tensor<float> const&, SelectedRows<float> const&>);             // a state that is const
static_assert(!steps<Tensor<float>&, Tensor<float>&, std::vector<float> const&>);                    // no gradient

template <class Param, class Grad, class Rate>
concept descends = requires(Param param, Grad grad, Rate rate) { rowan::sgd(static_cast<Param>(param), grad, rate); };
static_assert(descends<Tensor<float>&, SelectedRows<float>, float> && descends<Tensor<float>&, Tensor<float>, double>);
static_assert(!descends<SelectedRows<float>&, SelectedRows<float>, float> && !descends<Tensor<float>&, RowPlan<>, double>);

// Heights are integers, and rows are read-only.
static_assert(std::is_constructible_v<SelectedRows<float>, int, std::vector<int>, Tensor<float>>);
static_assert(std::is_constructible_v<SelectedRows<float>, unsigned, std::vector<int>, Tensor<float>>);  // a height is any integer
static_assert(!std::is_constructible_v<SelectedRows<float>, double, std::vector<int>, Tensor<float>>);
static_assert(!std::is_constructible_v<SelectedRows<float>, int, std::vector<char>, Tensor<float>>);
static_assert(!std::is_assignable_v<decltype(std::declval<SelectedRows<float>&>().rows()[0]), std::int64_t>);
static_assert(!std::is_convertible_v<SelectedRows<float>, RowPlan<>> && std::is_constructible_v<RowPlan<>, SelectedRows<float>>);
static_assert(std::is_nothrow_move_constructible_v<RowPlan<>> && std::is_nothrow_move_assignable_v<RowPlan<>>);

// A norm of integers is an integer, one of 16-bit floats a float.
static_assert(std::is_same_v<decltype(rowan::squared_norm(std::declval<SelectedRows<std::int32_t>>())), std::int64_t>);
static_assert(std::is_same_v<decltype(rowan::squared_norm(std::declval<SelectedRows<rowan::bfloat16>>())), float>);

// A callback with 64-bit arguments.
static_assert(rowan::range_callback<void (*)(std::size_t, std::size_t)> && !rowan::range_callback<void (*)(int, int)>);

}  // namespace
