// tests/layer/drop_levels.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_drop_levels {

using namespace rowan;

TEST_CASE("rows of pooled sentences are expanded to their words, and the gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 2);
    auto const target = layer::data<double>("target", {UNK, 2});
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3, 3}, Lod{{0, 2, 3}, {0, 2, 2, 5}}));
    test::set(*target, LoDTensor<double>(test::values({5, 2}, 3)));
    auto const rows = layer::embedding<double>(words, {.height = 4, .width = 2});
    rows->writers()[0]->inputs[0]->initialize(rows->writers()[0]->inputs[0]->value(), 5);
    auto const sentences = layer::sequence_pool(rows, {Pooling::sum});
    CHECK(layer::drop_levels(sentences)->spec() == tensor_spec<double>({UNK, 2}));
    test::check_net(layer::mse(layer::sequence_expand(layer::drop_levels(sentences), words), target));
    auto const net = Net<>::trace_and_build(*layer::sequence_expand(sentences, words));
    CHECK_THROWS_WITH(net.run(scope), Catch::Matchers::EndsWith(": x has 1 level, so its 2 sequences count, not its 3 rows: use drop_levels"));
    CHECK_THROWS_WITH(layer::drop_levels(sentences, {.levels = 2}), "drop_levels: levels is 2, expected in [0, 1], as x has 1 levels");
}

}  // namespace test_drop_levels
