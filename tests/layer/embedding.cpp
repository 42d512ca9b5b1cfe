// tests/layer/embedding.cpp
#include <rowan/layer/embedding.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding_bags.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/own_operator.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

TEST_CASE("a bag refuses weights in other sequences than its ids", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const weight = layer::data("weight", {UNK}, 1), table = layer::data("table", {3, 2});
    auto const feeds = [](Lod const& lod) {
        return Feeds{{"ids", LoDTensor<std::int64_t>({2, 0, 2}, Lod{{0, 2, 3}})}, {"weight", LoDTensor<float>(Tensor<float>{1, 2, 3}, lod)}, {"table", Tensor<float>::zeros({3, 2})}};
    };
    for (auto const& bags : {layer::embedding_bag(ids, weight, table, {Pooling::sum}), layer::embedding_bags(ids, weight, {table}, {Pooling::sum})}) {
        CHECK_NOTHROW(test::run(bags, feeds(Lod{{0, 2, 3}})));
        CHECK_THROWS_WITH(test::run(bags, feeds(Lod{{0, 1, 3}})), Catch::Matchers::EndsWith("weight.lod() is other levels, expected those of ids, or none"));
    }
    CHECK_THROWS_WITH(layer::embedding_bag(ids, layer::data("nested", {UNK}, 2), table, {Pooling::sum}), "weighted_embedding_bag: weight.lod().levels() is 2, expected 1");
}

TEST_CASE("a table whose height or width is not given is refused, whatever makes it", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    std::size_t const before = default_scope().variables().size();
    auto const refused = [&](layer::EmbeddingOptions options) {
        std::string const text = options.height == UNK ? "layer::embedding: height is not given, expected the number of rows" : "layer::embedding: width is not given, expected the number of elements per row";
        for (bool const sharded : {false, true}) {
            for (int const columns : {1, 2}) {
                options.sharded = sharded;
                options.placement.columns = columns;
                CHECK_THROWS_WITH(layer::embedding(ids, options), text);
                CHECK_THROWS_WITH(layer::embedding_bag(ids, options, {}), text);
                if (columns == 1) CHECK_THROWS_WITH(layer::embedding_table(options), text);
            }
        }
        options.sharded = false;
        options.rows = std::vector<std::int64_t>();
        CHECK_THROWS_WITH(layer::embedding(ids, options), text);
    };
    refused({});
    refused({.width = 2});
    refused({.height = 3});
    CHECK_THROWS_WITH(layer::embedding_bags(ids, {.heights = {3, 4}}), "layer::embedding: width is not given, expected the number of elements per row");
    CHECK(default_scope().variables().size() == before);
    CHECK(layer::embedding(ids, {.height = 0, .width = 0})->spec() == tensor_spec<float>({UNK, 0}, 1));  // 0 is a size
}

}  // namespace test_embedding
