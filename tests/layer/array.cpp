// tests/layer/array.cpp
#include <rowan/layer/array.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/map_fn.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/own_operator.hpp>

#include <cstdint>

namespace test_array {

namespace {

using namespace rowan;
using namespace test;

layer::Var<std::int64_t> at(double k) { return layer::full<std::int64_t>({1}, k); }

}  // namespace

TEST_CASE("slots that are read twice, never, or overwritten have correct gradients", "[array]") {
    DefaultScope scope;
    auto const x = parameter({3, 2}, 1);
    auto const steps = layer::unstack(x);
    auto const first = layer::array_read(steps, at(0)), last = layer::array_read(steps, at(2));
    auto const again = layer::array_write(steps, at(2), layer::mul(first, first));
    auto const y = layer::add(layer::mul(layer::array_read(again, at(2)), first), last);
    check_net(layer::mse(y, parameter({2}, 2)));
}

TEST_CASE("an array without slots has its declared shape", "[array]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    auto const y = layer::stack(layer::map_fn(layer::unstack(x), [](auto const& row) { return layer::scale(row, 2); }));
    Feeds const none{{"x", Tensor<double>::from_shape({0, 2})}};
    CHECK(run(y, none).value().shape() == Tensor<double>::shape_type{0, 2});
    CHECK(run(layer::reduce_sum(y, {.axes = {0}}), none).value() == run(layer::reduce_sum(x, {.axes = {0}}), none).value());
}

TEST_CASE("missing slots and slots of another shape throw", "[array]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    Feeds const feeds{{"x", Tensor<double>{{1, 2}}}};
    auto const steps = layer::unstack(x);
    CHECK_THROWS_WITH(run(layer::array_read(steps, at(3)), feeds),
                      Catch::Matchers::ContainsSubstring("index = 3 is not in [0, 1)"));
    CHECK_THROWS_WITH(run(layer::stack(layer::array_write(steps, at(2), layer::array_read(steps, at(0)))), feeds),
                      Catch::Matchers::ContainsSubstring("slots[1] was never written"));
    CHECK_THROWS_AS(layer::array_write(steps, at(0), x), ShapeError);
}

}  // namespace test_array
