// tests/static/layout.cpp: sizes, and trivially copyable types.
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <cstdint>
#include <type_traits>

template <class T>
constexpr bool is_bytes = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>;

static_assert(sizeof(rowan::bfloat16) == 2 && alignof(rowan::bfloat16) == 2 && is_bytes<rowan::bfloat16>);
static_assert(sizeof(rowan::float16) == 2 && alignof(rowan::float16) == 2 && is_bytes<rowan::float16>);
static_assert(rowan::Allocator<float>::alignment == 64 && rowan::Allocator<float>::huge_page == 2'097'152);
static_assert(std::is_empty_v<rowan::Allocator<float>>);

// 16-bit types convert explicitly from float, and implicitly to it.
static_assert(!std::is_convertible_v<float, rowan::bfloat16> && std::is_constructible_v<rowan::bfloat16, float>);
static_assert(!std::is_convertible_v<float, rowan::float16> && std::is_constructible_v<rowan::float16, float>);
static_assert(std::is_convertible_v<rowan::bfloat16, float> && std::is_convertible_v<rowan::float16, float>);
static_assert(!std::is_convertible_v<rowan::bfloat16, rowan::float16>);

// Rounding works at compile time.
static_assert(rowan::bfloat16(1.0F).bits() == 0x3F80 && rowan::float16(1.0F).bits() == 0x3C00);
static_assert(rowan::bfloat16(0x1.01p0F).bits() == 0x3F80 && rowan::bfloat16(0x1.03p0F).bits() == 0x3F82);  // ties to even
static_assert(rowan::float16(65520.0F).bits() == 0x7C00 && rowan::float16(65519.0F).bits() == 0x7BFF);

// Options are aggregates of doubles, so that they are written by name.
static_assert(std::is_aggregate_v<rowan::AdaGradOptions> && std::is_aggregate_v<rowan::AdamOptions> && std::is_aggregate_v<rowan::FtrlOptions>);
static_assert(std::is_aggregate_v<rowan::MomentumOptions> && std::is_aggregate_v<rowan::RmsPropOptions> && std::is_aggregate_v<rowan::Cpu>);
static_assert(std::is_same_v<decltype(rowan::AdaGradOptions::learning_rate), double>);
static_assert(std::is_same_v<decltype(rowan::AdamOptions::step), std::int64_t>);

// Every error is an Error, which is a std::runtime_error.
template <class... E>
constexpr bool are_errors = (std::is_base_of_v<rowan::Error, E> && ...) && (std::is_convertible_v<E&, std::runtime_error&> && ...);
static_assert(are_errors<rowan::IndexError, rowan::ShapeError, rowan::LodError, rowan::TypeError, rowan::FormatError, rowan::IoError,
                         rowan::GraphError, rowan::ValueError, rowan::CudaError>);
