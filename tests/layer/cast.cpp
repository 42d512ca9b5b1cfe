// tests/layer/cast.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/own_operator.hpp>

#include <cstdint>
#include <limits>

namespace test_cast {

using namespace rowan;

TEST_CASE("layer::cast changes the element type and keeps levels", "[layer]") {
    test::DefaultScope scope;
    auto const n = layer::data<std::int64_t>("n", {UNK}, 1);
    auto const x = layer::data("x", {UNK});
    auto const as_float = layer::cast<float>(n);
    CHECK(as_float->spec() == tensor_spec<float>({UNK}, 1));
    CHECK((test::run(as_float, {{"n", LoDTensor<std::int64_t>({1, -2}, Lod{{0, 2}})}}) == LoDTensor<float>({1, -2}, Lod{{0, 2}})));
    CHECK((test::run(layer::cast<std::int32_t>(x), {{"x", Tensor<float>{1.75f, -2.5f}}}).value() == Tensor<std::int32_t>{1, -2}));
    CHECK_THROWS_WITH(test::run(layer::cast<std::int32_t>(x), {{"x", Tensor<float>{1, std::numeric_limits<float>::quiet_NaN()}}}),
                      "cast_i32(x): x[1] is nan, expected a number whose integer part i32 holds");
}

TEST_CASE("values cast from integers train the parameters they multiply", "[layer]") {
    test::DefaultScope scope;
    auto const n = layer::data<std::int64_t>("n", {3});
    auto const t = layer::data<double>("t", {3});
    test::set(*n, LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, -1, 3}));
    test::set(*t, LoDTensor<double>(test::values({3}, 1)));
    test::check_net(layer::mse(layer::mul(layer::cast<double>(n), test::parameter({3}, 2)), t));
}

TEST_CASE("the gradient of a cast is cast back", "[layer]") {
    test::DefaultScope scope;
    auto const w = layer::parameter<float>({2}, {}, "w");
    auto const target = layer::data<double>("target", {2});
    auto const cost = layer::mse(layer::cast<double>(w), target);
    test::set(*w, LoDTensor<float>(Tensor<float>{1, 2}));
    test::set(*target, LoDTensor<double>(Tensor<double>{0, 4}));
    auto const gradients = append_backward<double>(*cost);
    REQUIRE(gradients.size() == 1);
    Net<>::trace_and_build(*gradients[0].gradient).run(scope);
    CHECK((gradients[0].gradient->value().get<LoDTensor<float>>().value() == Tensor<float>{1, -2}));  // 2 · difference / 2
}

}  // namespace test_cast
