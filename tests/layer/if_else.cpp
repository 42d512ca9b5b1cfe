// tests/layer/if_else.cpp
#include <rowan/layer/if_else.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/sequence/interleave_rows.hpp>

#include <cstdint>

namespace test_if_else {

using namespace rowan;

TEST_CASE("if_else runs each row through its branch, and gradients of both branches come back", "[layer]") {
    test::DefaultScope scope;
    auto const mask = test::fed("mask", LoDTensor<bool>(Tensor<bool>{true, false, false, true}));
    auto const x = test::parameter({4, 2}, 1);
    auto const made = layer::if_else(
        mask, x, [](auto a) { return layer::scale(a, 2); }, [](auto b) { return layer::tanh(layer::fc(b, {.output_size = 2})); });
    test::check_gradients(layer::mse(made, test::fed("y", LoDTensor<double>(test::values({4, 2}, 5)))));

    auto const rows = layer::data<double>("rows", {UNK, 1});
    auto const out = layer::if_else(mask, rows, [](auto a) { return layer::scale(a, 2); }, [](auto b) { return layer::scale(b, -1); });
    auto const values = [&](Tensor<bool> m, Tensor<double> r) { return test::run(out, {{"mask", m}, {"rows", r}}).value(); };
    CHECK(values({true, false, true}, {{1}, {2}, {3}}) == Tensor<double>{{2}, {-2}, {6}});
    CHECK(values({false, false}, {{1}, {2}}) == Tensor<double>{{-1}, {-2}});
    CHECK(values(Tensor<bool>::from_shape({0}), Tensor<double>::from_shape({0, 1})).size() == 0);
    CHECK_THROWS_WITH(values({true, false}, {{1}}), Catch::Contains("ids.shape(0) is 2, expected 1, the number of rows or sequences of x"));
    CHECK_THROWS_AS(values({true, false}, {{1}, {2}, {3}}), ShapeError);
    auto const bad = layer::if_else(mask, rows, [](auto a) { return layer::reduce_sum(a, {.axes = {0}, .keep_dims = true}); }, [](auto b) { return b; });
    CHECK_THROWS_WITH(test::run(bad, {{"mask", Tensor<bool>{true, true}}, {"rows", Tensor<double>{{1}, {2}}}}), Catch::Contains("x.shape(0) is 1, expected 2"));
    CHECK_THROWS_WITH(layer::if_else(layer::less(rows, 0), rows, [](auto a) { return a; }, [](auto b) { return b; }), "layer::divide_rows: mask rank is 2, expected 1");
}

TEST_CASE("interleave_rows and its gradient refuse what does not fit", "[layer]") {
    Cpu const exec;
    Tensor<float> const one{{1, 2}}, wide{{1, 2, 3}};
    CHECK((interleave_rows(exec, {0, 1}, one, one) == Tensor<float>{{1, 2}, {1, 2}}));
    CHECK_THROWS_WITH(interleave_rows(exec, {1, 2}, one, one), "ids[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(interleave_rows(exec, {1, 1}, one, one), "x.shape(0) is 1, expected 2");
    CHECK_THROWS_WITH(interleave_rows(exec, {1}, one, one), "y.shape(0) is 1, expected 0");
    CHECK_THROWS_AS(interleave_rows(exec, {0, 1}, one, wide), ShapeError);
    CHECK_THROWS_WITH(interleave_rows_grad(exec, {0, 1}, one), "out_grad.shape(0) is 1, expected 2");
    CHECK_THROWS_WITH(nonzero_rows(exec, {0, 1}, 7), "value is 7, expected 0 or 1");
    CHECK_THROWS_WITH(nonzero_rows(exec, {0, -1}, 1), "ids[1] = -1 is not in [0, 2)");
}

TEST_CASE("if_else divides whole sequences, and works in the step of a recurrent layer", "[layer]") {
    test::DefaultScope scope;
    auto const mask = test::fed("mask", LoDTensor<bool>(Tensor<bool>{true, false, true, false}));
    auto const w = test::parameter({2}, 3);
    auto const texts = layer::mul(test::fed("texts", LoDTensor<double>(test::values({6, 2}, 2), Lod{{0, 2, 3, 3, 6}})), w);
    auto const pooled = layer::if_else(mask, texts, [](auto a) { return layer::sequence_pool(a); }, [](auto b) { return layer::sequence_pool(b, {.pool = Pooling::max}); });
    auto const words = test::fed("words", LoDTensor<double>(test::values({8, 2}, 4), Lod{{0, 5, 5, 7, 8}}));
    auto const states = layer::rnn(words, layer::Memory{.like = pooled}, [&](auto x_t, auto before) {
        auto const sum = layer::reduce_sum(x_t, {.axes = {1}});
        auto const now = layer::if_else(
            layer::greater(sum, 0), before, [](auto a) { return layer::tanh(layer::fc(a, {.output_size = 2})); }, [](auto b) { return layer::scale(b, 0.5); });
        return layer::Step{layer::add(now, x_t), now};
    });
    test::check_gradients(layer::mse(states, test::fed("y", LoDTensor<double>(test::values({8, 2}, 5)))));
}

}  // namespace test_if_else
