// tests/core/dtype.cpp: the built-in element types: names, numbers in files, sums, conversions.
#include <rowan/core/dtype.hpp>

#include "catch.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test_dtype {

using rowan::dtype;

template <class T, class Sum>
void check_facts(std::string_view name, std::int32_t wire) {
    CHECK(dtype<T>::name == name);
    CHECK(dtype<T>::wire == wire);
    CHECK(std::is_same_v<typename dtype<T>::sum, Sum>);
}

TEST_CASE("every built-in element type has a name, Paddle's number and a type for sums", "[dtype]") {
    check_facts<bool, std::int64_t>("bool", 0);
    check_facts<std::int32_t, std::int64_t>("i32", 2);
    check_facts<std::int64_t, std::int64_t>("i64", 3);
    check_facts<rowan::float16, float>("f16", 4);
    check_facts<float, float>("f32", 5);
    check_facts<double, double>("f64", 6);
    check_facts<std::uint8_t, std::int64_t>("u8", 20);
    check_facts<rowan::bfloat16, float>("bf16", 22);
}

TEMPLATE_TEST_CASE("a value survives widening and narrowing", "[dtype]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool,
                   rowan::bfloat16, rowan::float16) {
    using limits = std::numeric_limits<TestType>;
    std::vector<TestType> numbers{TestType(0), TestType(1)};
    if constexpr (limits::is_specialized) {
        for (TestType x : {limits::lowest(), limits::min(), limits::max()}) numbers.push_back(x);
    } else {
        for (float x : {-1.5F, -0.0F, 6e-5F, 60000.0F}) numbers.push_back(TestType(x));
    }
    for (TestType const x : numbers) {
        TestType const back = dtype<TestType>::narrow(dtype<TestType>::widen(x));
        CHECK(std::memcmp(&x, &back, sizeof x) == 0);
    }
}

TEST_CASE("narrowing wraps integers around, and makes a nonzero sum of bools true", "[dtype]") {
    CHECK(dtype<std::uint8_t>::narrow(255 + 3) == 2);
    CHECK(dtype<std::uint8_t>::narrow(-1) == 255);
    CHECK(dtype<std::int32_t>::narrow((std::int64_t{1} << 31) + 5) == std::numeric_limits<std::int32_t>::min() + 5);
    CHECK(dtype<bool>::narrow(2));
    CHECK(!dtype<bool>::narrow(0));
}

TEST_CASE("the conversions are constant expressions", "[dtype]") {
    static_assert(dtype<rowan::bfloat16>::narrow(1.0F).bits() == 0x3F80);
    static_assert(dtype<rowan::float16>::narrow(1.0F).bits() == 0x3C00);
    static_assert(dtype<rowan::float16>::widen(rowan::float16(-2.5F)) == -2.5F);
    static_assert(dtype<std::uint8_t>::narrow(256) == 0);
}

}  // namespace test_dtype
