// tests/layer/reduce_sum.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_reduce_sum_layer {

using namespace rowan;

TEST_CASE("layer::reduce_sum adds the rows of a batch, or the elements of each row", "[layer][reduce]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const x = layer::data("x", {UNK, 2}, 1);
    auto const sum = layer::reduce_sum(x, {.axes = {0}}), of_rows = layer::reduce_sum(x, {.axes = {-1}, .keep_dims = true});
    CHECK(sum->spec() == tensor_spec<float>({2}));
    CHECK(of_rows->spec() == tensor_spec<float>({UNK, 1}, 1));
    CHECK(layer::reduce_sum(x)->spec() == tensor_spec<float>({}));
    Lod const lod{{0, 3}};
    LoDTensor<float> const batch({{1, 2}, {3, 4}, {5, 7}}, lod), none(Tensor<float>::from_shape({0, 2}), Lod{{0}});
    CHECK((test::run(sum, {{"x", batch}}) == LoDTensor<float>(Tensor<float>{9, 13})));
    CHECK((test::run(of_rows, {{"x", batch}}) == LoDTensor<float>(Tensor<float>{{3}, {7}, {12}}, lod)));
    CHECK((test::run(sum, {{"x", none}}).value() == Tensor<float>{0, 0}));
    CHECK_THROWS_WITH(layer::reduce_sum(x, {.axes = {1, 2}}), "axes[1] = 2 is not in [-2, 2)");
    CHECK_THROWS_WITH(layer::reduce_sum(x, {.axes = {-3}}), "axes[0] = -3 is not in [-2, 2)");
}

TEST_CASE("the gradient of layer::reduce_sum equals central differences", "[layer][reduce]") {
    for (std::vector<std::int64_t> const& axes : {std::vector<std::int64_t>{0}, {1}, {0, 2}, {-1}}) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const sum = layer::reduce_sum(test::parameter({3, 2, 4}, 1), {.axes = axes});
        Tensor<double>::shape_type shape(sum->spec().dims.begin(), sum->spec().dims.end());
        auto const target = layer::data<double>("target", sum->spec().dims);
        test::set(*target, LoDTensor<double>(test::values(shape, 3)));
        test::check_net(layer::mse(sum, target));
    }
}

TEST_CASE("a step of a recurrent net may sum the elements of each row", "[layer][reduce]") {
    for (std::int64_t const axis : {1, -1}) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const x = layer::fc(test::fed("x", LoDTensor<double>(test::values({5, 2}, 1), Lod{{0, 3, 3, 5}})), {.output_size = 2});
        auto const h = layer::rnn(x, 1, [&](auto x_t, auto before) {
            auto const now = layer::add(layer::reduce_sum(x_t, {.axes = {axis}, .keep_dims = true}), layer::scale(before, 0.5));
            return layer::Step{now, now};
        });
        test::check_net(layer::mse(h, test::fed("y", LoDTensor<double>(test::values({5, 1}, 2)))));
    }
}

TEST_CASE("layers take means, extrema and products along axes, and keep levels with axis 0", "[layer][reduce]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1);
    Lod const lod{{0, 3}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, 2}, {3, 4}, {5, 9}}, lod)}};
    CHECK(layer::mean(x)->spec() == tensor_spec<float>({}));
    CHECK((test::run(layer::mean(x), feeds).value() == Tensor<float>::full({}, 4)));
    CHECK((test::run(layer::reduce_mean(x, {.axes = {-1}, .keep_dims = true}), feeds) == LoDTensor<float>(Tensor<float>{{1.5F}, {3.5F}, {7}}, lod)));
    CHECK((test::run(layer::reduce_max(x, {.axes = {0}}), feeds) == LoDTensor<float>(Tensor<float>{5, 9})));
    CHECK((test::run(layer::reduce_min(x, {.axes = {1}}), feeds) == LoDTensor<float>(Tensor<float>{1, 3, 5}, lod)));
    CHECK((test::run(layer::reduce_prod(x, {.axes = {0}}), feeds).value() == Tensor<float>{15, 72}));
    CHECK_THROWS_WITH(layer::reduce_max(x, {.axes = {1, 2}}), "axes[1] = 2 is not in [-2, 2)");
    CHECK_THROWS_WITH(test::run(layer::reduce_max(x), {{"x", LoDTensor<float>(Tensor<float>::from_shape({0, 2}), Lod{{0}})}}),
                      Catch::Contains("x.shape() is [0, 2], expected at least one element for each result"));
}

TEST_CASE("the mean of a net can be its cost, and reductions can be in its steps", "[layer][reduce]") {
    test::DefaultScope scope;
    auto const x = layer::fc(test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), Lod{{0, 3, 3, 5}})), {.output_size = 2});
    auto const h = layer::rnn(x, 1, [&](auto x_t, auto before) {
        ReduceOptions const of_row{.axes = {-1}, .keep_dims = true};
        auto const now = layer::reduce_max(x_t, of_row) * layer::reduce_mean(x_t, of_row) - layer::reduce_min(x_t, of_row) + layer::scale(layer::reduce_prod(before, of_row), 0.5);
        return layer::Step{now, now};
    });
    test::check_net(layer::mean(layer::mul(h, h)));
}

}  // namespace test_reduce_sum_layer
