// tests/static/sequence.cpp: compile-time properties of batches of sequences, arrays and maps.
#include <rowan/sequence.hpp>
#include <rowan/sparse/touched_rows.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

template <class X>
inline constexpr bool moves = std::is_default_constructible_v<X> && std::is_nothrow_move_constructible_v<X> &&
                              std::is_nothrow_move_assignable_v<X> && std::is_nothrow_swappable_v<X> &&
                              std::is_copy_constructible_v<X> && std::is_copy_assignable_v<X>;

static_assert(moves<rowan::Lod>);
static_assert(moves<rowan::LoDTensor<float>> && moves<rowan::LoDTensor<bool>>);
static_assert(moves<rowan::TensorArray<float>> && moves<rowan::TensorArray<rowan::bfloat16>>);
static_assert(moves<rowan::StepMap<>>);

// A class with such a member throws what a copy of it does: its operator= is not noexcept.
template <class X>
struct with {
    X x;
};
static_assert(!std::is_nothrow_copy_assignable_v<with<rowan::LoDTensor<float>>> && !std::is_nothrow_copy_assignable_v<with<rowan::StepMap<>>>);
static_assert(!std::is_nothrow_copy_assignable_v<with<rowan::TensorArray<float>>> && !std::is_nothrow_copy_assignable_v<with<rowan::TouchedRows>>);
static_assert(std::is_nothrow_copy_constructible_v<rowan::Lod> && std::is_nothrow_copy_assignable_v<rowan::Lod>);

static_assert(std::is_same_v<rowan::LoDTensor<float>, rowan::LoDTensor<float, rowan::Cpu>>);
static_assert(std::is_same_v<rowan::TensorArray<float>, rowan::TensorArray<float, rowan::Cpu>>);
static_assert(std::is_same_v<rowan::StepMap<>, rowan::StepMap<rowan::Cpu>>);

// Members that algorithms rely on are read-only.
using map = rowan::StepMap<> const&;
static_assert(std::is_same_v<decltype(std::declval<map>().starts()), std::span<std::int64_t const>>);
static_assert(std::is_same_v<decltype(std::declval<map>().elements()), std::span<std::int64_t const>>);
static_assert(std::is_same_v<decltype(std::declval<map>().sequence(0)), std::int32_t>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Lod const&>()[0]), std::span<std::int64_t const>>);

// Braces mean numbers of sequences, an integer means a number of parts.
using parts = std::vector<rowan::LoDTensor<float>>;
using batch = rowan::LoDTensor<float> const&;
static_assert(std::is_same_v<decltype(split_batch(std::declval<batch>(), {2})), parts>);
static_assert(std::is_same_v<decltype(split_batch(std::declval<batch>(), 2)), parts>);

// A Tensor converts to a batch without levels, and a batch to its rows.
static_assert(std::is_convertible_v<rowan::Tensor<float>, rowan::LoDTensor<float>>);
static_assert(std::is_convertible_v<rowan::LoDTensor<float>, rowan::Tensor<float>>);
static_assert(!std::is_convertible_v<rowan::LoDTensor<float>, rowan::Tensor<double>>);

// What a temporary returns outlives it: an object, or a span that keeps its elements.
using kept = rowan::detail::KeptSpan<std::int64_t const>;
static_assert(std::is_same_v<decltype(std::declval<rowan::Lod>()[0]), kept>);
static_assert(std::is_same_v<decltype(std::declval<rowan::LoDTensor<float>>().value()), rowan::Tensor<float>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::LoDTensor<float>>().lod()), rowan::Lod>);
static_assert(std::is_same_v<decltype(std::declval<rowan::LoDTensor<float>>().shape()), rowan::Tensor<float>::shape_type>);
static_assert(std::is_same_v<decltype(std::declval<rowan::StepMap<>>().lod()), rowan::Lod>);
static_assert(std::is_same_v<decltype(std::declval<rowan::StepMap<>>().order()), rowan::Tensor<std::int32_t>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::StepMap<>>().starts()), kept>);
static_assert(std::is_same_v<decltype(std::declval<rowan::StepMap<>>().elements()), kept>);
static_assert(std::is_same_v<decltype(std::declval<rowan::StepMap<>>().step(0)), kept>);
