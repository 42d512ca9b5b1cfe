// tests/sparse/selected_rows.cpp: SelectedRows as a container.
#include <rowan/sparse/selected_rows.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_selected_rows {

using inputs::Rows, inputs::Shape;
using rowan::SelectedRows, rowan::Tensor;

template <class T, class Device>
constexpr std::type_identity<T> element_of(SelectedRows<T, Device> const&) {
    return {};
}

TEST_CASE("rows are integers of any type, and a value comes from a vector", "[selected_rows]") {
    std::vector<std::size_t> const rows{3, 1};
    std::vector<float> const values{1, 2, 3, 4};
    rowan::SelectedRows<float> const grad(4, rows, rowan::Tensor<float>::from_values({2, 2}, values));
    CHECK(grad == rowan::SelectedRows<float>(4, {3, 1}, {{1, 2}, {3, 4}}));
    CHECK_THROWS_AS(rowan::SelectedRows<float>(4, std::vector<std::uint32_t>{0xffffffff}, {1}), rowan::IndexError);
}

TEST_CASE("a gradient has a height, rows, a value and the shape of the tall tensor", "[selected_rows]") {
    SelectedRows<float> const g(85, {73, 84}, {{1, 2}, {3, 4}});
    CHECK(g.height() == 85);
    CHECK(std::ranges::equal(g.rows(), Rows{73, 84}));
    CHECK((g.value() == Tensor<float>{{1, 2}, {3, 4}}));
    CHECK(g.shape() == Shape{85, 2});
    CHECK(g.row_size() == 2);
}

TEST_CASE("rows come from braces, int32, spans and tensors", "[selected_rows]") {
    Tensor<float> const value{{1}, {2}, {3}};
    SelectedRows<float> const want(9, {8, 0, 8}, value);
    std::vector<std::int32_t> const narrow{8, 0, 8};
    CHECK(SelectedRows<float>(9, narrow, value) == want);
    CHECK(SelectedRows<float>(9, std::span(narrow), value) == want);
    CHECK(SelectedRows<float>(9, Rows{8, 0, 8}, value) == want);
    CHECK(SelectedRows<float>(9, Tensor<std::int32_t>{8, 0, 8}, value) == want);
    CHECK(SelectedRows(9, {8, 0, 8}, value) == want);
    CHECK(SelectedRows<float>(9, want.rows(), value) == want);
}

TEST_CASE("a value may have any rank from 1 on, and no elements", "[selected_rows]") {
    CHECK(SelectedRows<float>(9, {1, 2}, {5, 6}).shape() == Shape{9});
    CHECK(SelectedRows<float>(9, {1, 2}, {5, 6}).row_size() == 1);
    CHECK(SelectedRows<float>(9, {1}, {{{5, 6}, {7, 8}}}).shape() == Shape{9, 2, 2});
    CHECK(SelectedRows<float>(9, {1}, {{{{5}, {6}}}}).shape() == Shape{9, 1, 2, 1});
    CHECK(SelectedRows<float>(9, {1, 2}, Tensor<float>::from_shape({2, 0})).row_size() == 0);
    CHECK(SelectedRows<float>(9, {}, Tensor<float>::from_shape({0, 3, 2})).shape() == Shape{9, 3, 2});
}

TEST_CASE("merged means ascending and unique", "[selected_rows]") {
    auto const merged = [](Rows const& rows) { return SelectedRows<float>(9, rows, Tensor<float>::zeros({rows.size(), 1})).merged(); };
    CHECK(merged({}));
    CHECK(merged({5}));
    CHECK(merged({0, 1, 8}));
    CHECK(!merged({1, 1}));
    CHECK(!merged({2, 1}));
    CHECK(!merged({0, 4, 8, 8}));
}

TEST_CASE("height 0 has no rows, and a height may be as large as numbers get", "[selected_rows]") {
    SelectedRows<float> const none;
    CHECK((none.height() == 0 && none.rows().empty() && none.shape() == Shape{0} && none.merged()));
    CHECK(SelectedRows<float>(0, {}, Tensor<float>::from_shape({0, 2})).shape() == Shape{0, 2});
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    SelectedRows<float> const tall(most, {most - 1}, {{1}});
    CHECK((tall.height() == most && tall.rows()[0] == most - 1));
}

TEST_CASE("a value that is moved into a constructor that throws is still there", "[selected_rows]") {
    Tensor<float> value{{1, 2}};
    CHECK_THROWS_AS(SelectedRows<float>(4, {9}, std::move(value)), rowan::IndexError);
    CHECK_THROWS_AS(SelectedRows<float>(4, {0, 1}, std::move(value)), rowan::ShapeError);
    CHECK(value == Tensor<float>{{1, 2}});
}

TEST_CASE("a moved value is not copied; a shared one remains shared", "[selected_rows]") {
    Tensor<float> value{{1, 2}};
    Tensor<float> const alias = value.share();
    SelectedRows<float> g(3, {1}, std::move(value));
    CHECK(g.value().data() == alias.data());
    g.value()(0, 1) = 7;
    CHECK(alias(0, 1) == 7);
}

TEST_CASE("rows are copied from the caller", "[selected_rows]") {
    Rows rows{1, 2};
    SelectedRows<float> const g(3, rows, {{1}, {2}});
    rows[0] = 99;
    CHECK(g.rows()[0] == 1);
}

TEST_CASE("a copy is deep, a moved-from gradient is empty and can be used again", "[selected_rows]") {
    SelectedRows<float> g(9, {4, 2}, {{1}, {2}});
    SelectedRows<float> copy = g;
    copy.value()(0, 0) = 5;
    CHECK(g.value()(0, 0) == 1);
    copy = g;
    CHECK(copy == g);

    SelectedRows<float> const moved = std::move(g);
    CHECK(moved == copy);
    CHECK((g.height() == 0 && g.rows().empty() && g.value().size() == 0 && g.merged()));
    g = copy;
    CHECK((g == copy && !g.merged()));
    SelectedRows<float> other;
    other.swap(g);
    CHECK((other == copy && g.rows().empty()));
    g = std::move(other);
    CHECK(g == copy);
}

TEST_CASE("equal gradients have the same height, rows in the same order, and equal values", "[selected_rows]") {
    SelectedRows<float> const g(9, {1, 2}, {{1}, {2}});
    CHECK(!(g == SelectedRows<float>(8, {1, 2}, {{1}, {2}})));
    CHECK(!(g == SelectedRows<float>(9, {2, 1}, {{2}, {1}})));
    CHECK(!(g == SelectedRows<float>(9, {1, 2}, {{1}, {3}})));
    CHECK(!(g == SelectedRows<float>(9, {1, 2}, {1, 2})));
    CHECK(!(g == SelectedRows<float>(9, {1}, {{1}})));
}

TEST_CASE("functions deduce the element type and the device of a gradient", "[selected_rows]") {
    CHECK(std::is_same_v<decltype(element_of(SelectedRows<double>()))::type, double>);
}

TEMPLATE_TEST_CASE("SelectedRows works with every built-in element type", "[selected_rows]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, rowan::bfloat16, rowan::float16) {
    auto const g = inputs::gradient<TestType>(9, 20, {3}, 1);
    SelectedRows<TestType> const copy = g;
    CHECK(reference::same(copy, g));
}

TEST_CASE("an alias of a gradient keeps its rows and shares its elements", "[sparse]") {
    SelectedRows<float> g(9, {7, 2, 7}, {{1, 2}, {3, 4}, {5, 6}});
    SelectedRows<float> const alias = g.share();
    CHECK(alias == g);
    CHECK(alias.merged() == g.merged());
    g.value()(1, 1) = 8;
    CHECK(alias.value()(1, 1) == 8);
    g = SelectedRows<float>(9, {0}, {{1, 1}});
    CHECK(alias.rows().size() == 3);
}

TEST_CASE("SelectedRows throws if the value does not have one row per row number", "[selected_rows][bad_input]") {
    auto const value = test::ramp<float>({3, 2});
    auto const make = [&](std::int64_t height, rowan::Ids<> rows, Tensor<float> const& v) {
        return test::refusal<rowan::ShapeError>([&](rowan::Cpu) { SelectedRows<float>(height, rows, v); }, v);
    };
    CHECK(make(4, {0, 1}, value) == "value.shape(0) is 3, expected 2, the number of rows");
    CHECK(make(4, {0, 1, 2, 3}, value) == "value.shape(0) is 3, expected 4, the number of rows");
    CHECK(make(4, {}, value) == "value.shape(0) is 3, expected 0, the number of rows");
    CHECK(make(4, {0}, Tensor<float>::full({}, 1)) == "value rank is 0, expected at least 1");
    CHECK(make(4, Tensor<std::int64_t>{{0, 1, 2}}, value) == "rows rank is 2, expected 1");
    CHECK(make(4, Tensor<std::int32_t>::zeros({}), value) == "rows rank is 0, expected 1");
    CHECK(make(-1, {0, 1, 2}, value) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(make(std::numeric_limits<std::int64_t>::min(), {0, 1, 2}, value) == "height is -9223372036854775808, expected in [0, 2^63 - 1]");
    CHECK(test::refusal<rowan::ShapeError>([&](rowan::Cpu) { SelectedRows<float>(std::uint64_t{1} << 63, {0}, test::ramp<float>({1})); }) ==
          "height is 9223372036854775808, expected in [0, 2^63 - 1]");
    CHECK(make(2, {9, 9}, value) == "value.shape(0) is 3, expected 2, the number of rows");  // counts come before ids
    CHECK_NOTHROW(SelectedRows<float>(4, {0, 1, 3}, value));

    auto const error = test::refused<rowan::ShapeError>([&](rowan::Cpu) { SelectedRows<float>(4, {0, 1}, value); });
    CHECK(error.field() == "value.shape(0)");
    CHECK(error.actual() == "3");
    CHECK(error.expected() == "2, the number of rows");
}

}  // namespace test_selected_rows
