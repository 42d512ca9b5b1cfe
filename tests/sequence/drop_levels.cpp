// tests/sequence/drop_levels.cpp: batches without their outermost levels.
#include <rowan/sequence/drop_levels.hpp>

#include "sequence/batches.hpp"

#include <rowan/sequence/sequence_expand.hpp>

namespace test_drop_levels {

using rowan::drop_levels, rowan::Lod, rowan::LoDTensor, rowan::ShapeError;

TEST_CASE("the outermost levels are dropped, by default all, and the rows are shared", "[drop_levels][golden]") {
    auto const x = batches::batch(Lod{{0, 2, 3}, {0, 1, 3, 4}});
    auto rows = drop_levels(x);
    CHECK((rows == LoDTensor<float>({0, 1, 2, 3})));
    CHECK(drop_levels(x, 0) == x);
    CHECK((drop_levels(x, 1) == LoDTensor<float>({0, 1, 2, 3}, Lod{{0, 1, 3, 4}})));
    CHECK(drop_levels(x, 2) == rows);
    CHECK(drop_levels(rows) == rows);
    rows.value()(0) = 7;
    CHECK(x.value()(0) == 7);
}

TEST_CASE("levels that do not exist are not dropped", "[drop_levels][bad_input]") {
    auto const x = batches::batch(Lod{{0, 1, 3}});
    CHECK(batches::refusal<ShapeError>([&](rowan::Cpu) { drop_levels(x, 2); }, x) == "levels is 2, expected in [0, 1], as x has 1 levels");
    CHECK(batches::refusal<ShapeError>([&](rowan::Cpu) { drop_levels(x, static_cast<std::size_t>(-1)); }, x) == "levels is -1, expected in [0, 1], as x has 1 levels");
}

TEST_CASE("rows are expanded where their levels are dropped", "[drop_levels]") {
    Lod const words{{0, 2, 3}, {0, 1, 3, 4}};
    auto const sentences = batches::batch(Lod{{0, 2, 3}});
    CHECK_THROWS_AS(sequence_expand(sentences, words), ShapeError);
    CHECK((sequence_expand(drop_levels(sentences), words) == LoDTensor<float>({0, 1, 1, 2}, Lod{{0, 1, 3, 4}})));
}

}  // namespace test_drop_levels
