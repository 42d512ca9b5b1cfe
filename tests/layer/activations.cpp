// tests/layer/activations.cpp: activation functions, exp, log, sin, cos, roots, powers and rounding as layers.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>

#include <cmath>

namespace test_activation_layers {

using namespace rowan;

TEST_CASE("layers of functions give the functions' results, with their options, and keep levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1);
    Tensor<float> const rows{{0.5F, -2}, {-0.5F, 3}, {0, 7}};
    Lod const lod{{0, 2, 3}};
    auto const gives = [&](layer::Var<float> const& out, Tensor<float> const& want) {
        CHECK(out->spec() == tensor_spec<float>({UNK, 2}, 1));
        auto const got = test::run(out, {{"x", LoDTensor<float>(rows, lod)}});
        CHECK((got.lod() == lod && std::memcmp(got.value().data(), want.data(), 6 * sizeof(float)) == 0));
    };
    auto const positive = layer::abs(x);
    gives(positive, rowan::abs(rows));
    gives(layer::exp(x), rowan::exp(rows));
    gives(layer::log(positive), rowan::log(rowan::abs(rows)));
    gives(layer::sqrt(positive), rowan::sqrt(rowan::abs(rows)));
    gives(layer::rsqrt(positive), rowan::rsqrt(rowan::abs(rows)));
    gives(layer::sin(x), rowan::sin(rows));
    gives(layer::cos(x), rowan::cos(rows));
    gives(layer::sign(x), rowan::sign(rows));
    gives(layer::floor(x), rowan::floor(rows));
    gives(layer::ceil(x), rowan::ceil(rows));
    gives(layer::round(x), rowan::round(rows));
    gives(layer::square(x), rowan::square(rows));
    gives(layer::pow(x, {.exponent = 3}), rowan::pow(rows, {.exponent = 3}));
    gives(layer::relu6(x, {.threshold = 5}), rowan::relu6(rows, {.threshold = 5}));
    gives(layer::hardtanh(x, {.min = -1, .max = 2}), rowan::hardtanh(rows, {.min = -1, .max = 2}));
    gives(layer::leaky_relu(x, {.alpha = 0.25}), rowan::leaky_relu(rows, {.alpha = 0.25}));
    gives(layer::elu(x, {.alpha = 2}), rowan::elu(rows, {.alpha = 2}));
    gives(layer::gelu(x), rowan::gelu(rows));
    gives(layer::gelu(x, {.approximate = true}), rowan::gelu(rows, {.approximate = true}));
    gives(layer::swish(x, {.beta = 2}), rowan::swish(rows, {.beta = 2}));
    gives(layer::softplus(x, {.beta = 2}), rowan::softplus(rows, {.beta = 2}));
    gives(layer::softsign(x), rowan::softsign(rows));
    gives(layer::hard_sigmoid(x, {.slope = 0.25}), rowan::hard_sigmoid(rows, {.slope = 0.25}));
    gives(layer::hard_swish(x, {.threshold = 5}), rowan::hard_swish(rows, {.threshold = 5}));
    gives(layer::stanh(x, {.scale_a = 0.5}), rowan::stanh(rows, {.scale_a = 0.5}));
    gives(layer::thresholded_relu(x, {.threshold = 0.25}), rowan::thresholded_relu(rows, {.threshold = 0.25}));
}

TEST_CASE("gradients go through the layers of functions", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({3, 4}, 1);
    auto const target = layer::data<double>("target", {3, 4});
    test::set(*target, LoDTensor<double>(test::values({3, 4}, 3)));
    auto const smooth = layer::sum({layer::exp(w), layer::log(layer::softplus(w)), layer::sqrt(layer::square(layer::swish(w))),
                                    layer::pow(layer::rsqrt(layer::exp(w)), {.exponent = 3}), layer::gelu(w), layer::softsign(w), layer::stanh(w), layer::mul(layer::sin(w), layer::cos(w))});
    auto const bent = layer::sum({layer::abs(w), layer::relu6(w), layer::hardtanh(w, {-0.5, 0.5}), layer::leaky_relu(w), layer::elu(w),
                                  layer::hard_sigmoid(w), layer::hard_swish(w), layer::thresholded_relu(w, {0.25}), layer::mul(w, layer::sign(w)), layer::floor(w), layer::ceil(w), layer::round(w)});
    test::check_net(layer::mse(layer::add(smooth, bent), target));
}

TEST_CASE("layers of functions refuse options when the net is built", "[layer][bad]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2});
    CHECK_THROWS_WITH(layer::pow(x, {.exponent = NAN}), "exponent is nan, expected a finite number");
    CHECK_THROWS_WITH(layer::softplus(x, {.beta = -1}), "beta is -1, expected a positive number");
}

}  // namespace test_activation_layers
