// tests/sequence/sequence_slice.cpp: a part of each sequence, and its gradient.
#include <rowan/sequence/sequence_slice.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace test_sequence_slice {

using namespace ragged;
using rowan::bfloat16, rowan::IndexError, rowan::sequence_slice, rowan::sequence_slice_grad, rowan::ShapeError;

namespace {

struct Parts {
    List offset, length;
};

// Parts of all kinds: empty, whole, at the beginning, at the end.
Parts parts_of(Lod const& lod, std::uint64_t seed) {
    inputs::Random random(seed);
    Parts parts;
    each_sequence(lod, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        parts.offset.push_back(random.below(end - begin + 1));
        parts.length.push_back(random.below(end - begin - parts.offset.back() + 1));
    });
    return parts;
}

template <class T>
LoDTensor<T> plain_slice(LoDTensor<T> const& x, Parts const& parts) {
    List rows;
    Lists levels;
    for (std::size_t l = 0; l < x.lod().levels(); ++l) levels.push_back(batches::list(x.lod()[l]));
    levels.back() = {0};
    each_sequence(x.lod(), [&](std::int64_t s, std::int64_t begin, std::int64_t) {
        auto const i = static_cast<std::size_t>(s);
        for (std::int64_t r = 0; r < parts.length[i]; ++r) rows.push_back(begin + parts.offset[i] + r);
        levels.back().push_back(static_cast<std::int64_t>(rows.size()));
    });
    return batches::rows_of(x, {levels, rows});
}

template <class T>
LoDTensor<T> plain_grad(Tensor<T> const& g, Lod const& lod, Parts const& parts) {
    auto shape = g.shape();
    shape[0] = static_cast<std::size_t>(lod.rows());
    auto out = Tensor<T>::zeros(shape);
    std::int64_t row = 0;
    each_sequence(lod, [&](std::int64_t s, std::int64_t begin, std::int64_t) {
        auto const i = static_cast<std::size_t>(s);
        for (std::int64_t r = 0; r < parts.length[i]; ++r, ++row) {
            for (std::size_t k = 0; k < g.row_size(); ++k) put(out, begin + parts.offset[i] + r, k, at(g, row, k));
        }
    });
    return {out, lod};
}

}  // namespace

TEST_CASE("sequence_slice returns a part of each sequence", "[sequence_slice][golden]") {
    LoDTensor<float> const x({1, 2, 3, 4, 5}, Lod{{0, 3, 3, 5}});
    auto const y = sequence_slice(x, {1, 0, 2}, std::vector<std::int32_t>{2, 0, 0});
    CHECK(same(y, LoDTensor<float>({2, 3}, Lod{{0, 2, 2, 2}})));
    CHECK(same(sequence_slice(x, {0, 0, 0}, {3, 0, 2}), x));
    CHECK(same(sequence_slice_grad(y, x.lod(), {1, 0, 2}, {2, 0, 0}), LoDTensor<float>({0, 2, 3, 0, 0}, x.lod())));
    LoDTensor<float> const z({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 0, 2}, {0, 1, 3}});
    CHECK(same(sequence_slice(z, {0, 1}, {1, 1}), LoDTensor<float>({{1, 2}, {5, 6}}, Lod{{0, 0, 2}, {0, 1, 2}})));
}

TEMPLATE_TEST_CASE("sequence_slice: every element type is moved as it is", "[sequence_slice]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16, test::fixed, test::dual) {
    for_batches<TestType>([](auto const& x) {
        for (std::uint64_t seed : std::vector<std::uint64_t>{1, 2, 3}) {
            auto const parts = parts_of(x.lod(), seed);
            auto const y = sequence_slice(x, parts.offset, parts.length);
            CHECK(same(y, plain_slice(x, parts)));
            CHECK(same(sequence_slice_grad(y, x.lod(), parts.offset, parts.length), plain_grad(y.value(), x.lod(), parts)));
        }
    });
}

TEST_CASE("parts outside their sequence throw", "[sequence_slice][bad]") {
    using batches::refusal;
    LoDTensor<float> const x({1, 2, 3, 4, 5}, Lod{{0, 3, 3, 5}});
    std::int64_t const max = std::numeric_limits<std::int64_t>::max();
    auto const index = [&](List const& offset, List const& length) {
        auto const text = refusal<IndexError>([&](Cpu e) { sequence_slice(e, x, offset, length); }, x);
        CHECK(refusal<IndexError>([&](Cpu e) { sequence_slice_grad(e, x, x.lod(), offset, length); }, x) == text);
        return text;
    };
    CHECK(index({0, 0, 3}, {0, 0, 0}) == "offset[2] = 3 is not in [0, 3)");
    CHECK(index({0, -1, 0}, {0, 0, 0}) == "offset[1] = -1 is not in [0, 1)");
    CHECK(index({1, 0, 0}, {3, 0, 0}) == "length[0] = 3 is not in [0, 3)");
    CHECK(index({1, 0, 0}, {-1, 0, 0}) == "length[0] = -1 is not in [0, 3)");
    CHECK(index({1, 0, 1}, {0, 0, max}) == "length[2] = 9223372036854775807 is not in [0, 2)");
    CHECK(index({max, 0, 1}, {max, 0, max}) == "offset[0] = 9223372036854775807 is not in [0, 4)");
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_slice_grad(e, x, Lod(), {}, {}); }, x) == "x_lod.levels() is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_slice(e, x, Tensor<std::int64_t>{{0, 0, 0}}, {0, 0, 0}); }, x) ==
          "offset rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_slice_grad(e, x, x.lod(), {0, 0, 0}, Tensor<std::int64_t>{{0, 0, 0}}); }, x) ==
          "length rank is 2, expected 1");
    LoDTensor<std::uint8_t> const huge(Tensor<std::uint8_t>::from_shape({static_cast<std::size_t>(max), 0}), Lod::from_lengths({{max}}));
    CHECK(sequence_slice(huge, {max}, {0}).lod() == Lod{{0, 0}});
    CHECK(refusal<IndexError>([&](Cpu e) { sequence_slice(e, huge, {-1}, {0}); }) == "offset[0] = -1 is not in [0, 9223372036854775807)");
}

}  // namespace test_sequence_slice
