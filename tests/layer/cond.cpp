// tests/layer/cond.cpp
#include <rowan/layer/cond.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace test_cond {

using namespace rowan;

TEST_CASE("a condition runs one branch, and gradients flow through it alone", "[layer]") {
    for (bool const flag : {true, false}) {
        test::DefaultScope scope;
        auto const condition = test::fed("flag", LoDTensor<bool>(Tensor<bool>{flag}));
        auto const ids = test::fed("ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, 0, 2}));
        auto const x = test::parameter({3, 2}, 1, "x");
        auto const table = layer::embedding<double>(ids, {.height = 4, .width = 2, .name = "table"});
        auto const [y, z] = layer::cond(
            condition,
            [&] { return std::tuple(layer::tanh(layer::fc(x, {.output_size = 2})), layer::mul(x, x)); },
            [&] {
                auto const looked_up = layer::embedding<double>(ids, {.height = 4, .width = 2, .name = "own"});
                return std::tuple(layer::sub(looked_up, x), table);
            });
        CHECK(y->spec().dims == Dims{3, 2});
        auto const cost = layer::mse(layer::add(y, z), test::fed("y", LoDTensor<double>(test::values({3, 2}, 5))));
        for (auto const& g : test::check_net(cost)) {
            auto const& value = g.gradient->value();
            if (g.parameter->name() != "own") continue;
            REQUIRE(value.is<SelectedRows<double>>());
            CHECK(value.get<SelectedRows<double>>().rows().size() == (flag ? 0 : 3));  // a branch that did not run reads no rows
        }
        auto const net = Net<>::trace_and_build(*y);
        test::set(*condition, LoDTensor<bool>(Tensor<bool>{true, true}));
        CHECK_THROWS_WITH(net.run(scope), Catch::Contains("cond: the condition's size is 2, expected 1"));
    }
}

TEST_CASE("a condition, a loop and a recurrent layer may compute a table", "[layer]") {
    auto const check = [](auto const& compute) {
        test::DefaultScope scope;
        auto const ids = test::fed("ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, 0, 2}));
        auto const table = compute(test::parameter({3, 2}, 1));
        test::check_net(layer::mse(layer::embedding(ids, table), test::fed("y", LoDTensor<double>(test::values({3, 2}, 5)))));
    };
    for (bool const flag : {true, false}) {
        check([&](auto const& w) {
            return layer::cond(test::fed("flag", LoDTensor<bool>(Tensor<bool>{flag})), [&] { return layer::mul(w, w); }, [&] { return w; });
        });
    }
    check([](auto const& w) {
        return std::get<1>(layer::while_loop(std::tuple(layer::full<std::int64_t>({1}, 0), w), [](auto i, auto) { return layer::less(i, 2); },
                                             [](auto i, auto v) { return std::tuple(layer::scale(i, 1, 1), layer::tanh(v)); }));
    });
    check([](auto const&) {
        return layer::rnn(test::fed("rows", LoDTensor<double>(test::values({3, 2}, 9), Lod{{0, 1, 3}})), 2, [](auto x, auto before) {
            auto const h = layer::tanh(layer::add(layer::fc(x, {.output_size = 2}), before));
            return layer::Step{h, h};
        });
    });
}

TEST_CASE("a loop and the step of a recurrent layer may contain conditions", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::parameter({3, 2}, 1);
    auto const one = [](auto i) { return layer::scale(i, 1, 1); };
    auto const [n, looped] = layer::while_loop(
        std::tuple(layer::full<std::int64_t>({1}, 0), x), [](auto i, auto) { return layer::less(i, 3); },
        [&](auto i, auto v) {
            auto const next = layer::cond(layer::less(i, 1), [&] { return layer::tanh(v); }, [&] { return layer::mul(v, x); });
            return std::tuple(one(i), next);
        });
    test::check_gradients(layer::mse(looped, test::fed("y", LoDTensor<double>(test::values({3, 2}, 5)))));
    Net<>::trace_and_build(*looped).run(scope);
    Tensor<double> const got = looped->value().get<LoDTensor<double>>().value(), from = x->value().get<LoDTensor<double>>().value();
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(got.data()[i] - std::tanh(from.data()[i]) * from.data()[i] * from.data()[i]) < 1e-15);

    auto const flag = test::fed("flag", LoDTensor<bool>(Tensor<bool>{false}));
    auto const words = test::fed("words", LoDTensor<double>(test::values({8, 2}, 2), Lod{{0, 5, 5, 8}}));
    auto const out = layer::rnn(words, 2, [&](auto x_t, auto before) {
        auto const now = layer::cond(flag, [&] { return layer::add(x_t, before); },
                                     [&] { return layer::tanh(layer::add(layer::fc(x_t, {.output_size = 2}), before)); });
        return layer::Step{now, now};
    });
    auto const cost = layer::mse(out, test::fed("z", LoDTensor<double>(test::values({8, 2}, 3))));
    test::check_gradients(cost);
}

TEST_CASE("branches whose results differ throw, and leave nothing behind", "[layer]") {
    test::DefaultScope scope;
    auto const flag = layer::data<bool>("flag", {1});
    auto const x = layer::data<double>("x", {UNK, 2}), wide = layer::data<double>("wide", {UNK, 3}), flat = layer::data<double>("flat", {UNK});
    auto const levels = layer::data<double>("levels", {UNK, 2}, 1);
    auto const choose = [&](auto const& a, auto const& b) { return layer::cond(flag, [&] { return layer::scale(a, 2); }, [&] { return layer::scale(b, 2); }); };
    CHECK(choose(x, wide)->spec().dims == Dims{UNK, UNK});
    std::size_t const readers = x->readers().size();
    CHECK_THROWS_WITH(choose(x, flat), "layer::cond: if the condition is false, result 0 rank is 1, expected 2");
    CHECK_THROWS_WITH(choose(x, levels), "layer::cond: if the condition is false, result 0.lod().levels() is 1, expected 0");
    CHECK(x->readers().size() == readers);
}

}  // namespace test_cond
