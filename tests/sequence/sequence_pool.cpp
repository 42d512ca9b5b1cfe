// tests/sequence/sequence_pool.cpp: one row for each sequence, and the gradient back.
#include <rowan/sequence/sequence_pool.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>
#include <cmath>
#include <limits>

namespace test_sequence_pool {

using namespace ragged;
using rowan::bfloat16, rowan::Pooling, rowan::sequence_pool, rowan::sequence_pool_grad, rowan::ShapeError, rowan::ValueError;

namespace {

std::vector<Pooling> const all{Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max, Pooling::min, Pooling::first, Pooling::last};

template <class S>
S divided(S x, Pooling pool, std::size_t n) {
    if (pool != Pooling::mean && pool != Pooling::sqrt) return x;
    if constexpr (std::integral<S>) {
        if (n == 1) return x;
        return pool == Pooling::mean ? x / static_cast<S>(n) : static_cast<S>(static_cast<double>(x) / std::sqrt(static_cast<double>(n)));
    } else {
        double const count = static_cast<double>(n);
        return x / static_cast<S>(pool == Pooling::mean ? count : std::sqrt(count));
    }
}

template <class T>
LoDTensor<T> plain_pool(LoDTensor<T> const& x, Pooling pool, double pad) {
    using S = typename dtype<T>::sum;
    Lod const& lod = x.lod();
    auto out = rows_like(x.value(), static_cast<std::int64_t>(lod.sequences(lod.levels() - 1)));
    each_sequence(lod, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        for (std::size_t k = 0; k < out.row_size(); ++k) {
            std::vector<S> column;
            for (std::int64_t i = begin; i < end; ++i) column.push_back(at(x.value(), i, k));
            if (column.empty()) {
                put(out, s, k, static_cast<S>(pad));
                continue;
            }
            S result = column[0];
            if (pool == Pooling::last) result = column.back();
            if (pool == Pooling::sum || pool == Pooling::mean || pool == Pooling::sqrt) result = reference::block_sum(column);
            for (S const& y : column) {
                if ((pool == Pooling::max && y > result) || (pool == Pooling::min && y < result)) result = y;
            }
            put(out, s, k, divided(result, pool, column.size()));
        }
    });
    return {out, lod.slice_levels(0, lod.levels() - 1)};
}

template <class T>
LoDTensor<T> plain_grad(LoDTensor<T> const& x, Tensor<T> const& out_grad, Pooling pool) {
    using S = typename dtype<T>::sum;
    auto grad = Tensor<T>::zeros(x.shape());
    each_sequence(x.lod(), [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        for (std::size_t k = 0; k < x.value().row_size() && begin != end; ++k) {
            S const g = at(out_grad, s, k);
            std::int64_t row = pool == Pooling::last ? end - 1 : begin;
            for (std::int64_t i = begin; i < end; ++i) {
                S const y = at(x.value(), i, k);
                S const best = at(x.value(), row, k);
                if ((pool == Pooling::max && y > best) || (pool == Pooling::min && y < best)) row = i;
                if (pool == Pooling::sum || pool == Pooling::mean || pool == Pooling::sqrt)
                    put(grad, i, k, divided(g, pool, static_cast<std::size_t>(end - begin)));
            }
            if (pool != Pooling::sum && pool != Pooling::mean && pool != Pooling::sqrt) put(grad, row, k, g);
        }
    });
    return {grad, x.lod()};
}

LoDTensor<float> const sample({{1, -2}, {3, 4}, {5, 6}, {-7, 8}, {2, -1}, {4, 7}}, Lod{{0, 2, 2, 6}});

}  // namespace

TEST_CASE("every pool of a batch with an empty sequence", "[sequence_pool][golden]") {
    auto const pooled = [](Pooling pool, double pad = 0) { return sequence_pool(sample, pool, pad).value(); };
    CHECK((pooled(Pooling::sum) == Tensor<float>{{4, 2}, {0, 0}, {4, 20}}));
    CHECK((pooled(Pooling::mean, -1) == Tensor<float>{{2, 1}, {-1, -1}, {1, 5}}));
    CHECK((pooled(Pooling::max, 9) == Tensor<float>{{3, 4}, {9, 9}, {5, 8}}));
    CHECK((pooled(Pooling::min, 0.5) == Tensor<float>{{1, -2}, {0.5, 0.5}, {-7, -1}}));
    CHECK((pooled(Pooling::first) == Tensor<float>{{1, -2}, {0, 0}, {5, 6}}));
    CHECK((pooled(Pooling::last) == Tensor<float>{{3, 4}, {0, 0}, {4, 7}}));
    CHECK((sequence_pool(LoDTensor<float>({3, 4, 5, 6, 7}, Lod{{0, 4, 5}}), Pooling::sqrt).value() == Tensor<float>{9, 7}));
    CHECK(sequence_pool(sample, Pooling::sum).lod().empty());
}

TEST_CASE("the last level is removed, those above are kept", "[sequence_pool][golden]") {
    LoDTensor<float> const x({1, 2, 3, 4, 5}, Lod{{0, 1, 1, 4}, {0, 2, 2, 4, 5}});
    auto const sums = sequence_pool(x, Pooling::sum);
    CHECK((sums.value() == Tensor<float>{3, 0, 7, 5}));
    CHECK((sums.lod() == Lod{{0, 1, 1, 4}}));
    CHECK((sequence_pool(sums, Pooling::sum).value() == Tensor<float>{3, 0, 12}));
}

TEST_CASE("the gradient of every pool", "[sequence_pool][golden]") {
    Tensor<float> const g{{8, 4}, {1, 1}, {-8, 16}};
    auto const grad = [&](Pooling pool) { return sequence_pool_grad(sample, g, pool).value(); };
    CHECK((grad(Pooling::sum) == Tensor<float>{{8, 4}, {8, 4}, {-8, 16}, {-8, 16}, {-8, 16}, {-8, 16}}));
    CHECK((grad(Pooling::mean) == Tensor<float>{{4, 2}, {4, 2}, {-2, 4}, {-2, 4}, {-2, 4}, {-2, 4}}));
    CHECK((grad(Pooling::sqrt).slice(2, 6) == Tensor<float>{{-4, 8}, {-4, 8}, {-4, 8}, {-4, 8}}));
    CHECK((grad(Pooling::max) == Tensor<float>{{0, 0}, {8, 4}, {-8, 0}, {0, 16}, {0, 0}, {0, 0}}));
    CHECK((grad(Pooling::min) == Tensor<float>{{8, 4}, {0, 0}, {0, 0}, {-8, 0}, {0, 16}, {0, 0}}));
    CHECK((grad(Pooling::first) == Tensor<float>{{8, 4}, {0, 0}, {-8, 16}, {0, 0}, {0, 0}, {0, 0}}));
    CHECK((grad(Pooling::last) == Tensor<float>{{0, 0}, {8, 4}, {0, 0}, {0, 0}, {0, 0}, {-8, 16}}));
    CHECK(sequence_pool_grad(sample, sequence_pool(sample, Pooling::sum), Pooling::sum).lod() == sample.lod());
}

TEST_CASE("of equal rows the first has the extremum, of rows with a NaN the first NaN", "[sequence_pool]") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    for (Pooling const pool : {Pooling::max, Pooling::min}) {
        for (std::size_t width : std::vector<std::size_t>{1, 20}) {
            auto value = Tensor<float>::full({7, width}, 2);
            for (std::size_t k = 0; k < width; ++k) value(4, k) = nan, value(6, k) = nan;
            LoDTensor<float> const x(value, Lod{{0, 3, 7}});
            auto const pooled = sequence_pool(x, pool).value();
            auto const grad = sequence_pool_grad(x, Tensor<float>::full({2, width}, 5), pool).value();
            for (std::size_t k = 0; k < width; ++k) {
                CHECK(pooled(0, k) == 2);
                CHECK(std::isnan(pooled(1, k)));
                for (std::size_t i = 0; i < 7; ++i) CHECK(grad(i, k) == (i == 0 || i == 4 ? 5 : 0));
            }
        }
    }
    test::dual const first(1, 2);
    LoDTensor<test::dual> const d(Tensor<test::dual>{first, test::dual(1, 3), test::dual(7, 5), test::dual(nan, 4)}, Lod{{0, 2, 4}});
    CHECK(sequence_pool(d, Pooling::max).value()(0) == first);
    CHECK(sequence_pool(d, Pooling::max).value()(1).d == 4);
}

TEST_CASE("sums have blocks of 64; means are divided before narrowing, integers truncate", "[sequence_pool]") {
    auto value = Tensor<float>::full({128, 1}, 1);
    value(0, 0) = 0x1p24F;
    CHECK(sequence_pool(LoDTensor<float>(value, Lod{{0, 128}}), Pooling::sum).value()(0, 0) == 0x1p24F + 64);
    CHECK(sequence_pool(LoDTensor<std::uint8_t>({200, 100}, Lod{{0, 2}}), Pooling::mean).value()(0) == 150);
    LoDTensor<std::int32_t> const x({-3, -4, 9, 9}, Lod{{0, 2, 4}});
    CHECK((sequence_pool(x, Pooling::mean).value() == Tensor<std::int32_t>{-3, 9}));
    CHECK((sequence_pool(x, Pooling::sqrt).value() == Tensor<std::int32_t>{-4, 12}));
    LoDTensor<bool> const b({true, true, true, false}, Lod{{0, 2, 4, 4}});
    CHECK((sequence_pool(b, Pooling::sum, 1).value() == Tensor<bool>{true, true, true}));
    CHECK((sequence_pool(b, Pooling::mean).value() == Tensor<bool>{true, false, false}));
}

TEMPLATE_TEST_CASE("sequence_pool: every element type has the bits of the plain loops", "[sequence_pool]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16, test::fixed,
                   test::dual) {
    for_batches<TestType>([](auto const& x) {
        for (Pooling const pool : all) {
            CAPTURE(static_cast<int>(pool));
            double const pad = std::same_as<TestType, bool> || std::same_as<TestType, std::uint8_t> ? 1 : -3;
            CHECK(same(sequence_pool(x, pool, pad), plain_pool(x, pool, pad)));
            auto const g = sequence_pool(x, Pooling::first);
            CHECK(same(sequence_pool_grad(x, g, pool), plain_grad(x, g.value(), pool)));
        }
    });
}

TEST_CASE("sequence_pool: any number of threads has the same bits", "[sequence_pool]") {
    for (auto const& x : large_batches()) {
        for (Pooling const pool : all) {
            CAPTURE(x.lod().rows(), static_cast<int>(pool));
            check_threads(plain_pool(x, pool, 7), [&](Cpu exec) { return sequence_pool(exec, x, pool, 7); });
            auto const g = sequence_pool(x, Pooling::last);
            check_threads(plain_grad(x, g.value(), pool), [&](Cpu exec) { return sequence_pool_grad(exec, x, g, pool); });
        }
    }
}

TEST_CASE("sums of short and long sequences in turn, of more rows than are numbered at once", "[sequence_pool]") {
    List lengths;
    for (std::int64_t i = 0; i < 9'000; ++i) lengths.push_back(i == 3'000 ? 6'000 : i == 3'001 ? 70 : i % 7 == 0 ? 0 : i % 5);
    lengths.push_back(4'096);
    auto const x = wild_batch<float>(Lod::from_lengths({lengths}), {3}, 1);
    for (Pooling const pool : {Pooling::sum, Pooling::mean})
        check_threads(plain_pool(x, pool, 0), [&](Cpu exec) { return sequence_pool(exec, x, pool); });
    for (std::int64_t const length : {4'031, 4'032, 4'033, 4'095, 4'096, 4'097, 4'160, 8'192}) {
        auto const y = wild_batch<float>(Lod::from_lengths({{1, length, 2, length, 1, 0, length - 1}}), {2}, 2);
        CHECK(same(sequence_pool(Cpu{1}, y, Pooling::sum), plain_pool(y, Pooling::sum, 0)));
    }
}

TEST_CASE("sequence_pool throws for invalid arguments", "[sequence_pool][bad]") {
    using batches::refusal;
    LoDTensor<std::int32_t> const ids({1, 2}, Lod{{0, 2}});
    LoDTensor<float> const rows{Tensor<float>{1, 2}};
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_pool_grad(e, rows, rows, Pooling::sum); }, rows) ==
          "x.lod().levels() is 0, expected at least 1");
    LoDTensor<float> longer({1}, Lod{{0, 1}});
    longer.value() = Tensor<float>{1, 2};
    CHECK(refusal<rowan::LodError>([&](Cpu e) { sequence_pool(e, longer, Pooling::sum); }, longer) ==
          "lod[0][1] = 1 is not 2, the number of rows");
    CHECK(refusal<ValueError>([&](Cpu e) { sequence_pool(e, ids, Pooling::sum, 0.5); }, ids) ==
          "pad_value is 0.5, expected a whole number that the element type holds");
    CHECK(refusal<ValueError>([&](Cpu e) { sequence_pool(e, ids, Pooling::sum, 0x1p31); }, ids) ==
          "pad_value is 2147483648, expected a whole number that the element type holds");
    CHECK_NOTHROW(sequence_pool(ids, Pooling::sum, -0x1p31));
    CHECK(refusal<ValueError>([&](Cpu e) { sequence_pool(e, ids, static_cast<Pooling>(7)); }, ids) ==
          "pool is 7, expected one of sum, mean, sqrt, max, min, first, last");
    CHECK(refusal<ShapeError>([&](Cpu e) { sequence_pool_grad(e, sample, Tensor<float>::zeros({3, 1}), Pooling::max); }, sample) ==
          "out_grad.shape() is [3, 1], expected [3, 2]");
    CHECK_THROWS_AS(sequence_pool(Cpu{-1}, LoDTensor<float>(Tensor<float>::from_shape({0, 0}), Lod{{0}}), Pooling::sum), ValueError);
}

TEST_CASE("the mean of a sequence fits also where its sum overflows", "[sequence_pool]") {
    auto rows = Tensor<float>::full({150, 11}, 3e38F);
    for (std::size_t i = 0; i < 150; ++i) rows(i, 3) = static_cast<float>(i);
    LoDTensor<float> const x(rows.share(), Lod{{0, 100, 100, 101, 150}});
    auto const mean = sequence_pool(x, Pooling::mean, 7).value();
    CHECK((std::abs(mean(0, 0) / 3e38F - 1) < 1e-5F && mean(0, 3) == 49.5F && mean(1, 0) == 7 && mean(2, 10) == 3e38F && mean(3, 3) == 125));
    CHECK(sequence_pool(x, Pooling::sqrt).value()(0, 0) == std::numeric_limits<float>::infinity());
    auto const root = sequence_pool(LoDTensor<float>(Tensor<float>{{2e38F, 1}, {2e38F, 2}, {-1e38F, 0}}, Lod{{0, 3}}), Pooling::sqrt).value();
    CHECK(std::abs(root(0, 0) / 1.7320508e38F - 1) < 1e-6F);
    CHECK(std::isnan(sequence_pool(LoDTensor<float>(Tensor<float>{{INFINITY}, {-INFINITY}}, Lod{{0, 2}}), Pooling::mean).value()(0, 0)));
}

}  // namespace test_sequence_pool
