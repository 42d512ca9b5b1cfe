// tests/layer/sequence_reverse.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/sequence_pool.hpp>

#include <cstdint>

namespace test_sequence_reverse {

using namespace rowan;

TEST_CASE("layer::sequence_reverse in a step reverses the sequences of the step, also in parts of a batch", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 1}, 2);
    auto const out = layer::rnn(x, 1, [](auto x_t, auto s) {
        auto const now = layer::add(s, layer::sequence_pool(layer::sequence_reverse(x_t), {.pool = Pooling::first}));
        return layer::Step{now, now};
    }, {.level = 0});
    auto const feeds = [&](Tensor<float> rows, Lod const& lod) { return Feeds{{"x", LoDTensor<float>(std::move(rows), lod)}}; };
    CHECK((test::run(out, feeds({{1}, {2}, {3}, {4}, {5}}, Lod{{0, 2, 3}, {0, 2, 3, 5}})) == LoDTensor<float>({{2}, {5}, {5}}, Lod{{0, 2, 3}})));
}

}  // namespace test_sequence_reverse
