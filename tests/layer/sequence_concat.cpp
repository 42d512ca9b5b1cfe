// tests/layer/sequence_concat.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_concat {

using namespace rowan;

TEST_CASE("layer::sequence_concat joins sequences of several values, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({3, 2}, 1), Lod{{0, 2, 2, 3}}));
    auto const y = test::fed("y", LoDTensor<double>(test::values({4, 1}, 2), Lod{{0, 0, 3, 4}}));
    auto const wide = layer::fc(y, {.output_size = 2});
    auto const both = layer::sequence_concat({layer::fc(x, {.output_size = 2}), wide, wide});
    CHECK(both->spec() == tensor_spec<double>({UNK, 2}, 1));
    auto const last = layer::sequence_pool(both, {Pooling::sqrt});
    test::check_net(layer::mse(last, test::fed("target", LoDTensor<double>(test::values({3, 2}, 3)))));
    auto const none = test::fed("none", LoDTensor<double>(Tensor<double>::zeros({0, 1}), Lod{{0, 0}}));
    CHECK_THROWS_WITH(Net<>::trace_and_build(*layer::sequence_concat({y, none})).run(scope),
                      "sequence_concat(x = [y, none]): x[1].lod().sequences(0) is 1, expected 3, as in x[0]");
}

TEST_CASE("the gradient of layer::sequence_concat passes through a concatenation that drops levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({3, 2}, 1), Lod{{0, 2, 2, 3}}));
    auto const rows = layer::fc(x, {.output_size = 2});
    auto const both = layer::concat({layer::sequence_concat({rows, layer::fc(rows, {.output_size = 2})}), test::parameter({2, 2}, 5)});
    test::check_net(layer::mse(both, test::fed("target", LoDTensor<double>(test::values({8, 2}, 3)))));
}

}  // namespace test_sequence_concat
