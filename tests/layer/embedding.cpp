// tests/layer/embedding.cpp
#include <rowan/layer/embedding.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

#include <cstdint>

namespace test_embedding {

using namespace rowan;

TEST_CASE("a bag of rows with a weight for each: value and both gradients", "[layer]") {
    for (auto const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt}) {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, {.lod_level = 1});
        auto const target = layer::data<double>("target", {UNK, 2});
        auto const weight = test::parameter({4}, 1), table = test::parameter({3, 2}, 2, "table");
        test::set(*weight, LoDTensor<double>(Tensor<double>{0.5, 1.25, 0.75, 2}));
        test::set(*ids, LoDTensor<std::int64_t>({2, 0, 2, 2}, Lod{{0, 3, 3, 4}}));
        test::set(*target, LoDTensor<double>(test::values({3, 2}, 3)));
        auto const bags = layer::embedding_bag(ids, weight, table, {pool});
        CHECK(bags->spec() == tensor_spec<double>({UNK, 2}));
        test::check_net(layer::mse(bags, target));
        if (pool != Pooling::sum) continue;
        Net<>::trace_and_build(*bags).run(scope);
        auto const& w = weight->value().get<LoDTensor<double>>().value();
        auto const& t = table->value().get<LoDTensor<double>>().value();
        auto const& out = bags->value().get<LoDTensor<double>>().value();
        for (std::size_t k = 0; k < 2; ++k) {
            CHECK(out(0, k) == Approx((w(0) + w(2)) * t(2, k) + w(1) * t(0, k)).epsilon(1e-12));
            CHECK(out(1, k) == 0);
            CHECK(out(2, k) == w(3) * t(2, k));
        }
    }
}

TEST_CASE("a bag refuses another number of weights", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const weight = layer::data("weight", {UNK, 1}), table = layer::embedding_table({.height = 3, .width = 2});
    CHECK_THROWS_WITH(layer::embedding_bag(ids, weight, table, {Pooling::sum}), "weighted_embedding_bag: weight rank is 2, expected the rank of the other input");
}

}  // namespace test_embedding
