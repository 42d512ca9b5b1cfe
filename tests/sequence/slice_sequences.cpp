// tests/sequence/slice_sequences.cpp: sequences of a level as a batch of their own.
#include <rowan/sequence/slice_sequences.hpp>

#include "catch.hpp"

namespace test_slice_sequences {

using rowan::IndexError, rowan::Lod, rowan::LoDTensor, rowan::slice_sequences, rowan::Tensor;

TEST_CASE("the rows of a part are an alias", "[slice_sequences]") {
    LoDTensor<float> x(Tensor<float>{{1}, {2}, {3}, {4}, {5}}, Lod{{0, 2, 3}, {0, 1, 2, 5}});
    auto part = slice_sequences(x, 0, 1, 2);
    CHECK(part == LoDTensor<float>(Tensor<float>{{3}, {4}, {5}}, Lod{{0, 1}, {0, 3}}));
    part.value()(0, 0) = 7;
    CHECK(x.value()(2, 0) == 7);
    CHECK(slice_sequences(x, 1, 1, 3) == LoDTensor<float>(Tensor<float>{{2}, {7}, {4}, {5}}, Lod{{0, 1, 4}}));
}

TEST_CASE("a level or sequences that do not exist throw", "[slice_sequences][bad_input]") {
    LoDTensor<float> const x(Tensor<float>{1, 2, 3}, Lod{{0, 2}, {0, 1, 3}});
    CHECK_THROWS_WITH(slice_sequences(x, 2, 0, 1), "level = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(slice_sequences(x, 1, 0, 3), "sequences[1] = 3 is not in [0, 3)");
    CHECK_THROWS_AS(slice_sequences(LoDTensor<float>(x.value().share()), 0, 0, 1), IndexError);
}

}  // namespace test_slice_sequences
