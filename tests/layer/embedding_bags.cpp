// tests/layer/embedding_bags.cpp: many tables by one operator, compared with a layer for each.
#include <rowan/layer/embedding_bags.hpp>

#include "layer/check_net.hpp"
#include "reference.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/op/table/join_bags.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/sparse/hash_rows.hpp>
#include <rowan/train/train.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test_layer_embedding_bags {

namespace {

using namespace rowan;
using Ids = LoDTensor<std::int64_t>;

/// Two tables, two batches of 3 examples, some ids of which are -1.
std::vector<std::vector<Ids>> some_batches() {
    return {{Ids({3, -1, 0, 3}, Lod{{0, 2, 2, 4}}), Ids({1, 1, 0, -1, 1}, Lod{{0, 1, 3, 5}})}, {Ids({2, 2, 2}, Lod{{0, 1, 2, 3}}), Ids({-1, 0}, Lod{{0, 0, 0, 2}})}};
}

template <class T>
Parameters train_on(layer::Var<T> const& x, std::vector<Feeds> const& batches) {
    auto const cost = layer::mse(x, layer::data<T>("y", {UNK, 5}));
    return train(cost, [&](std::int64_t) { return batches; }, {.optimizer = layer::Adam{.learning_rate = 0.1}, .epochs = 3});
}

template <class T>
void check(Pooling pool) {
    auto y = Tensor<T>::from_shape({3, 5});
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<T>(static_cast<float>(i) / 8);
    std::vector<Feeds> joined, apart;
    for (auto const& batch : some_batches()) {
        joined.push_back({{"ids", join_bags(batch)}, {"y", y}});
        apart.push_back({{"a", sequence_erase(batch[0], {-1})}, {"b", sequence_erase(batch[1], {-1})}, {"y", y}});
    }
    Parameters const got = [&] {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
        auto const x = layer::embedding_bags<T>(ids, {.heights = {4, 2}, .widths = {3, 2}, .pool = pool, .names = {"first", "second"}});
        CHECK(x->spec() == tensor_spec<T>({UNK, 5}));
        return train_on<T>(x, joined);
    }();
    Parameters const want = [&] {
        test::DefaultScope scope;
        auto const bag = [&](char const* ids, std::int64_t height, std::int64_t width, char const* name) {
            return layer::embedding_bag<T>(layer::data<std::int64_t>(ids, {UNK}, 1), {.height = height, .width = width, .name = name}, {.pool = pool});
        };
        auto const first = bag("a", 4, 3, "first");
        return train_on<T>(layer::concat({first, bag("b", 2, 2, "second")}, {.axis = 1}), apart);
    }();
    for (char const* name : {"first", "second"}) CHECK(reference::same(got.get<T>(name), want.get<T>(name)));
}

}  // namespace

TEST_CASE("tables trained by one operator have the bits of tables trained by a layer each", "[layer][embedding_bags]") {
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        CAPTURE(pool);
        check<float>(pool);
        check<bfloat16>(pool);
    }
}

TEST_CASE("weights of ids: value and gradients", "[layer][embedding_bags]") {
    for (auto const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt}) {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
        auto const target = layer::data<double>("target", {UNK, 5});
        auto const weight = test::parameter({6}, 1), first = test::parameter({4, 3}, 2, "first"), second = test::parameter({2, 2}, 3, "second");
        test::set(*weight, LoDTensor<double>(Tensor<double>{0.5, 1.25, 7, 0.75, 2, 1}));
        test::set(*ids, Ids({3, 0, -1, 3, 1, 1}, Lod{{0, 3, 4, 4, 6}}));
        test::set(*target, LoDTensor<double>(test::values({2, 5}, 3)));
        auto const bags = layer::embedding_bags(ids, weight, std::vector{first, second}, {pool});
        CHECK(bags->spec() == tensor_spec<double>({UNK, 5}));
        test::check_net(layer::mse(bags, target));
        Net<>::trace_and_build(*bags).run(scope);
        auto const& t = first->value().get<LoDTensor<double>>().value();
        auto const& out = bags->value().get<LoDTensor<double>>().value();
        if (pool == Pooling::sum) CHECK(out(0, 1) == 0.5 * t(3, 1) + 1.25 * t(0, 1));
        CHECK(out(0, 3) == 0);
        if (pool == Pooling::mean) CHECK(out(1, 4) == Approx(second->value().get<LoDTensor<double>>().value()(1, 1)).epsilon(1e-12));
    }
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const x = layer::embedding_bags(ids, layer::data("weight", {UNK}), {.heights = {4, 2}, .width = 2});
    CHECK(x->spec() == tensor_spec<float>({UNK, 4}));
}

TEST_CASE("keys read the rows of their hashes", "[layer][embedding_bags]") {
    std::vector<Ids> const keys{Ids({700, -5, std::int64_t{1} << 60}, Lod{{0, 1, 3}}), Ids({700, 9}, Lod{{0, 2, 2}})};
    auto const run = [](bool hashed, Ids const& given) {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
        auto const x = layer::embedding_bags(ids, {.heights = {11, 3}, .width = 2, .hashed = hashed, .seed = 5, .names = {"a", "b"}});
        for (auto const& [name, height] : {std::pair("a", 11U), std::pair("b", 3U)}) {
            auto table = Tensor<float>::from_shape({height, 2});
            for (std::size_t i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(i);
            test::set(*scope.find(name), LoDTensor<float>(table));
        }
        test::set(*ids, given);
        Net<>::trace_and_build(*x).run(scope);
        return x->value().get<LoDTensor<float>>().value();
    };
    std::vector<Ids> const rows{Ids(hash_rows(keys[0].value(), 11, {.seed = 5}), keys[0].lod()), Ids(hash_rows(keys[1].value(), 3, {.seed = 5}), keys[1].lod())};
    CHECK(run(true, join_bags(keys)) == run(false, join_bags(rows)));
    CHECK(run(true, join_bags(keys)) != run(false, Ids(Tensor<std::int64_t>::zeros({5}), join_bags(rows).lod())));
}

TEST_CASE("tables and ids that do not fit are refused, and nothing is created", "[layer][embedding_bags][bad_input]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1), flat = layer::data<std::int64_t>("flat", {UNK});
    CHECK_THROWS_WITH(layer::embedding_bags(ids, {.width = 2}), "tables.size() is 0, expected 1 or more");
    CHECK_THROWS_WITH(layer::embedding_bags(ids, {.heights = {4, 2}, .widths = {2}}), "widths.size() is 1, expected 2, one for each table");
    CHECK_THROWS_WITH(layer::embedding_bags(ids, {.heights = {4, 2}, .width = 2, .names = {"a"}}), "names.size() is 1, expected 2, one for each table");
    CHECK_THROWS_WITH(layer::embedding_bags(flat, {.heights = {4, 2}, .width = 2, .names = {"a", "b"}}), "embedding_bags: ids.lod().levels() is 0, expected 1");
    CHECK_THROWS_WITH(layer::embedding_bags(ids, {.heights = {4, 2}, .width = 2, .pool = Pooling::first}), "pool is 5, expected one of sum, mean, sqrt, max");
    CHECK(scope.find("a") == nullptr);
}

TEST_CASE("hash_rows gives rows of a matrix of keys the rows of their tables", "[op]") {
    Tensor<std::int64_t> const keys{{5, 6}, {7, 8}, {9, 10}, {11, 12}};
    auto const rows = hash_rows_op::run(Cpu{}, Ids(keys, Lod{{0, 2, 4}}), {.heights = {3, 1000}, .seed = 2});
    for (std::size_t i = 0; i < keys.size(); ++i)
        CHECK(rows.value().data()[i] == static_cast<std::int64_t>(hash_key(keys.data()[i], 2) % (i < 4 ? 3U : 1000U)));
}

}  // namespace test_layer_embedding_bags
