// tests/static/dtype.cpp: the built-in element types, and a custom one.
#include <rowan/core/dtype.hpp>

#include <cstdint>
#include <type_traits>

static_assert(rowan::element<float> && rowan::element<double> && rowan::element<bool>);
static_assert(rowan::element<std::int32_t> && rowan::element<std::int64_t> && rowan::element<std::uint8_t>);
static_assert(rowan::element<rowan::bfloat16> && rowan::element<rowan::float16>);
static_assert(!rowan::element<short> && !rowan::element<char> && !rowan::element<float*> && !rowan::element<float&>);

static_assert(std::is_same_v<rowan::dtype<float>::sum, float> && std::is_same_v<rowan::dtype<rowan::bfloat16>::sum, float>);
static_assert(rowan::dtype<float>::name == "f32" && rowan::dtype<float>::wire == 5);
static_assert(rowan::dtype<rowan::bfloat16>::name == "bf16" && rowan::dtype<rowan::bfloat16>::wire == 22);

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {  // all that a custom element type needs
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static constexpr sum widen(mine x) { return x.bits; }
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};

static_assert(rowan::element<mine>);
