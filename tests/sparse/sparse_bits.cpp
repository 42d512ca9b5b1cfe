// tests/sparse/sparse_bits.cpp: recorded bits, equal for all compilers, flags and instruction sets.
#include <rowan/sparse.hpp>

#include "catch.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_sparse_bits {

using rowan::SelectedRows, rowan::Tensor;

namespace {

// Floats of many sizes, from integers alone.
Tensor<float> numbers(Tensor<float>::shape_type const& shape, std::uint64_t seed) {
    auto t = Tensor<float>::from_shape(shape);
    for (float& x : t) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        auto const fraction = static_cast<std::int32_t>(seed >> 40) - (1 << 23);
        x = static_cast<float>(fraction) * (seed >> 32 & 1 ? 0x1p-23F : 0x1p-30F);
    }
    return t;
}

SelectedRows<float> const& gradient() {
    static SelectedRows<float> const g = [] {
        std::vector<std::int64_t> rows;
        for (std::uint64_t i = 0; i < 12'000; ++i) rows.push_back(static_cast<std::int64_t>(i % 3 == 0 ? 7 : i * i % 101));
        return SelectedRows<float>(101, rows, numbers({rows.size(), 37}, 1));
    }();
    return g;
}

template <class... T>
std::uint64_t hash(T const&... tensors) {
    std::uint64_t bits = 0xCBF29CE484222325U;
    auto const add = [&](Tensor<float> const& t) {
        for (float x : t) bits = (bits ^ std::bit_cast<std::uint32_t>(x)) * 0x100000001B3U;
    };
    (add(tensors), ...);
    return bits;
}

Tensor<float> positive(Tensor<float>::shape_type const& shape, std::uint64_t seed) {
    auto t = numbers(shape, seed);
    for (float& x : t) x = x * x;
    return t;
}

// The hash of param and two states after step(param, state, state).
template <class Step>
std::uint64_t after(Step const& step) {
    auto param = numbers({101, 37}, 2);
    auto a = positive({101, 37}, 3);
    auto b = positive({101, 37}, 4);
    step(param, a, b);
    return hash(param, a, b);
}

}  // namespace

TEST_CASE("all results have the recorded bits", "[bits]") {
    auto const& g = gradient();
    CHECK(hash(rowan::merge(g).value()) == 0x241C04A8A02A20D5U);
    CHECK(hash(rowan::to_dense(g)) == 0x72FC5DDF2E2EDACBU);
    CHECK(std::bit_cast<std::uint32_t>(rowan::squared_norm(g)) == 0x47A5F6B5U);
    CHECK(after([&](auto& p, auto&, auto&) { rowan::sgd(p, g, 0.1); }) == 0x8FE3B976B01BABA7U);
    CHECK(after([&](auto& p, auto& a, auto&) { rowan::adagrad(p, a, g); }) == 0x6288FF406F0482A7U);
    CHECK(after([&](auto& p, auto& a, auto&) { rowan::momentum(p, a, g, {.nesterov = true, .weight_decay = 0.1}); }) == 0xAF3EDAE71A6FF1D2U);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::adam(p, a, b, g, {.step = 3}); }) == 0x2017A6CE0A82EEE4U);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::adamax(p, a, b, g, {.step = 3, .weight_decay = 0.1}); }) == 0x466A694FE9B57E20U);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::adadelta(p, a, b, g, {.weight_decay = 0.1}); }) == 0x992458AFE49C9CECU);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::lamb(p, a, b, g, {.step = 3}); }) == 0x88AACE8D172E4857U);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::rmsprop(p, a, b, g, {.momentum = 0.5}); }) == 0xDDE14BB1F7DD626EU);
    CHECK(after([&](auto& p, auto& a, auto& b) { rowan::ftrl(p, a, b, g, {.l1 = 0.1, .l2 = 0.1}); }) == 0xAEE3400FF99C14F2U);
    CHECK(after([&](auto& p, auto&, auto&) {
              auto moment = positive({101}, 5);
              rowan::rowwise_adagrad(p, moment, g);
              p(0, 0) = moment(7);
          }) == 0x621D7239AD0D404EU);
}

TEST_CASE("recorded bits of the first values in a keyed table", "[bits]") {
    rowan::KeyedTable<double> table({.width = 4, .low = -0.25, .high = 0.5, .seed = 42});
    table.find_or_insert({7});
    CHECK((table.value() == Tensor<double>{{0x1.f52adf31e201ap-2, -0x1.bc4491d8dbf7ap-3, 0x1.123c33f0fc9c8p-2, 0x1.33cde68289d04p-2}}));
}

}  // namespace test_sparse_bits
