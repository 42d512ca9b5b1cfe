// tests/sparse/gather_keys.cpp
#include <rowan/sparse/gather_keys.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/core/bfloat16.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace test_gather_keys {

using namespace rowan;

namespace {

using Ints = KeyIndex<std::int64_t>;
using Shape = Tensor<float>::shape_type;

/// Row by row.
template <class T, class Key>
bool same(Tensor<T> const& out, Tensor<T> const& table, Tensor<std::int64_t> const& rows, Key const& keys) {
    std::size_t const width = table.row_size();
    if (out.size() != keys.size() * width) return false;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            std::int64_t const row = rows.data()[i];
            T const want = row < 0 ? T{} : table.data()[static_cast<std::size_t>(row) * width + j];
            if (std::memcmp(&out.data()[i * width + j], &want, sizeof(T)) != 0) return false;
        }
    }
    return true;
}

template <class T>
void check(Shape const& row_shape, bool default_row) {
    Ints index({.default_row = default_row});
    std::vector<std::int64_t> keys;
    for (std::int64_t i = 0; i < 3000; ++i) keys.push_back(i * i % 1009 - 100);
    index.find_or_insert({std::span(keys).first(300)});
    for (std::size_t const more : {std::size_t{0}, std::size_t{5}}) {
        Shape shape{static_cast<std::size_t>(index.height()) + more};
        shape.insert(shape.end(), row_shape.begin(), row_shape.end());
        auto const table = inputs::wild<T>(shape, 1);
        for (int const threads : {1, 8}) {
            CAPTURE(row_shape.size(), default_row, more, threads);
            auto const out = gather(Cpu{threads}, table, index, keys);
            shape[0] = keys.size();
            CHECK(out.shape() == shape);
            auto const rows = index.find(keys);
            CHECK(same(out, table, rows, keys));
            CHECK(std::ranges::any_of(keys, [&](auto key) { return index.find({key}).data()[0] <= 0; }));
            if (default_row) CHECK((out == gather(table, rows)));
            auto again = inputs::wild<T>(shape, 2);
            gather_into(Cpu{threads}, table, index, keys, again);
            CHECK((again == out));
        }
    }
}

}  // namespace

TEST_CASE("the rows of keys, and zeros for keys without one", "[gather_keys]") {
    for (bool const default_row : {false, true}) {
        check<float>({3}, default_row);
        check<float>({200}, default_row);
        check<float>({2, 2}, default_row);
        check<float>({}, default_row);
        check<float>({0}, default_row);
        check<bfloat16>({17}, default_row);
        check<std::int64_t>({4}, default_row);
    }
}

TEST_CASE("the keys' shape comes first, and keys may be strings", "[gather_keys]") {
    KeyIndex<std::string> index;
    index.find_or_insert({"a", "b"});
    Tensor<float> const table{{1, 2}, {3, 4}, {5, 6}};
    CHECK((gather(table, index, {"b", "c", "a"}) == Tensor<float>{{3, 4}, {0, 0}, {1, 2}}));
    std::vector<std::string> const keys{"b", "a", "b", ""};
    CHECK((gather(table, index, {keys, {2, 2}}) == Tensor<float>{{{3, 4}, {1, 2}}, {{3, 4}, {0, 0}}}));
    CHECK(gather(table, index, {}).shape() == Shape{0, 2});
    CHECK(gather(table, index, {std::span(keys).first(0), {3, 0}}).shape() == Shape{3, 0, 2});

    Ints ints;
    CHECK((gather(Tensor<float>::from_shape({0, 2}), ints, {1}) == Tensor<float>{{0, 0}}));
    ints.find_or_insert({7, 8});
    CHECK((gather(table, ints, Tensor<std::int64_t>{{8}, {9}}) == Tensor<float>{{{3, 4}}, {{0, 0}}}));
    Tensor<float> out{{9, 9}};
    gather_into(table, ints, {8}, out);
    CHECK((out == Tensor<float>{{3, 4}}));
}

TEST_CASE("tables, results and numbers of threads that do not fit change nothing", "[gather_keys][bad_input]") {
    Ints index;
    index.find_or_insert({7, 8, 9});
    index.erase({8, 9});  // the height stays
    auto table = Tensor<float>::full({3, 2}, 1);
    auto out = Tensor<float>::full({2, 2}, 5);
    auto const low = Tensor<float>::full({2, 2}, 1);
    CHECK_THROWS_WITH(gather(low, index, {7}), "table.shape(0) is 2, expected at least index.height() = 3");
    CHECK_THROWS_WITH(gather_into(low, index, {7, 8}, out),
                      "table.shape(0) is 2, expected at least index.height() = 3");
    CHECK_THROWS_WITH(gather(Tensor<float>::full({}, 1), index, {7}), "table rank is 0, expected at least 1");
    CHECK_THROWS_WITH(gather_into(Tensor<float>::full({}, 1), index, {7}, out), "table rank is 0, expected at least 1");
    CHECK_THROWS_WITH(gather_into(table, index, {7}, out), "out.shape() is [2, 2], expected [1, 2]");
    CHECK_THROWS_WITH(gather_into(table, index, Tensor<std::int64_t>{{7, 8}}, out),
                      "out.shape() is [2, 2], expected [1, 2, 2]");
    CHECK_THROWS_WITH(gather_into(table, index, {7, 8, 9}, table), "out shares memory with table");
    auto part = Tensor<float>::borrow(table.data() + 2, {1, 2});
    CHECK_THROWS_WITH(gather_into(table, index, {7}, part), "out shares memory with table");
    CHECK_THROWS_WITH(gather_into(Cpu{-1}, table, index, {7, 8}, out), "threads is -1, expected 0 (all) or more");
    CHECK_THROWS_AS(gather(Cpu{-1}, table, index, {7, 8}), ValueError);
    CHECK((out == Tensor<float>::full({2, 2}, 5)));
    CHECK((table == Tensor<float>::full({3, 2}, 1)));

    Ints const padded({.default_row = true});
    CHECK_THROWS_WITH(gather(Tensor<float>::from_shape({0, 2}), padded, {7}),
                      "table.shape(0) is 0, expected at least index.height() = 1");
}

}  // namespace test_gather_keys
