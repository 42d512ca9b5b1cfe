// tests/sequence/sequence_reshape.cpp: sequences with rows of another width.
#include <rowan/sequence/sequence_reshape.hpp>

#include "sequence/batches.hpp"

#include <cstdint>

namespace test_sequence_reshape {

using rowan::Lod, rowan::LoDTensor, rowan::sequence_reshape, rowan::ShapeError, rowan::Tensor, rowan::ValueError;

TEST_CASE("sequence_reshape gives rows another width, and shares their elements", "[sequence_reshape][golden]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}, Lod{{0, 2, 6}});  // the example of Paddle's documentation
    auto wide = sequence_reshape(x, 4);
    CHECK((wide == LoDTensor<float>({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, Lod{{0, 1, 3}})));
    CHECK(sequence_reshape(wide, 2) == x);
    CHECK(sequence_reshape(x, 1).lod() == Lod{{0, 4, 12}});
    wide.value()(2, 3) = 0;
    CHECK(x.value()(5, 1) == 0);
}

TEST_CASE("sequence_reshape takes any rank, any levels and empty sequences", "[sequence_reshape]") {
    LoDTensor<std::int64_t> const ids({3, 1, 4, 1, 5, 9}, Lod{{0, 1, 1, 3}, {0, 0, 4, 6}});
    CHECK((sequence_reshape(ids, 2) == LoDTensor<std::int64_t>({{3, 1}, {4, 1}, {5, 9}}, Lod{{0, 1, 1, 3}, {0, 0, 2, 3}})));
    auto const cubes = batches::wild_batch<float>(Lod{{0, 1, 4}}, {2, 3}, 1);
    CHECK(sequence_reshape(cubes, 3).shape() == batches::Shape{8, 3});
    CHECK(sequence_reshape(cubes, 3).lod() == Lod{{0, 2, 8}});
    LoDTensor<float> const none(Tensor<float>::zeros({0, 2}), Lod{{0}}), narrow(Tensor<float>::zeros({3, 0}), Lod{{0, 1, 3}});
    CHECK((sequence_reshape(none, 7) == LoDTensor<float>(Tensor<float>::zeros({0, 7}), Lod{{0}})));
    CHECK((sequence_reshape(narrow, 5) == LoDTensor<float>(Tensor<float>::zeros({0, 5}), Lod{{0, 0, 0}})));
}

TEST_CASE("widths that do not divide a sequence throw", "[sequence_reshape][bad_input]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 2, 3}});
    auto const text = [](LoDTensor<float> const& y, std::int64_t width) {
        return batches::refusal<rowan::Error>([&](rowan::Cpu) { sequence_reshape(y, width); }, y);
    };
    CHECK(text(x, 4) == "elements of sequence 1 is 2, expected a multiple of 4");  // though 6 elements would fit in rows of 3
    CHECK(text(x, 3) == "elements of sequence 0 is 4, expected a multiple of 3");
    CHECK(text(x, 0) == "width is 0, expected 1 or more");
    CHECK(text(x, -1) == "width is -1, expected 1 or more");
    CHECK(text(LoDTensor<float>(x.value()), 2) == "x.lod().levels() is 0, expected at least 1");
}

}  // namespace test_sequence_reshape
