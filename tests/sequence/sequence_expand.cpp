// tests/sequence/sequence_expand.cpp: rows and sequences repeated by the lengths of other sequences, and the gradient.
#include <rowan/sequence/sequence_expand.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace test_sequence_expand {

using namespace ragged;
using rowan::bfloat16, rowan::IndexError, rowan::sequence_expand, rowan::sequence_expand_grad, rowan::ShapeError;

namespace {

// The instances of x in the result, in order.
List repeated(Lod const& lod, std::size_t level) {
    List instances;
    for (std::size_t i = 0; i < lod.sequences(level); ++i) {
        for (std::int64_t k = lod[level][i]; k < lod[level][i + 1]; ++k) instances.push_back(static_cast<std::int64_t>(i));
    }
    return instances;
}

batches::Plain plain_rows(Lod const& x, Lod const& lod, std::size_t level) {
    if (x.empty()) return {{batches::list(lod[level])}, repeated(lod, level)};
    return batches::sub_batch(x, 0, repeated(lod, level));
}

template <class T>
LoDTensor<T> plain_grad(Tensor<T> const& g, LoDTensor<T> const& x, List const& rows) {
    using S = typename dtype<T>::sum;
    auto out = Tensor<T>::zeros(x.shape());
    std::vector<List> from(x.shape()[0]);
    for (std::size_t i = 0; i < rows.size(); ++i) from[static_cast<std::size_t>(rows[i])].push_back(static_cast<std::int64_t>(i));
    for (std::size_t r = 0; r < from.size(); ++r) {
        for (std::size_t k = 0; k < g.row_size() && !from[r].empty(); ++k) {
            std::vector<S> column;
            for (std::int64_t const i : from[r]) column.push_back(at(g, i, k));
            put(out, static_cast<std::int64_t>(r), k, reference::block_sum(column));
        }
    }
    return {out, x.lod()};
}

// Checks x, repeated by lod[level], and the gradient of the result, on `exec`.
template <class T>
void check_expand(Cpu exec, LoDTensor<T> const& x, Lod const& lod, std::size_t level) {
    auto const plain = plain_rows(x.lod(), lod, level);
    auto const want = batches::rows_of(x, plain);
    spoil(want);
    CHECK(same(sequence_expand(exec, x, lod, level), want));
    auto const g = inputs::wild<T>(want.shape(), 77);
    auto const want_grad = plain_grad(g, x, plain.rows);
    spoil(want_grad);
    CHECK(same(sequence_expand_grad(exec, g, x, lod, level), want_grad));
}

}  // namespace

TEST_CASE("a row is repeated once per element of its sequence", "[sequence_expand][golden]") {
    LoDTensor<float> const x{Tensor<float>{{1, 2}, {3, 4}, {5, 6}}};
    Lod const lod{{0, 2, 2, 3}, {0, 1, 1, 4}};
    CHECK(same(sequence_expand(x, lod), LoDTensor<float>({{1, 2}, {5, 6}, {5, 6}, {5, 6}}, Lod{{0, 1, 1, 4}})));
    CHECK(same(sequence_expand(x, lod, 0), LoDTensor<float>({{1, 2}, {1, 2}, {5, 6}}, Lod{{0, 2, 2, 3}})));
    CHECK(same(sequence_expand_grad(Tensor<float>{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, x, lod),
               LoDTensor<float>(Tensor<float>{{1, 2}, {0, 0}, {15, 18}})));
}

TEST_CASE("a sequence is repeated as a whole", "[sequence_expand][golden]") {
    LoDTensor<float> const x({1, 2, 3, 4}, Lod{{0, 2, 4}});
    CHECK(same(sequence_expand(x, Lod{{0, 2, 4}, {0, 3, 6, 7, 8}}, 0), LoDTensor<float>({1, 2, 1, 2, 3, 4, 3, 4}, Lod{{0, 2, 4, 6, 8}})));
    CHECK(same(sequence_expand_grad(Tensor<float>{1, 2, 3, 4, 5, 6, 7, 8}, x, Lod{{0, 2, 4}}), LoDTensor<float>({4, 6, 12, 14}, x.lod())));
    LoDTensor<float> const nested({1, 2, 3}, Lod{{0, 2, 2}, {0, 1, 3}});
    CHECK(same(sequence_expand(nested, Lod{{0, 2, 3}}), LoDTensor<float>({1, 2, 3, 1, 2, 3}, Lod{{0, 2, 4, 4}, {0, 1, 3, 4, 6}})));
}

TEMPLATE_TEST_CASE("sequence_expand: every element type has the bits of the plain loops", "[sequence_expand]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16, test::fixed,
                   test::dual) {
    for_batches<TestType>([](LoDTensor<TestType> const& x) {
        auto const by_lengths = [&](std::size_t n, std::int64_t most, std::uint64_t seed) {
            Lod const lod = random_lod(2, n, most, seed);
            check_expand(Cpu{}, x, lod, 0);
        };
        by_lengths(x.size(), 3, 1);
        if (x.size() < 6) by_lengths(x.size(), 200, 2);
        LoDTensor<TestType> const rows{x.value()};
        check_expand(Cpu{}, rows, random_lod(1, rows.size(), 3, 3), 0);
        check_expand(Cpu{}, rows, Lod::from_lengths({List(rows.size(), 0)}), 0);
    });
}

TEST_CASE("arguments that do not match throw", "[sequence_expand][bad]") {
    using batches::refusal;
    LoDTensor<float> const x({1, 2, 3}, Lod{{0, 2, 3}});
    LoDTensor<float> const rows{Tensor<float>{1, 2, 3}};
    Lod const lod{{0, 1, 3}, {0, 1, 1, 2}};
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_expand(e, LoDTensor<float>(Tensor<float>::from_shape({})), lod); }) ==
          "value rank is 0, expected at least 1");
    std::int64_t const many = std::int64_t{1} << 60;
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_expand(e, x, Lod::from_lengths({{1, many}})); }, x) ==
          "x[1] expanded is 1 rows or sequences 1152921504606846976 times, expected at most 2^60 in all");
    CHECK_THROWS_AS(sequence_expand(LoDTensor<float>{Tensor<float>{1}}, Lod::from_lengths({{many * 4}})), ShapeError);
}

}  // namespace test_sequence_expand
