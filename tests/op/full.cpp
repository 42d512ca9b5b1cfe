// tests/op/full.cpp: tensors of one number.
#include <rowan/op/elementwise/full.hpp>

#include "any_threads.hpp"
#include "refused.hpp"

#include <cstdint>

namespace test_full {

using rowan::bfloat16, rowan::Cpu, rowan::Dims, rowan::full, rowan::full_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK,
    rowan::ValueError;

static_assert(full_op<float>::infer({{2, 3}, 1}) == tensor_spec<float>({2, 3}));
static_assert(full_op<float>::name == "full_f32" && full_op<std::int64_t>::name == "full_i64");
static_assert(!rowan::differentiable<full_op<float>>);
static_assert(rowan::registry<full_op<float>, full_op<double>>::size == 2);

TEST_CASE("full sets every element to the value", "[op][golden]") {
    CHECK((full<float>({2, 3}, 0.5) == Tensor<float>{{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}));
    CHECK((full_op<std::int32_t>::run(Cpu{}, {{2}, -7}) == Tensor<std::int32_t>{-7, -7}));
    CHECK((full<bool>({1}, 1) == Tensor<bool>{true}));
    CHECK(full<bfloat16>({1}, 1.001)(0).bits() == bfloat16(1.001F).bits());
    CHECK(full<double>({}, 4)() == 4);
    CHECK(full<double>({0, 3}, 4).shape() == Tensor<double>::shape_type{0, 3});
}

TEST_CASE("full is the same on any number of threads", "[op]") {
    auto const n = static_cast<std::int64_t>(rowan::detail::serial_below + 77);
    test::check_any_threads([&](Cpu exec) { return full<float>(exec, {n}, 0.1); });
}

TEST_CASE("full refuses unknown dims and values that integers do not hold", "[op][bad]") {
    CHECK(test::refusal<ShapeError>([](Cpu e) { full<float>(e, {2, UNK}, 0); }) == "dims[1] is UNK, expected a count");
    CHECK(test::refusal<ShapeError>([] { full_op<float>::infer({{UNK}, 0}); }) == "dims[0] is UNK, expected a count");
    CHECK(test::refusal<ValueError>([](Cpu e) { full<std::int32_t>(e, {2}, 0.5); }) == "value is 0.5, expected a whole number that i32 holds");
    CHECK(test::refusal<ValueError>([](Cpu e) { full<std::uint8_t>(e, {2}, 256); }) == "value is 256, expected a whole number that u8 holds");
    CHECK(test::refusal<ValueError>([](Cpu e) { full<std::uint8_t>(e, {2}, -1); }) == "value is -1, expected a whole number that u8 holds");
    CHECK(test::refusal<ShapeError>([](Cpu e) { full<float>(e, {std::int64_t{1} << 61, 4}, 0); }) ==
          "tensor shape is [2305843009213693952, 4], expected at most 2^63 - 1 bytes in all");
}

}  // namespace test_full
