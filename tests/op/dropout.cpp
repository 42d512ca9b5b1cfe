// tests/op/dropout.cpp: random zeros, determined by the seed.
#include <rowan/op/elementwise/dropout.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace test_dropout {

using rowan::bfloat16, rowan::Cpu, rowan::dropout, rowan::dropout_grad, rowan::dropout_op, rowan::ShapeError,
    rowan::Tensor, rowan::tensor_spec, rowan::UNK, rowan::ValueError;

using Mask = Tensor<std::uint8_t>;

constexpr auto seed_spec = tensor_spec<std::int64_t>({UNK});
static_assert(dropout_op::infer(tensor_spec<float>({UNK, 3}, 1), seed_spec, {})[0] == tensor_spec<float>({UNK, 3}, 1));
static_assert(dropout_op::infer(tensor_spec<float>({UNK, 3}, 1), seed_spec, {})[1] == tensor_spec<std::uint8_t>({UNK, 3}, 1));
static_assert(rowan::gradient_operator<dropout_op>::infer(tensor_spec<std::uint8_t>({UNK, 3}), seed_spec, tensor_spec<float>({4, UNK}))[0] == tensor_spec<float>({4, UNK}));

namespace {

// The fraction of ones.
double share(Mask const& mask) {
    return static_cast<double>(std::accumulate(mask.data(), mask.data() + mask.size(), std::size_t{0})) / static_cast<double>(mask.size());
}

// The published generator with consecutive states, from a mixed seed.
std::uint64_t next(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace

TEST_CASE("dropout keeps elements where the numbers of splitmix64 are not below the probability", "[op][golden]") {
    std::uint64_t seed = 42 - 0x9e3779b97f4a7c15;  // the first step mixes 42
    std::uint64_t state = next(seed);
    auto const x = Tensor<double>::full({100}, 3);
    auto const [out, mask] = dropout(x, 0.25, 42);
    for (std::size_t i = 0; i < 100; ++i) {
        bool const kept = static_cast<double>(next(state) >> 11) * 0x1p-53 >= 0.25;
        CHECK(mask(i) == (kept ? 1 : 0));
        CHECK(out(i) == (kept ? 4 : 0));
    }
    CHECK((dropout_grad(Mask{1, 0, 7}, Tensor<double>{3, 3, -6}, 0.25) == Tensor<double>{4, 0, -8}));
}

TEST_CASE("dropout drops the given fraction, and other elements for other seeds", "[op]") {
    std::size_t const n = 200'000;
    auto const x = Tensor<float>::full({n}, 1);
    for (double const p : {0.0, 0.1, 0.5, 0.9}) {
        double const spread = std::sqrt(p * (1 - p) / static_cast<double>(n));
        CHECK(std::abs(share(std::get<1>(dropout(x, p, 7))) - (1 - p)) <= 5 * spread);
    }
    for (std::uint64_t const other : {std::uint64_t{8}, 7 + 0x9e3779b97f4a7c15U}) {  // consecutive seeds and states
        auto const a = std::get<1>(dropout(x, 0.5, 7)), b = std::get<1>(dropout(x, 0.5, other));
        std::size_t same = 0, shifted = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            same += a(i) == b(i);
            shifted += a(i + 1) == b(i);
        }
        CHECK(std::abs(static_cast<double>(same) / static_cast<double>(n) - 0.5) < 0.01);
        CHECK(std::abs(static_cast<double>(shifted) / static_cast<double>(n) - 0.5) < 0.01);
    }
}

TEST_CASE("dropout changes nothing outside training", "[op]") {
    auto const x = test::values({5, 3}, 1);
    auto const [out, mask] = dropout(x, 0.5, 7, false);
    CHECK(reference::same(out, x));
    CHECK(out.data() != x.data());
    CHECK(share(mask) == 1);
    CHECK(reference::same(dropout_grad(mask, x, 0.5, false), x));
    CHECK(reference::same(std::get<0>(dropout(x, 0, 7)), x));
}

TEST_CASE("a dropped NaN is 0", "[op]") {
    auto const [out, mask] = dropout(Tensor<float>::full({100}, std::numeric_limits<float>::quiet_NaN()), 0.5, 1);
    for (std::size_t i = 0; i < 100; ++i) CHECK(std::isnan(out(i)) == (mask(i) == 1));
}

TEST_CASE("the operator takes its seed as an input, and without one it changes nothing", "[op]") {
    auto const x = test::values({5, 3}, 1);
    Tensor<std::int64_t> const negative{-7}, none = Tensor<std::int64_t>::from_shape({0}), two{1, 2};
    auto const [out, mask] = dropout_op::run(Cpu{}, x, negative, {0.25});
    CHECK(reference::same(out, std::get<0>(dropout(x, 0.25, ~std::uint64_t{6}))));
    CHECK(reference::same(std::get<0>(dropout_op::run(Cpu{}, x, none, {0.25})), x));
    CHECK(test::refusal<ShapeError>([&] { dropout_op::run(Cpu{}, x, two, {0.25}); }, x) == "seed.size() is 2, expected 0 or 1");
    auto const spec = tensor_spec<float>({UNK, 3});
    CHECK(test::refusal<ValueError>([&] { static_cast<void>(dropout_op::infer(spec, seed_spec, {1.5})); }) == "probability is 1.5, expected in [0, 1]");
    CHECK(test::refusal<ShapeError>([&] { static_cast<void>(dropout_op::infer(spec, spec, {})); }) == "dropout: seed rank is 2, expected 1");
    CHECK(test::refusal<rowan::TypeError>([&] { static_cast<void>(dropout_op::infer(spec, tensor_spec<float>({UNK}), {})); }) == "dropout: seed dtype is f32, expected i64");
}

TEST_CASE("dropout of bfloat16 rounds once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1);
    auto const [out, mask] = dropout(x, 0.1, 1);
    for (std::size_t i = 0; i < 37; ++i) CHECK(out(i).bits() == (mask(i) == 1 ? bfloat16(float(x(i)) * float(1 / 0.9)) : bfloat16(0.F)).bits());
}

TEST_CASE("dropout with probability 1 drops all elements in training, and its gradient is 0", "[op]") {
    Tensor<float> const x{0, -2, INFINITY, NAN};
    auto const [out, mask] = dropout(x, 1, 3);
    CHECK((out == Tensor<float>{0, 0, 0, 0} && mask == Mask{0, 0, 0, 0}));
    CHECK((dropout_grad(mask, x, 1) == Tensor<float>{0, 0, 0, 0}));
    CHECK(test::same_bits(std::get<0>(dropout(x, 1, 3, false)), x));
}

}  // namespace test_dropout
