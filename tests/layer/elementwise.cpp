// tests/layer/elementwise.cpp
#include <rowan/layer/elementwise.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/math.hpp>
#include <rowan/layer/rnn.hpp>

#include <cmath>
#include <cstdint>

namespace test_elementwise {

using namespace rowan;

TEST_CASE("element-wise layers compute element by element and keep levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {UNK, 2});
    Lod const lod{{0, 2}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, -2}, {0.5f, 3}}, lod)}, {"y", Tensor<float>{{4, 0}, {-1, 2}}}};
    auto const gives = [&](layer::Var<float> const& out, Tensor<float> const& want) {
        CHECK(out->spec() == tensor_spec<float>({UNK, 2}, 1));
        CHECK((test::run(out, feeds) == LoDTensor<float>(want, lod)));
    };
    gives(layer::add(x, y), {{5, -2}, {-0.5f, 5}});
    gives(layer::sub(x, y), {{-3, -2}, {1.5f, 1}});
    gives(layer::mul(x, y), {{4, 0}, {-0.5f, 6}});
    gives(layer::relu(x), {{1, 0}, {0.5f, 3}});
    gives(layer::sum({x, y, x}), {{6, -4}, {0, 8}});
    gives(layer::sum(std::vector{x}), {{1, -2}, {0.5f, 3}});
    gives(layer::scale(x, -2), {{-2, 4}, {-1, -6}});
    gives(layer::scale(x, 2, 0.5), {{2.5f, -3.5f}, {1.5f, 6.5f}});
    gives(layer::clip(x, -1, 0.75), {{0.75f, -1}, {0.5f, 0.75f}});
    CHECK((test::run(layer::scale(layer::data<std::int64_t>("n", {UNK}), 2, 1), {{"n", Tensor<std::int64_t>{3}}}).value() == Tensor<std::int64_t>{7}));
}

TEST_CASE("gradients of element-wise layers equal central differences", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({3, 4}, 1), v = test::parameter({3, 4}, 2);
    auto const target = layer::data<double>("target", {3, 4});
    test::set(*target, LoDTensor<double>(test::values({3, 4}, 3)));
    auto const h = layer::sum({layer::scale(w, 3, -0.25), layer::clip(v, -0.5, 0.25), layer::mul(w, v), layer::sub(layer::tanh(w), layer::sigmoid(v)), w});
    test::check_net(layer::mse(h, target));
}

TEST_CASE("layers broadcast weights, in nets and in steps, and the gradients are summed to their shapes", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({5, 4}, 1), b = test::parameter({4}, 2, "b"), c = test::parameter({1, 4}, 3, "c"), d = test::parameter({5, 1}, 4, "d");
    auto const target = layer::data<double>("target", {UNK, 4}, 1);
    test::set(*target, LoDTensor<double>(test::values({5, 4}, 3), Lod{{0, 2, 2, 5}}));
    test::check_net(layer::mse((w + b) * c - layer::maximum(d, b) / layer::exp(layer::minimum(c, d)), target));

    auto const x = layer::data<double>("x", {UNK, 4}, 1);
    test::set(*x, LoDTensor<double>(test::values({5, 4}, 6), Lod{{0, 2, 2, 5}}));
    auto const states = layer::rnn(x, 4, [&](auto x_t, auto before) {
        auto const now = layer::tanh((x_t + before) * c + b) * layer::fc(x_t, {.output_size = 1});
        return layer::Step{now, now};
    });
    test::check_net(layer::mse(states, target));
    CHECK((states + b)->spec() == tensor_spec<double>({UNK, 4}, 1));
}

TEST_CASE("element-wise layers throw for shapes that do not match", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}), y = layer::data("y", {UNK, 3});
    CHECK_THROWS_WITH(layer::sum({x, y}), "sum: x[1].shape(1) is 3, expected 2");
    CHECK_THROWS_WITH(layer::sum(std::vector<layer::Var<float>>{}), "sum: x rank is 0, expected at least 1");
    CHECK_THROWS_WITH(layer::clip(x, 1, 0), "max is 0, expected a number not less than min");
    CHECK_THROWS_WITH(layer::clip(x, std::nan(""), 0), "min is nan, expected a finite number");
}

TEST_CASE("Vars and numbers are added, subtracted, multiplied and divided", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::parameter({3, 2}, 1, "x"), y = test::parameter({3, 2}, 2, "y");
    test::set(*x, LoDTensor<double>(Tensor<double>{{1, 2}, {3, -4}, {-1, 8}}));
    test::set(*y, LoDTensor<double>(Tensor<double>{{2, -2}, {4, 1}, {2, 16}}));
    auto const is = [&](layer::Var<double> const& out, Tensor<double> const& want) {
        Net<>::trace_and_build(*out).run(scope);
        CHECK(out->value().get<LoDTensor<double>>().value() == want);
        test::check_net(layer::mse(out, layer::full<double>({3, 2}, 1)));
    };
    is(x + y, {{3, 0}, {7, -3}, {1, 24}});
    is(x - y, {{-1, 4}, {-1, -5}, {-3, -8}});
    is(x * y, {{2, -4}, {12, -4}, {-2, 128}});
    is(x / y, {{0.5, -1}, {0.75, -4}, {-0.5, 0.5}});
    is(-x, {{-1, -2}, {-3, 4}, {1, -8}});
    is(x + 1, {{2, 3}, {4, -3}, {0, 9}});
    is(1 + x, {{2, 3}, {4, -3}, {0, 9}});
    is(x - 1.5f, {{-0.5, 0.5}, {1.5, -5.5}, {-2.5, 6.5}});
    is(1 - x, {{0, -1}, {-2, 5}, {2, -7}});
    is(x * 2, {{2, 4}, {6, -8}, {-2, 16}});
    is(2 * x, {{2, 4}, {6, -8}, {-2, 16}});
    is(x / 2, {{0.5, 1}, {1.5, -2}, {-0.5, 4}});
    is(2 / y, {{1, -1}, {0.5, 2}, {1, 0.125}});
    CHECK_THROWS_WITH(x + test::parameter({3, 3}, 1), "add: y.shape(1) is 3, expected 2");
}

}  // namespace test_elementwise
