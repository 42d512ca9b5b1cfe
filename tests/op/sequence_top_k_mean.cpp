// tests/op/sequence_top_k_mean.cpp
#include <rowan/op/sequence/sequence_top_k_mean.hpp>

#include "inputs.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace test_op_sequence_top_k_mean {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_top_k_mean, rowan::sequence_top_k_mean_grad, rowan::sequence_top_k_mean_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

namespace {

/// The reference: sorted columns.
LoDTensor<double> plain(LoDTensor<double> const& x, std::vector<std::int64_t> const& ks) {
    auto const offsets = x.lod()[x.lod().levels() - 1];
    std::size_t const width = x.value().row_size();
    auto out = Tensor<double>::from_shape({offsets.size() - 1, width * ks.size()});
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        for (std::size_t c = 0; c < width; ++c) {
            std::vector<double> column;
            for (auto r = static_cast<std::size_t>(offsets[s]); r < static_cast<std::size_t>(offsets[s + 1]); ++r) column.push_back(x.value().data()[r * width + c]);
            std::ranges::sort(column, std::greater{});
            for (std::size_t q = 0; q < ks.size(); ++q) {
                double sum = 0;
                for (std::size_t k = 0; k < column.size() && k < static_cast<std::size_t>(ks[q]); ++k) sum += column[k];
                out(s, c * ks.size() + q) = sum / static_cast<double>(ks[q]);
            }
        }
    }
    return {out, x.lod().slice_levels(0, x.lod().levels() - 1)};
}

}  // namespace

TEST_CASE("sequence_top_k_mean averages the greatest elements of columns", "[op][golden]") {
    LoDTensor<float> const x({{1, 4}, {3, 2}, {5, 0}, {-1, -6}}, Lod{{0, 2, 3}, {0, 3, 3, 4}});
    auto const out = sequence_top_k_mean(x, {.ks = {1, 2, 4}});
    CHECK((out == LoDTensor<float>({{5, 4, 2.25F, 4, 3, 1.5F}, {0, 0, 0, 0, 0, 0}, {-1, -0.5F, -0.25F, -6, -3, -1.5F}}, Lod{{0, 2, 3}})));
    CHECK(sequence_top_k_mean_op::infer(tensor_spec<float>({UNK, 2}, 2), {.ks = {1, 2, 4}}) == tensor_spec<float>({UNK, 6}, 1));
    CHECK(sequence_top_k_mean_op::infer(tensor_spec<float>({UNK, UNK}, 1), {.ks = {7}}) == tensor_spec<float>({UNK, UNK}));
    LoDTensor<float> const g({{1, 2, 4, 8, 16, 32}, {5, 5, 5, 5, 5, 5}, {1, 2, 4, 0, 0, 8}}, Lod{{0, 2, 3}});
    CHECK((sequence_top_k_mean_grad(x, g.value(), {.ks = {1, 2, 4}}) == LoDTensor<float>({{1, 24}, {2, 16}, {3, 8}, {3, 2}}, x.lod())));
    // equal elements: the first counts; NaN is the greatest
    float const nan = std::numeric_limits<float>::quiet_NaN();
    LoDTensor<float> const same({2, 2, 2}, Lod{{0, 3}}), with_nan({3, nan, 4}, Lod{{0, 3}});
    CHECK((sequence_top_k_mean_grad(same, {{1}}, {.ks = {1}}) == LoDTensor<float>({1, 0, 0}, Lod{{0, 3}})));
    CHECK(std::isnan(sequence_top_k_mean(with_nan, {.ks = {1}}).value()(0, 0)));
    CHECK((sequence_top_k_mean_grad(with_nan, {{4}}, {.ks = {2}}) == LoDTensor<float>({0, 2, 2}, Lod{{0, 3}})));
}

TEST_CASE("sequence_top_k_mean equals means of sorted columns, on any number of threads", "[op]") {
    for (auto const& lengths : {std::vector<std::int64_t>{}, {0}, {1}, {3, 0, 1, 2}, {63, 64, 65}, std::vector<std::int64_t>(40, 500)}) {
        auto const lod = Lod::from_lengths({lengths});
        for (std::size_t const width : {0u, 1u, 17u}) {
            auto const rows = static_cast<std::size_t>(lod.rows());
            LoDTensor<double> const x(test::values({rows, width}, rows), lod);
            for (auto const& ks : {std::vector<std::int64_t>{1}, {3, 1, 64}, {std::numeric_limits<std::int64_t>::max()}}) {
                auto const want = plain(x, ks);
                auto const grad = sequence_top_k_mean_grad(Cpu{1}, x, want.value(), {ks});
                for (int const threads : {1, 2, 8}) {
                    CHECK(sequence_top_k_mean(Cpu{threads}, x, {ks}) == want);
                    CHECK(sequence_top_k_mean_grad(Cpu{threads}, x, want.value(), {ks}) == grad);
                }
            }
        }
    }
}

TEST_CASE("sequence_top_k_mean of ascending columns takes the greatest elements, the first of equal ones", "[op]") {
    LoDTensor<double> x(Tensor<double>::from_shape({2001, 2}), Lod{{0, 1, 2001}});
    for (std::size_t i = 0; i < 2001; ++i) x.value()(i, 0) = static_cast<double>(i / 2), x.value()(i, 1) = static_cast<double>(i % 2);
    std::vector<std::int64_t> const ks{3, 64, 999, 2000};
    auto const want = plain(x, ks);
    CHECK(sequence_top_k_mean(x, {ks}) == want);
    auto const grad = sequence_top_k_mean_grad(x, Tensor<double>{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 999, 0, 0, 0, 999, 0}}, {ks});
    for (std::size_t i = 1; i < 2001; ++i) {
        CHECK(grad.value()(i, 0) == (i >= 1002 ? 1 : 0));
        CHECK(grad.value()(i, 1) == (i % 2 == 1 && i <= 1997 ? 1 : 0));
    }
}

TEST_CASE("sequence_top_k_mean of a long sequence and many empty ones takes memory for the elements that exist", "[op]") {
    std::vector<std::int64_t> lengths(2'000'000);
    lengths[7] = 100'000;
    LoDTensor<float> const x(Tensor<float>::full({100'000, 1}, 2), Lod::from_lengths({lengths}));
    auto const out = sequence_top_k_mean(x, {.ks = {100'000}});
    CHECK(out.value()(7, 0) == 2);
    CHECK(out.value()(8, 0) == 0);
}

TEST_CASE("the mean of the greatest elements fits also where their sum overflows", "[op]") {
    LoDTensor<float> const x({{3e38F}, {1}, {3e38F}, {-3e38F}}, Lod{{0, 4}});
    CHECK(sequence_top_k_mean(x, {.ks = {1, 2}}).value() == Tensor<float>{{3e38F, 3e38F}});
}

TEST_CASE("sequence_top_k_mean throws for inputs that do not match", "[op][bad]") {
    CHECK_THROWS_WITH(sequence_top_k_mean_op::infer(tensor_spec<float>({UNK, std::int64_t{1} << 62}, 1), {.ks = {1, 2}}),
                      "sequence_top_k_mean: x.row_size() is 4611686018427387904, expected at most 4611686018427387903");
    LoDTensor<float> const rows({{1, 2}, {3, 4}}, Lod{{0, 1, 2}});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { sequence_top_k_mean_grad(e, rows, Tensor<float>{{1, 2}, {3, 4}}, {.ks = {1, 2}}); }, rows) ==
          "out_grad.shape() is [2, 2], expected [2, 4]");
}

}  // namespace test_op_sequence_top_k_mean
