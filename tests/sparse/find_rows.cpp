// tests/sparse/find_rows.cpp
#include <rowan/sparse/find_rows.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/sgd.hpp>

#include <cstdint>
#include <vector>

namespace test_find_rows {

using namespace rowan;

TEST_CASE("find_rows gives the first position of each id, sorted or not", "[find_rows]") {
    SelectedRows<float> const table(40, {30, 10, 20, 10}, Tensor<float>{{5, 6}, {1, 2}, {3, 4}, {9, 9}});
    CHECK((find_rows(table, Tensor<std::int64_t>{10, 30, 10}) == Tensor<std::int64_t>{1, 0, 1}));
    CHECK((find_rows(table, Tensor<std::int32_t>{{20}, {30}}) == Tensor<std::int64_t>{{2}, {0}}));
    auto const sorted = merge(table);
    CHECK((find_rows(sorted, Tensor<std::int64_t>{30, 10, 20}) == Tensor<std::int64_t>{2, 0, 1}));
    CHECK(find_rows(sorted, Tensor<std::int64_t>::from_shape({0})).size() == 0);
    CHECK(find_rows(SelectedRows<float>(3, {}, Tensor<float>::from_shape({0, 2})),
                    Tensor<std::int64_t>::from_shape({2, 0}))
              .size() == 0);

    for (std::int64_t const height : {1, 2, 17, 1000}) {
        std::vector<std::int64_t> rows, ids;
        for (std::int64_t i = 0; i < height; ++i) rows.push_back((i * 7 + 3) % height);
        for (std::int64_t i = 0; i < 50; ++i) ids.push_back(i * i % height);
        SelectedRows<float> const all(height, rows, Tensor<float>::from_shape({rows.size(), 0}));
        auto const asked = Tensor<std::int64_t>::from_values({ids.size()}, ids);
        auto const found = find_rows(all, asked);
        CHECK(find_rows(merge(all), asked) == asked);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            std::int64_t want = 0;
            while (rows[static_cast<std::size_t>(want)] != ids[i]) ++want;
            CHECK(found.data()[i] == want);
        }
    }
}

TEST_CASE("an id that is not a row is named, and so is one outside of the table", "[find_rows]") {
    for (SelectedRows<float> const& table : {SelectedRows<float>(40, {30, 10}, Tensor<float>{1, 2}),
                                             SelectedRows<float>(40, {10, 30}, Tensor<float>{1, 2})}) {
        CHECK_THROWS_WITH(find_rows(table, Tensor<std::int64_t>{10, 20}), "ids[1] = 20 is not a row of the table");
        CHECK_THROWS_WITH(find_rows(table, Tensor<std::int64_t>{10, 40}), "ids[1] = 40 is not in [0, 40)");
        CHECK_THROWS_WITH(find_rows(table, Tensor<std::int64_t>{-1, 40}), "ids[0] = -1 is not in [0, 40)");
        CHECK_THROWS_WITH(find_rows(table, SelectedRows<float>(40, {10, 11}, Tensor<float>{1, 2})),
                          "rows[1] = 11 is not a row of the table");
        CHECK_THROWS_WITH(find_rows(table, SelectedRows<float>(41, {10}, Tensor<float>{1})),
                          "grad.height() is 41, expected 40");
        CHECK_THROWS_AS(find_rows(table, SelectedRows<float>(40, {10}, Tensor<float>{{1, 2}})), ShapeError);
    }
}

TEST_CASE("optimizers train the rows of a table that exist", "[find_rows]") {
    SelectedRows<float> table(31, {10, 20, 30}, Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    SelectedRows<float> const grad(31, {30, 10, 30}, Tensor<float>{{1, 1}, {1, 1}, {1, 1}});
    sgd(table.value(), find_rows(table, grad), 1);
    CHECK((table.value() == Tensor<float>{{0, 1}, {3, 4}, {3, 4}}));
    auto moment = Tensor<float>::zeros({3, 2});
    adagrad(table.value(), moment, find_rows(table, grad), {.learning_rate = 2, .epsilon = 0});
    CHECK((moment == Tensor<float>{{1, 1}, {0, 0}, {4, 4}}));
    CHECK((table.value() == Tensor<float>{{-2, -1}, {3, 4}, {1, 2}}));
}

}  // namespace test_find_rows
