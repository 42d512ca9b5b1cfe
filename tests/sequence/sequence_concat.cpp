// tests/sequence/sequence_concat.cpp: sequences of several batches joined one by one, and their gradients.
#include <rowan/sequence/sequence_concat.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"
#include "sanitizers.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_sequence_concat {

using namespace ragged;
using rowan::bfloat16, rowan::sequence_concat, rowan::sequence_concat_grad, rowan::ShapeError;

namespace {

template <class T>
LoDTensor<T> plain_concat(std::vector<LoDTensor<T>> const& inputs) {
    std::size_t const last = inputs[0].lod().levels() - 1;
    std::int64_t rows = 0;
    for (auto const& x : inputs) rows += x.lod().rows();
    auto out = rows_like(inputs[0].value(), rows);
    Lists levels;
    for (std::size_t l = 0; l < last; ++l) levels.push_back(batches::list(inputs[0].lod()[l]));
    levels.push_back({0});
    std::int64_t row = 0;
    for (std::size_t s = 0; s < inputs[0].lod().sequences(last); ++s) {
        for (auto const& x : inputs) {
            for (std::int64_t i = x.lod()[last][s]; i < x.lod()[last][s + 1]; ++i, ++row) {
                for (std::size_t k = 0; k < out.row_size(); ++k) put(out, row, k, at(x.value(), i, k));
            }
        }
        levels.back().push_back(row);
    }
    return {out, Lod(levels)};
}

// Batches of as many sequences as x has: x itself, its sequences reversed in length, and empty ones.
template <class T>
std::vector<LoDTensor<T>> companions(LoDTensor<T> const& x) {
    std::size_t const last = x.lod().levels() - 1;
    Lists lengths;
    for (std::size_t l = 0; l <= last; ++l) lengths.push_back(x.lod().lengths(l));
    auto shape = x.shape();
    Shape const row(shape.begin() + 1, shape.end());
    std::vector<LoDTensor<T>> result{x};
    std::ranges::reverse(lengths[last]);
    result.push_back(wild_batch<T>(Lod::from_lengths(lengths), row, 91));
    std::ranges::fill(lengths[last], 0);
    result.push_back(wild_batch<T>(Lod::from_lengths(lengths), row, 92));
    result.push_back(x);
    return result;
}

}  // namespace

TEST_CASE("sequence i of the result is sequence i of each input", "[sequence_concat][golden]") {
    LoDTensor<float> const a({1, 2, 3}, Lod{{0, 2, 2, 3}});
    LoDTensor<float> const b({4, 5, 6}, Lod{{0, 1, 3, 3}});
    LoDTensor<float> const want({1, 2, 4, 5, 6, 3}, Lod{{0, 3, 5, 6}});
    CHECK(same(sequence_concat(a, b), want));
    CHECK(same(sequence_concat(Cpu{2}, a, b), want));
    CHECK(same(sequence_concat(std::vector<LoDTensor<float>>{a, b}), want));
    CHECK(same(sequence_concat(std::vector{std::cref(a), std::cref(b)}), want));
    LoDTensor<float> changeable = a;
    CHECK(same(sequence_concat(Cpu{2}, std::vector{std::ref(changeable)}), a));
    CHECK(same(sequence_concat(a), a));
    auto const grads = sequence_concat_grad(want, {a.lod(), b.lod()});
    REQUIRE(grads.size() == 2);
    CHECK((same(grads[0], a) && same(grads[1], b)));
}

TEST_CASE("levels above the last are kept", "[sequence_concat][golden]") {
    LoDTensor<float> const a({1, 2, 3}, Lod{{0, 2, 2, 3}, {0, 1, 1, 3}});
    LoDTensor<float> const b({4, 5}, Lod{{0, 2, 2, 3}, {0, 0, 2, 2}});
    CHECK(same(sequence_concat(a, b), LoDTensor<float>({1, 4, 5, 2, 3}, Lod{{0, 2, 2, 3}, {0, 1, 3, 5}})));
}

TEST_CASE("sequences of upper levels are concatenated with all that they contain", "[sequence_concat][golden]") {
    LoDTensor<float> const a({1, 2, 3}, Lod{{0, 2, 2, 3}, {0, 1, 1, 3}});
    LoDTensor<float> const b({4, 5, 6, 7}, Lod{{0, 1, 3, 3}, {0, 0, 3, 4}});
    std::vector const both{a, b};
    LoDTensor<float> const want({1, 4, 5, 6, 7, 2, 3}, Lod{{0, 3, 5, 6}, {0, 1, 1, 1, 4, 5, 7}});
    CHECK(same(sequence_concat(both, 0), want));
    auto const grads = sequence_concat_grad(want, {a.lod(), b.lod()}, 0);
    CHECK((same(grads[0], a) && same(grads[1], b)));
    LoDTensor<float> const deep_a({1, 2, 3}, Lod{{0, 1, 1}, {0, 2}, {0, 1, 3}}), deep_b({4, 5}, Lod{{0, 1, 2}, {0, 1, 1}, {0, 2}});
    std::vector const deep{deep_a, deep_b, deep_a};
    CHECK(same(sequence_concat(Cpu{2}, deep, 0), LoDTensor<float>({1, 2, 3, 4, 5, 1, 2, 3}, Lod{{0, 3, 4}, {0, 2, 3, 5, 5}, {0, 1, 3, 5, 6, 8}})));
    CHECK(same(sequence_concat_grad(Cpu{2}, sequence_concat(deep, 0), {deep_a.lod(), deep_b.lod(), deep_a.lod()}, 0)[1], deep_b));
    for (auto const& x : large_batches()) {  // a level without companions: a batch with itself
        std::vector const twice{x, x};
        auto const got = sequence_concat(twice, 0);
        check_threads(got, [&](Cpu exec) { return sequence_concat(exec, twice, 0); });
        for (std::size_t s = 0; s < x.lod().sequences(0); s += sanitizers::any ? 7 : 1) {
            auto const part = got.slice(s, s + 1), one = x.slice(s, s + 1);
            REQUIRE(same(part, sequence_concat(std::vector{one, one}, 0)));
        }
        check_threads(x, [&](Cpu exec) { return std::move(sequence_concat_grad(exec, got, {x.lod(), x.lod()}, 0)[1]); });
    }
}

TEMPLATE_TEST_CASE("every element type is copied unchanged, and divided again", "[sequence_concat]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16, test::fixed,
                   test::dual) {
    for_batches<TestType>([](auto const& x) {
        auto const inputs = companions(x);
        auto const joined = sequence_concat(inputs);
        CHECK(same(joined, plain_concat(inputs)));
        auto const grads = sequence_concat_grad(joined, std::vector{inputs[0].lod(), inputs[1].lod(), inputs[2].lod(), inputs[3].lod()});
        REQUIRE(grads.size() == 4);
        for (std::size_t j = 0; j < 4; ++j) CHECK(same(grads[j], inputs[j]));
    });
}

TEST_CASE("inputs that do not match throw", "[sequence_concat][bad]") {
    using batches::refusal;
    LoDTensor<float> const a({{1}, {2}}, Lod{{0, 2}, {0, 1, 2}});
    auto const with = [&](LoDTensor<float> const& b) { return refusal<ShapeError>([&](Cpu e) { sequence_concat(e, a, a, b); }, a, b); };
    CHECK(with({{{1}}, Lod{{0, 1}, {0, 1}}}) == "x[2].lod()[0][1] is 1, expected 2, as in x[0]");
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_concat(e, std::vector<LoDTensor<float>>{}); }) == "x.size() is 0, expected at least 1");
    LoDTensor<float> const c({{5}}, Lod{{0, 1}, {0, 1}});
    CHECK(same(sequence_concat(std::vector{a, c}, 0), LoDTensor<float>({{1}, {2}, {5}}, Lod{{0, 3}, {0, 1, 2, 3}})));
    CHECK(refusal<rowan::IndexError>([&](Cpu e) { sequence_concat_grad(e, a, {a.lod(), c.lod()}, 3); }, a) == "level = 3 is not in [0, 2)");
    LoDTensor<float> const one({1}, Lod{{0, 1}});
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_concat_grad(e, one, {Lod{{0, 1}}, Lod{{0}}}); }, one) ==
          "lods[1].sequences(0) is 0, expected 1, as in lods[0]");
    LoDTensor<std::uint8_t> const huge(Tensor<std::uint8_t>::from_shape({std::size_t{1} << 62, 0}), Lod::from_lengths({{std::int64_t{1} << 62}}));
    CHECK(refusal<rowan::LodError>([&](Cpu e) { sequence_concat(e, huge, huge); }, huge) ==
          "lod[0][1] = 4611686018427387904 is a length that makes the sum overflow");
}

}  // namespace test_sequence_concat
