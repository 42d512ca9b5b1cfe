// tests/sequence/sequence_mask.cpp: which places of padded sequences hold elements.
#include <rowan/sequence/sequence_mask.hpp>

#include "ragged.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace test_sequence_mask {

using namespace ragged;
using rowan::IndexError, rowan::sequence_mask, rowan::ShapeError;

namespace {

Tensor<bool> plain_mask(List const& lengths, std::size_t width) {
    auto mask = Tensor<bool>::from_shape({lengths.size(), width});
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        for (std::size_t k = 0; k < width; ++k) mask(i, k) = static_cast<std::int64_t>(k) < lengths[i];
    }
    return mask;
}

}  // namespace

TEST_CASE("row i is true in its first lengths[i] places", "[sequence_mask][golden]") {
    CHECK((sequence_mask({2, 0, 3}) == Tensor<bool>{{true, true, false}, {false, false, false}, {true, true, true}}));
    CHECK((sequence_mask({2, 0}, 4) == Tensor<bool>{{true, true, false, false}, {false, false, false, false}}));
    CHECK((sequence_mask(Cpu{2}, std::vector<std::int32_t>{2, 0, 3}, 1) == Tensor<bool>{{true}, {false}, {true}}));
    CHECK((sequence_mask(Tensor<std::int32_t>{{1}, {2}}) == Tensor<bool>{{{true, false}}, {{true, true}}}));
}

TEST_CASE("without lengths the mask is empty", "[sequence_mask]") {
    CHECK(sequence_mask({}).shape() == Shape{0, 0});
    CHECK(sequence_mask({}, 5).shape() == Shape{0, 5});
    CHECK(sequence_mask({0, 0}).shape() == Shape{2, 0});
    CHECK(sequence_mask({7, 1}, 0).shape() == Shape{2, 0});
    CHECK((sequence_mask({std::numeric_limits<std::int64_t>::max() - 1}, 2) == Tensor<bool>{{true, true}}));
}

TEST_CASE("small masks are as the plain loops make them", "[sequence_mask][property]") {
    CHECK(rc::check([] {
        auto const lengths = *rc::gen::container<List>(rc::gen::inRange<std::int64_t>(0, 9));
        auto const width = *rc::gen::inRange<std::size_t>(0, 12);
        RC_ASSERT(reference::same(sequence_mask(lengths, width), plain_mask(lengths, width)));
        std::int64_t longest = 0;
        for (std::int64_t const n : lengths) longest = std::max(longest, n);
        RC_ASSERT(reference::same(sequence_mask(lengths), plain_mask(lengths, static_cast<std::size_t>(longest))));
    }));
}

}  // namespace test_sequence_mask
