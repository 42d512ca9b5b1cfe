// tests/sequence/sequence_erase.cpp: sequences without some of their tokens.
#include <rowan/sequence/sequence_erase.hpp>

#include "ragged.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test_sequence_erase {

using namespace ragged;
using rowan::sequence_erase, rowan::ShapeError;

namespace {

template <class T>
LoDTensor<T> plain_erase(LoDTensor<T> const& x, List const& tokens) {
    Lists levels;
    for (std::size_t l = 0; l < x.lod().levels(); ++l) levels.push_back(batches::list(x.lod()[l]));
    levels.back() = {0};
    List rows;
    each_sequence(x.lod(), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            if (std::ranges::find(tokens, at(x.value(), i, 0)) == tokens.end()) rows.push_back(i);
        }
        levels.back().push_back(static_cast<std::int64_t>(rows.size()));
    });
    return batches::rows_of(x, {levels, rows});
}

// Few different tokens, so that every list of them occurs.
template <class T>
LoDTensor<T> tokens_of(Lod const& lod, Shape const& row_shape) {
    auto x = wild_batch<T>(lod, row_shape, 5);
    for (T& token : x.value()) token = static_cast<T>(static_cast<std::uint64_t>(token) % 5);
    return x;
}

}  // namespace

TEST_CASE("tokens are erased, the others keep their order", "[sequence_erase][golden]") {
    LoDTensor<std::int32_t> const x({3, 1, 4, 1, 5, 1}, Lod{{0, 3, 4, 4, 6}});
    CHECK(same(sequence_erase(x, {1}), LoDTensor<std::int32_t>({3, 4, 5}, Lod{{0, 2, 2, 2, 3}})));
    CHECK(same(sequence_erase(x, std::vector<std::int32_t>{5, 9, 3, 3}), LoDTensor<std::int32_t>({1, 4, 1, 1}, Lod{{0, 2, 3, 3, 4}})));
    CHECK(same(sequence_erase(x, {}), x));
    CHECK(same(sequence_erase(x, {1, 3, 4, 5}), LoDTensor<std::int32_t>(Tensor<std::int32_t>::from_shape({0}), Lod{{0, 0, 0, 0, 0}})));
    LoDTensor<std::int64_t> const y({{3}, {1}, {2}}, Lod{{0, 1, 1, 2}, {0, 2, 3}});
    CHECK(same(sequence_erase(y, {3, 2}), LoDTensor<std::int64_t>({{1}}, Lod{{0, 1, 1, 2}, {0, 1, 1}})));
    CHECK(same(sequence_erase(LoDTensor<std::uint8_t>({255, 0}, Lod{{0, 2}}), {-1, 256}), LoDTensor<std::uint8_t>({255, 0}, Lod{{0, 2}})));
}

TEMPLATE_TEST_CASE("every integer type is erased as by the plain loops", "[sequence_erase]", std::int32_t, std::int64_t, std::uint8_t, bool) {
    for (Shape const& shape : {Shape{}, Shape{1}, Shape{1, 1, 1}}) {
        for (Lod const& lod : small_lods()) {
            auto const x = tokens_of<TestType>(lod, shape);
            for (List const& tokens : {List{}, List{1}, List{4, 0}, List{0, 1, 2, 3, 4}}) {
                CAPTURE(lod, tokens);
                CHECK(same(sequence_erase(x, tokens), plain_erase(x, tokens)));
            }
        }
    }
}

}  // namespace test_sequence_erase
