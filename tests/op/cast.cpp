// tests/op/cast.cpp: elements in another type, and gradients back in the first.
#include <rowan/op/elementwise/cast.hpp>

#include "../dtypes/own_types.hpp"
#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_cast {

using rowan::bfloat16, rowan::cast_grad_op, rowan::cast_op, rowan::Cpu, rowan::float16, rowan::ShapeError, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK, rowan::ValueError;

static_assert(cast_op<double>::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<double>({UNK, 3}, 1));
static_assert(cast_grad_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<double>({4, UNK}, 1)) == tensor_spec<float>({4, 3}, 1));
static_assert(cast_op<float>::name == "cast_f32" && cast_op<bfloat16>::name == "cast_bf16");
static_assert(rowan::registry<cast_op<float>, cast_op<double>>::size == 2);
static_assert(rowan::runnable<cast_grad_op, Cpu, Tensor<float> const&, Tensor<double> const&>);
static_assert(!rowan::runnable<cast_grad_op, Cpu, Tensor<std::int64_t> const&, Tensor<double> const&>);

TEST_CASE("cast converts every element", "[op][golden]") {
    CHECK((rowan::cast<double>(Tensor<float>{{1, 2.5}, {-3, 0}}) == Tensor<double>{{1, 2.5}, {-3, 0}}));
    CHECK((rowan::cast<std::int32_t>(Tensor<float>{2.75, -2.75, 0.5}) == Tensor<std::int32_t>{2, -2, 0}));
    CHECK((rowan::cast<float>(Tensor<std::int64_t>{1, -2}) == Tensor<float>{1, -2}));
    CHECK((rowan::cast<std::uint8_t>(Tensor<std::int32_t>{256, 257, -1}) == Tensor<std::uint8_t>{0, 1, 255}));
    CHECK((rowan::cast<bool>(Tensor<float>{0, 0.5, -3}) == Tensor<bool>{false, true, true}));
    CHECK((rowan::cast<bool>(Tensor<std::int64_t>{0, 256}) == Tensor<bool>{false, true}));
    CHECK(rowan::cast<bfloat16>(Tensor<double>{1.001})(0).bits() == bfloat16(1.001F).bits());
    CHECK(rowan::cast<bfloat16>(Tensor<float16>{float16(1.5F)})(0) == 1.5F);
    CHECK(rowan::cast<test::fixed>(Tensor<float>{0.5})(0).raw == 32768);
    CHECK((rowan::cast<float>(Tensor<test::fixed>{test::fixed{32768}}) == Tensor<float>{0.5}));
    CHECK((rowan::cast<float>(Tensor<double>{}) == Tensor<float>{}));
}

TEST_CASE("cast accepts the extreme values of integers", "[op]") {
    CHECK((rowan::cast<std::int32_t>(Tensor<double>{2147483647.9, -2147483648.9}) == Tensor<std::int32_t>{2147483647, std::numeric_limits<std::int32_t>::min()}));
    CHECK((rowan::cast<std::int64_t>(Tensor<double>{-0x1p63}) == Tensor<std::int64_t>{std::numeric_limits<std::int64_t>::min()}));
    CHECK((rowan::cast<std::uint8_t>(Tensor<float>{255.5, -0.5}) == Tensor<std::uint8_t>{255, 0}));
}

TEST_CASE("the gradient of cast equals central differences, in the type of x", "[op]") {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 3}) test::check_gradients<cast_op<double>>(std::tuple(test::values({n, 2}, 1)));
    Tensor<float> const x{1, 2};
    auto const out = rowan::cast<double>(x);
    auto const [grad] = rowan::gradients<cast_op<double>>(Cpu{}, std::tie(x), std::tie(out), std::tuple(Tensor<double>{0.1, 3}));
    CHECK((grad == Tensor<float>{0.1F, 3}));
}

TEST_CASE("cast has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below + 77}, 3);
    test::check_any_threads([&](Cpu exec) { return rowan::cast<bfloat16>(exec, x); });
    auto const whole = Tensor<float>(xt::fmod(x, 100.F));
    test::check_any_threads([&](Cpu exec) { return rowan::cast<std::int32_t>(exec, whole); });
}

TEST_CASE("cast refuses numbers that integers do not hold", "[op][bad]") {
    double const inf = std::numeric_limits<double>::infinity();
    auto const text = [](Tensor<double> const& x) {
        return test::refusal<ValueError>([&](Cpu e) { rowan::cast<std::int32_t>(e, x); }, x);
    };
    CHECK(text({1, 2147483648.0, 1e9}) == "x[1] is 2147483648, expected a number whose integer part i32 holds");
    CHECK(text({1, 2, -inf}) == "x[2] is -inf, expected a number whose integer part i32 holds");
    CHECK(text({std::nan("")}) == "x[0] is nan, expected a number whose integer part i32 holds");
    auto large = Tensor<double>::zeros({rowan::detail::serial_below + 77});
    large(200'000) = large(250'000) = 1e10;
    CHECK(text(large) == "x[200000] is 1e+10, expected a number whose integer part i32 holds");
    CHECK(test::refusal<ValueError>([](Cpu e) { rowan::cast<std::int64_t>(e, Tensor<float>{0x1p63F}); }) ==
          "x[0] is 9223372036854775808, expected a number whose integer part i64 holds");
    Tensor<float> const x{1, 2};
    Tensor<double> const g{{1, 2}};
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cast_grad_op::run(e, x, g); }, x, g) == "out_grad.shape() is [1, 2], expected [2]");
}

}  // namespace test_cast
