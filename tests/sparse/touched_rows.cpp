// tests/sparse/touched_rows.cpp: the rows of a table that have changed.
#include <rowan/sparse/touched_rows.hpp>

#include "inputs.hpp"
#include "refused.hpp"

#include <cmath>
#include <set>

namespace test_touched_rows {

using inputs::Rows;
using rowan::IndexError, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::TouchedRows;
using test::refusal, test::refused;

TEST_CASE("touched rows are given once each, ascending, until they are cleared", "[touched_rows][golden]") {
    TouchedRows touched(200);
    CHECK(touched.rows().empty());
    touched.add({199, 3, 64, 3});
    touched.add({0, 63});
    CHECK(touched.rows() == Rows{0, 3, 63, 64, 199});
    CHECK(touched.height() == 200);
    touched.clear();
    CHECK(touched.rows().empty());
    touched.add(Tensor<std::int32_t>{{5, 4}, {4, 5}});
    CHECK(touched.rows() == Rows{4, 5});
    CHECK(TouchedRows(0).rows().empty());
}

TEST_CASE("the values of touched rows are those of the table", "[touched_rows][golden]") {
    TouchedRows touched(3);
    touched.add({2, 0, 2});
    CHECK(touched.of(Tensor<float>{{1, 2}, {3, 4}, {5, 6}}) == SelectedRows<float>(3, {0, 2}, {{1, 2}, {5, 6}}));
    CHECK(touched.of(Tensor<std::int64_t>{7, 8, 9}) == SelectedRows<std::int64_t>(3, {0, 2}, {7, 9}));
    touched.clear();
    CHECK(touched.of(Tensor<float>::zeros({3, 2})).value().shape() == inputs::Shape{0, 2});
}

TEST_CASE("rows with different bits are the difference of two tables", "[touched_rows]") {
    Tensor<float> const before{{1, 0}, {2, 0}, {3, NAN}, {4, 0}};
    Tensor<float> after = before;
    CHECK(TouchedRows::between(before, after).rows().empty());  // NaN too has the same bits
    after(0, 1) = -0.0F;
    after(3, 0) = 5;
    CHECK(TouchedRows::between(before, after).rows() == Rows{0, 3});
    CHECK(TouchedRows::between(Tensor<float>::zeros({5, 0}), Tensor<float>::zeros({5, 0})).rows().empty());

    auto const large = inputs::wild<float>({70'001, 9}, 1);  // several threads
    auto changed = large;
    inputs::Random random(2);
    std::set<std::int64_t> want{0, 70'000};
    for (int i = 0; i < 3'000; ++i) want.insert(random.below(70'001));
    for (std::int64_t const row : want) changed(static_cast<std::size_t>(row), 8) = std::nextafter(changed(static_cast<std::size_t>(row), 8), 0.0F);
    CHECK(TouchedRows::between(large, changed).rows() == Rows(want.begin(), want.end()));
}

TEST_CASE("rows outside the table and tables of another height throw", "[touched_rows][bad_input]") {
    TouchedRows touched(64);
    CHECK(refusal<IndexError>([&] { touched.add({1, 64}); }) == "rows[1] = 64 is not in [0, 64)");
    CHECK(refusal<IndexError>([&] { touched.add({1, -1}); }) == "rows[1] = -1 is not in [0, 64)");
    CHECK(touched.rows().empty());
    touched.add({63});
    CHECK(refused<ShapeError>([&] { touched.of(Tensor<float>::zeros({63, 2})); }).field() == "table.shape(0)");
    CHECK_THROWS_AS(touched.of(Tensor<float>::full({}, 1)), ShapeError);
    CHECK_THROWS_AS(TouchedRows(-1), ShapeError);
    CHECK_THROWS_AS(TouchedRows::between(Tensor<float>::zeros({2, 3}), Tensor<float>::zeros({3, 2})), ShapeError);
    CHECK_THROWS_AS(TouchedRows::between(Tensor<float>::full({}, 1), Tensor<float>::full({}, 1)), ShapeError);
}

TEST_CASE("a moved-from TouchedRows is empty and can be used", "[sparse]") {
    TouchedRows from(9);
    from.add({3, 8});
    TouchedRows const to(std::move(from));
    CHECK(to.rows() == std::vector<std::int64_t>{3, 8});
    CHECK(from.height() == 0);
    CHECK_THROWS_AS(from.add({0}), IndexError);
    from = TouchedRows(2);
    from.add({1});
    CHECK(from.rows() == std::vector<std::int64_t>{1});
}

}  // namespace test_touched_rows
