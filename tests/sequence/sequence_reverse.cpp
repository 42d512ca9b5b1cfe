// tests/sequence/sequence_reverse.cpp: the rows of each sequence from the last to the first.
#include <rowan/sequence/sequence_reverse.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <cstdint>

namespace test_sequence_reverse {

using namespace ragged;
using rowan::bfloat16, rowan::sequence_reverse, rowan::ShapeError;

namespace {

template <class T>
LoDTensor<T> plain_reverse(LoDTensor<T> const& x) {
    auto out = Tensor<T>::from_shape(x.shape());
    each_sequence(x.lod(), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            for (std::size_t k = 0; k < out.row_size(); ++k) put(out, i, k, at(x.value(), begin + end - 1 - i, k));
        }
    });
    return {out, x.lod()};
}

}  // namespace

TEST_CASE("each sequence is reversed", "[sequence_reverse][golden]") {
    CHECK(same(sequence_reverse(LoDTensor<float>({1, 2, 3, 4, 5}, Lod{{0, 3, 3, 5}})), LoDTensor<float>({3, 2, 1, 5, 4}, Lod{{0, 3, 3, 5}})));
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 2}, {0, 1, 3}});
    CHECK(same(sequence_reverse(x), LoDTensor<float>({{1, 2}, {5, 6}, {3, 4}}, x.lod())));
}

TEMPLATE_TEST_CASE("sequence_reverse: every element type is moved as it is", "[sequence_reverse]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16, test::fixed, test::dual) {
    for_batches<TestType>([](auto const& x) {
        CHECK(same(sequence_reverse(x), plain_reverse(x)));
        CHECK(same(sequence_reverse(sequence_reverse(x)), x));
    });
}

}  // namespace test_sequence_reverse
