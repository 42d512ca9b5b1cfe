// tests/layer/shrink.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cstdint>
#include <tuple>

namespace test_layer_shrink {

using namespace rowan;

TEST_CASE("layer::shrink removes sentences that have ended, also in a loop, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3, 3, 2}, Lod{{0, 1, 1, 4, 6}}));
    auto const x = test::fed("x", LoDTensor<double>(test::values({4, 3}, 1)));
    auto const sorted = layer::reorder(layer::fc(x, {.output_size = 2}), words);
    auto const target = test::fed("target", LoDTensor<double>(test::values({2, 2}, 3)));
    test::check_net(layer::mse(layer::shrink(sorted, words, layer::full<std::int64_t>({1}, 1)), target));
    auto const [t, last] = layer::while_loop(
        std::tuple(layer::full<std::int64_t>({1}, 0), sorted), [](auto const& i, auto const&) { return layer::less(i, 2); },
        [&](auto const& i, auto const& states) {
            return std::tuple(i + 1, layer::tanh(layer::fc(layer::shrink(states, words, i), {.output_size = 2})));
        });
    test::check_net(layer::mse(last, target));
}

}  // namespace test_layer_shrink
