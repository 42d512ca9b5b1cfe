// tests/op/embedding_bags.cpp: many tables at once, compared with one after the other.
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/embedding_bags.hpp>
#include <rowan/op/table/update_bags.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>

#include "inputs.hpp"
#include "reference.hpp"

#include <rowan/op/table/join_bags.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/keyed_table.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace test_embedding_bags {

namespace {

using namespace rowan;

/// Numbers of both signs, whose sums are 0 at times.
template <class T>
Tensor<T> values(std::size_t n) {
    auto made = Tensor<T>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) made(i) = static_cast<T>(static_cast<float>(i * i % 5) / 2 - 1);
    return made;
}

/// Tables of several heights and widths, and bags of ids, of which some are -1.
struct Batch {
    std::vector<Tensor<float>> tables;
    LoDTensor<std::int64_t> ids;                      // all tables, one after the other
    Tensor<float> weight{};                           // of each id
    std::vector<LoDTensor<std::int64_t>> of_table{};  // without -1
    std::vector<Tensor<float>> weights_of{};          // of these

    Batch(std::size_t count, std::size_t examples, std::int64_t longest, bool pruned) {
        inputs::Random random(count + examples);
        std::vector<std::int64_t> all, all_lengths;
        for (std::size_t t = 0; t < count; ++t) {
            std::int64_t const height = 1 + random.below(50);
            tables.push_back(inputs::wild<float>({static_cast<std::size_t>(height), t == 2 ? 0 : 3 + 7 * t}, t));
            std::vector<std::int64_t> own, lengths;
            for (std::size_t b = 0; b < examples; ++b) {
                std::int64_t const n = random.below(longest + 1);
                std::size_t const before = own.size();
                for (std::int64_t i = 0; i < n; ++i) {
                    all.push_back(pruned && random.below(4) == 0 ? -1 : random.below(height));
                    if (all.back() >= 0) own.push_back(all.back());
                }
                lengths.push_back(static_cast<std::int64_t>(own.size() - before));
                all_lengths.push_back(n);
            }
            of_table.emplace_back(Tensor<std::int64_t>(own), Lod::from_lengths({lengths}));
        }
        ids = {Tensor<std::int64_t>(all), Lod::from_lengths({all_lengths})};
        weight = values<float>(all.size());
        std::size_t next = 0;
        for (auto const& own : of_table) {
            std::vector<float> kept;
            std::size_t const bags = own.lod().sequences(0), first = bags * weights_of.size();
            for (auto end = static_cast<std::size_t>(ids.lod()[0][first + bags]); next < end; ++next)
                if (all[next] >= 0) kept.push_back(weight(next));
            weights_of.emplace_back(Tensor<float>(kept));
        }
    }
};

/// Columns [first, first + width) of a matrix.
Tensor<float> columns(Tensor<float> const& x, std::size_t first, std::size_t width) {
    auto part = Tensor<float>::from_shape({x.shape(0), width});
    for (std::size_t i = 0; i < x.shape(0); ++i) std::copy_n(x.row(i).data() + first, width, part.row(i).data());
    return part;
}

/// A step with the gradient of one bag after the other.
void step(Batch const& batch, std::size_t t, bool weighted, Pooling pool, Tensor<float> const& grad, Tensor<float>& table, Tensor<float>& moment) {
    auto const rows = weighted ? std::get<0>(embedding_bag_grad(Cpu{}, table, batch.of_table[t], batch.weights_of[t], grad, {.pool = pool}))
                               : embedding_bag_grad(Cpu{}, table, batch.of_table[t], grad, {.pool = pool});
    rowwise_adagrad(table, moment, rows);
}

void check(Batch const& batch, Pooling pool, bool weighted = false) {
    CAPTURE(batch.tables.size(), pool, weighted);
    std::size_t width = 0;
    for (auto const& table : batch.tables) width += table.shape(1);
    std::size_t const examples = batch.of_table[0].lod()[0].size() - 1;
    auto const grad = inputs::wild<float>({examples, width}, 3);
    for (int const threads : {1, 2, 8}) {
        Cpu const exec{threads};
        auto tables = batch.tables, want = batch.tables;
        std::span<Tensor<float> const> const all(tables);
        auto const out = weighted ? embedding_bags(exec, all, batch.ids, batch.weight, pool) : embedding_bags(exec, all, batch.ids, pool);
        REQUIRE(out.shape() == grad.shape());
        std::vector<Tensor<float>> moments, wanted;
        for (auto const& table : tables) moments.push_back(Tensor<float>::zeros({table.shape(0)}));
        wanted = moments;
        auto const update = [&](Cpu inner, std::size_t t, RowPlan<> const& plan, Tensor<float> const& g) {
            rowwise_adagrad(inner, plan, tables[t], moments[t], g);
        };
        if (weighted)
            update_bags(exec, all, batch.ids, batch.weight, grad, update, pool);
        else
            update_bags(exec, all, batch.ids, grad, update, pool);
        std::size_t column = 0;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            std::size_t const n = tables[t].shape(1);
            auto const& ids = batch.of_table[t];
            auto const pooled = weighted ? embedding_bag(Cpu{}, batch.tables[t], ids, batch.weights_of[t], {.pool = pool})
                                         : embedding_bag(Cpu{}, batch.tables[t], ids, {.pool = pool});
            CHECK(reference::same(columns(out, column, n), pooled.value()));
            step(batch, t, weighted, pool, columns(grad, column, n), want[t], wanted[t]);
            CHECK(reference::same(tables[t], want[t]));
            CHECK(reference::same(moments[t], wanted[t]));
            column += n;
        }
    }
}

}  // namespace

TEST_CASE("many tables have the rows, and after a step the bits, of one table after the other", "[embedding_bags]") {
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        for (bool const pruned : {false, true}) {
            for (bool const weighted : {false, true}) {
                check(Batch(1, 5, 3, pruned), pool, weighted);
                check(Batch(7, 300, 4, pruned), pool, weighted);
            }
        }
    }
    check(Batch(3, 4000, 70, false), Pooling::sum);
    for (bool const weighted : {false, true}) {
        check(Batch(3, 0, 4, false), Pooling::sum, weighted);
        check(Batch(3, 0, 4, false), Pooling::max, weighted);
        check(Batch(2, 9, 0, false), Pooling::mean, weighted);
    }
}

TEST_CASE("bags of one id each are rows of the tables, whatever the pool", "[embedding_bags]") {
    for (std::size_t const examples : {std::size_t{1}, std::size_t{40}, std::size_t{35'000}}) {  // the last are written past the caches
        std::vector<Tensor<float>> const tables{inputs::wild<float>({1000, 16}, 1), inputs::wild<float>({50, 3}, 2), inputs::wild<float>({7, 45}, 3)};
        std::vector<LoDTensor<std::int32_t>> parts;
        Lod const one = Lod::from_lengths({std::vector<std::int64_t>(examples, 1)});
        for (auto const& table : tables) {
            auto numbers = Tensor<std::int32_t>::from_shape({examples});
            for (std::size_t i = 0; i < examples; ++i) numbers(i) = static_cast<std::int32_t>(i * 7919 % table.shape(0));
            parts.emplace_back(std::move(numbers), one);
        }
        for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
            for (int const threads : {1, 2}) {
                auto const out = embedding_bags(Cpu{threads}, std::span(tables), join_bags(parts), pool);
                std::size_t column = 0;
                for (std::size_t t = 0; t < tables.size(); column += tables[t++].shape(1))
                    CHECK(reference::same(columns(out, column, tables[t].shape(1)), gather(tables[t], parts[t].value())));
                CHECK(reference::same(embedding_bag(Cpu{threads}, tables[0], parts[0], {.pool = pool}).value(), gather(tables[0], parts[0].value())));
            }
        }
    }
}

TEST_CASE("ids of 32 bits, and bfloat16 tables", "[embedding_bags]") {
    std::vector<Tensor<bfloat16>> tables{inputs::wild<bfloat16>({4, 3}, 1), inputs::wild<bfloat16>({2, 5}, 2)};
    LoDTensor<std::int32_t> const ids({3, 0, -1, 1, 1}, Lod{{0, 2, 3, 4, 5}});
    auto const out = embedding_bags(std::span<Tensor<bfloat16> const>(tables), ids);
    CHECK(out.shape() == Tensor<float>::shape_type{2, 8});
    CHECK(static_cast<float>(out(1, 0)) == 0);
    CHECK(static_cast<float>(out(1, 3)) == static_cast<float>(tables[1](1, 0)));
    auto const halved = embedding_bags(std::span<Tensor<bfloat16> const>(tables), ids, Tensor<bfloat16>::full({5}, bfloat16(0.5F)), Pooling::max);
    CHECK(static_cast<float>(halved(1, 4)) == static_cast<float>(tables[1](1, 1)) / 2);
}

TEST_CASE("bags of keys become bags of rows, and an unknown key is no part of its bag", "[embedding_bags][keyed_table]") {
    KeyedTable<float> table({.width = 2});
    LoDTensor<std::int64_t> const keys({700, -5, 700, 9}, Lod{{0, 2, 2, 4}});
    auto const rows = table.find_or_insert(keys);
    CHECK(rows.lod() == keys.lod());
    CHECK((rows.value() == Tensor<std::int64_t>{0, 1, 0, 2}));
    CHECK(table.index().find(keys).value() == rows.value());
    KeyIndex<std::int64_t> index;
    CHECK(index.find_or_insert(keys).value() == rows.value());
    LoDTensor<std::int64_t> const some({-5, 8}, Lod{{0, 2}});
    auto const out = embedding_bags(std::span<Tensor<float> const>(&table.value(), 1), table.index().find(some));
    CHECK(std::ranges::equal(out.row(0), table.value().row(1)));
}

TEST_CASE("bags that do not fit the tables are refused before anything changes", "[embedding_bags][bad_input]") {
    std::vector<Tensor<float>> const tables{Tensor<float>::zeros({4, 3}), Tensor<float>::zeros({2, 5})};
    std::span<Tensor<float> const> const all = tables;
    LoDTensor<std::int64_t> const ids({3, 0, 1, 1}, Lod{{0, 2, 3, 4, 4}});
    bool called = false;
    auto const update = [&](Cpu, std::size_t, RowPlan<> const&, Tensor<float> const&) { called = true; };
    CHECK_THROWS_WITH(embedding_bags(all.first(0), ids), "tables.size() is 0, expected 1 or more");
    CHECK_THROWS_WITH(embedding_bags(all, LoDTensor<std::int64_t>({3, 0, 1}, Lod{{0, 1, 2, 3}})),
                      "ids is 3 bags, expected a multiple of the number of tables, 2");
    CHECK_THROWS_WITH(embedding_bags(all, LoDTensor<std::int64_t>({3, 2}, Lod{{0, 1, 2}})), "ids[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(embedding_bags(all, LoDTensor<std::int64_t>({-2, 1}, Lod{{0, 1, 2}})), "ids[0] = -2 is not in [0, 4)");
    std::vector<std::int64_t> many(400'000);
    many[300'000] = 2;
    LoDTensor<std::int64_t> const bad(Tensor<std::int64_t>(many), Lod{{0, 200'000, 400'000}});
    CHECK_THROWS_WITH(embedding_bags(Cpu{2}, all, bad), "ids[300000] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(embedding_bags(all, LoDTensor<std::int64_t>({3, 1}, Lod{{0, 2}, {0, 1, 2}})), "ids levels is 2, expected 1");
    CHECK_THROWS_AS(embedding_bags(all, ids, Pooling::last), ValueError);
    CHECK_THROWS_AS(update_bags(Cpu{}, all, ids, Tensor<float>::zeros({2, 8}), update, Pooling::last), ValueError);
    CHECK_THROWS_WITH(embedding_bags(all, ids, Tensor<float>::zeros({3})), "weight.shape() is [3], expected [4]");
    CHECK_THROWS_WITH(update_bags(Cpu{}, all, ids, Tensor<float>::zeros({4, 1}), Tensor<float>::zeros({2, 8}), update),
                      "weight.shape() is [4, 1], expected [4]");
    CHECK_THROWS_WITH(update_bags(Cpu{}, all, ids, Tensor<float>::zeros({2, 7}), update),
                      "out_grad.shape() is [2, 7], expected [2, 8]");
    CHECK(!called);
}

}  // namespace test_embedding_bags
