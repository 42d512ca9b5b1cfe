// tests/layer/map_fn.cpp
#include <rowan/layer/map_fn.hpp>

#include "layer/check_net.hpp"

#include <rowan/graph/rnn.hpp>
#include <rowan/layer/array.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/own_operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace test_map_fn {

namespace {

using namespace test;

Lod const lod = Lod::from_lengths({{0, 1, 5, 5, 2}});
Lod const two_levels = Lod::from_lengths({{2, 0, 3, 1}, {2, 0, 3, 1, 2, 4}});

LoDTensor<double> const& result(layer::Var<double> const& v) { return v->value().get<LoDTensor<double>>(); }

}  // namespace

TEST_CASE("map_fn of rows is the layer itself, run once", "[map_fn]") {
    DefaultScope scope;
    auto const x = fed("x", LoDTensor<double>(values({13, 2}, 1), lod));
    auto const mapped = layer::map_fn(x, [](auto row) { return layer::tanh(row); });
    auto const plain = layer::tanh(x);
    Net<>::trace_and_build(std::array{&*mapped, &*plain}).run(scope);
    CHECK(result(mapped) == result(plain));
    auto const& net = mapped->writers()[0]->attributes.get<RnnBlock>().net;
    CHECK((net.forward.before.size() == 1 && net.forward.each.empty() && net.forward.after.empty()));
}

TEST_CASE("map_fn of sentences pools each of them, and gradients reach table and weights", "[map_fn]") {
    DefaultScope scope;
    auto const ids = fed("ids", LoDTensor<std::int64_t>({1, 2, 3, 4, 0, 1, 1, 1, 0, 2, 3, 3}, two_levels));
    auto const table = layer::parameter<double>({5, 2}, {-1, 1}, "table");
    auto const mapped = layer::map_fn(
        ids, [&](auto sentence) { return layer::fc(layer::sequence_pool(layer::embedding(sentence, table), {.pool = Pooling::mean}), {.output_size = 3}); }, {.level = 0});
    CHECK((mapped->spec().lod_level == 1 && mapped->spec().dims == Dims{UNK, 3}));
    check_gradients(layer::mse(mapped, fed("y", LoDTensor<double>(values({6, 3}, 2)))), "table");
    auto const net = Net<>::trace_and_build(*mapped);
    net.run(scope);
    CHECK(result(mapped).lod() == two_levels.slice_levels(0, 1));
}

TEST_CASE("map_fn over an array maps every slot", "[map_fn]") {
    DefaultScope scope;
    auto const x = parameter({4, 2}, 1);
    auto const squares = layer::map_fn(layer::unstack(x), [](auto const& v) { return layer::mul(v, v); });
    auto const out = layer::stack(squares);
    CHECK(out->spec().dims == Dims{UNK, 2});
    auto const products = layer::mul(x, x);
    Net<>::trace_and_build(std::array{&*out, &*products}).run(scope);
    CHECK(result(out) == result(products));
    check_net(layer::mse(out, parameter({4, 2}, 2)));
}

}  // namespace test_map_fn
