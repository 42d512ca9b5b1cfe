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
