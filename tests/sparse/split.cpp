// tests/sparse/split.cpp: a gradient cut by sections of the height.
#include <rowan/sparse/split.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace test_split {

using inputs::Rows, inputs::Shape;
using rowan::Cpu, rowan::SelectedRows, rowan::split, rowan::Tensor;

TEST_CASE("every section has its rows, counted from its beginning, in input order", "[split]") {
    SelectedRows<float> const g(10, {8, 0, 4, 9, 0}, {{1}, {2}, {3}, {4}, {5}});
    auto const parts = split(g, {4, 6});
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == SelectedRows<float>(4, {0, 0}, {{2}, {5}}));
    CHECK(parts[1] == SelectedRows<float>(6, {4, 0, 5}, {{1}, {3}, {4}}));
    CHECK(split(Cpu{.threads = 2}, g, std::vector<std::int32_t>{4, 6}) == parts);
    CHECK(split(g, {10}).front() == g);
}

TEST_CASE("a section without rows, or of height 0, is empty and keeps the row shape", "[split]") {
    SelectedRows<float> const g(6, {5}, {{{1, 2}}});
    auto const parts = split(g, {0, 2, 0, 4, 0});
    REQUIRE(parts.size() == 5);
    for (std::size_t k : std::vector<std::size_t>{0, 1, 2, 4}) CHECK((parts[k].rows().empty() && parts[k].value().shape() == Shape{0, 1, 2}));
    CHECK((parts[0].height() == 0 && parts[1].height() == 2));
    CHECK(parts[3] == SelectedRows<float>(4, {3}, {{{1, 2}}}));
    CHECK(split(SelectedRows<float>(), {}).empty());
}

TEST_CASE("the concatenated sections equal the whole", "[split][property]") {
    CHECK(rc::check([] {
        auto const heights = *rc::gen::nonEmpty(rc::gen::container<Rows>(rc::gen::inRange<std::int64_t>(1, 5)));
        auto const g = inputs::arbitrary_gradient<std::int64_t>(std::accumulate(heights.begin(), heights.end(), std::int64_t{0}), 2);
        auto const dense = rowan::to_dense(g);
        std::size_t begin = 0;
        std::size_t rows = 0;
        for (auto const& part : split(g, heights)) {
            std::size_t const end = begin + static_cast<std::size_t>(part.height());
            RC_ASSERT(reference::same(rowan::to_dense(part), dense.slice(begin, end)));
            begin = end;
            rows += part.rows().size();
        }
        RC_ASSERT(rows == g.rows().size());
    }));
}

TEST_CASE("heights that do not sum to the gradient's throw", "[split][bad_input]") {
    SelectedRows<float> const g(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, {1, -1, 4}); }, g) == "heights[1] is -1, expected 0 or more");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, {1, 4}); }, g) ==
          "heights[1] is 4, expected at most 3, what is left of the height");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, {1, std::numeric_limits<std::int64_t>::max()}); }, g) ==
          "heights[1] is 9223372036854775807, expected at most 3, what is left of the height");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, {1, 2}); }, g) == "sum of heights is 3, expected 4");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, {}); }, g) == "sum of heights is 0, expected 4");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { split(exec, g, Tensor<std::int64_t>{{1, 3}}); }, g) == "heights rank is 2, expected 1");
}

}  // namespace test_split
