// tests/sparse/retain.cpp: the part of a gradient with the given rows.
#include <rowan/sparse/retain.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test_retain {

using inputs::Rows, inputs::Shape;
using rowan::Cpu, rowan::retain, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("requested rows are kept, in their order, with duplicates", "[retain]") {
    SelectedRows<float> const g(9, {4, 1, 4, 7}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    SelectedRows<float> const want(9, {4, 4, 7}, {{1, 2}, {5, 6}, {7, 8}});
    CHECK(retain(g, {7, 0, 4}) == want);
    CHECK(retain(g, {4, 7, 7, 4}) == want);
    CHECK(retain(Cpu{.threads = 2}, g, std::vector<std::int32_t>{4, 7}) == want);
}

TEST_CASE("requests of no rows or of absent rows give a gradient without rows", "[retain]") {
    SelectedRows<float> const g(9, {4, 1}, {{{1, 2}}, {{3, 4}}});
    CHECK(retain(g, {}).shape() == Shape{9, 1, 2});
    CHECK(retain(g, {0, 8}).rows().empty());
    CHECK(retain(SelectedRows<float>(9, {}, Tensor<float>::from_shape({0, 2})), {3}).shape() == Shape{9, 2});
}

TEST_CASE("retained rows and the others together are the whole", "[retain][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<float>(8, 2);
        auto const rows = *rc::gen::container<Rows>(rc::gen::inRange<std::int64_t>(0, 8));
        Rows others;
        for (std::int64_t row = 0; row < 8; ++row) {
            if (std::ranges::find(rows, row) == rows.end()) others.push_back(row);
        }
        auto const kept = retain(g, rows);
        auto const left = retain(g, others);
        std::size_t k = 0;
        std::size_t l = 0;
        for (std::size_t i = 0; i < g.rows().size(); ++i) {
            bool const keep = std::ranges::find(rows, g.rows()[i]) != rows.end();
            auto const& part = keep ? kept : left;
            std::size_t const at = keep ? k++ : l++;
            RC_ASSERT(part.rows()[at] == g.rows()[i]);
            RC_ASSERT(std::ranges::equal(part.value().row(at), g.value().row(i)));
        }
        RC_ASSERT(k == kept.rows().size() && l == left.rows().size());
    }));
}

TEST_CASE("bits are copied, at all sizes", "[retain]") {
    inputs::for_sizes<rowan::bfloat16>([](auto const& g) {
        Rows all;
        for (std::int64_t row = 0; row < g.height(); ++row) all.push_back(row);
        CHECK(reference::same(retain(Cpu{.threads = 3}, g, all), g));
    });
}

TEST_CASE("retain throws if rows are not one-dimensional", "[retain][bad_input]") {
    SelectedRows<float> const g(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { retain(exec, g, Tensor<std::int64_t>{{0, 2}}); }, g) == "rows rank is 2, expected 1");
}

}  // namespace test_retain
