// tests/op/weighted_embedding_bag.cpp
#include <rowan/op/table/weighted_embedding_bag.hpp>

#include <rowan/sparse/quantize_rows.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace test_weighted_embedding_bag {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::Tensor, rowan::weighted_embedding_bag_op;
using rowan::tensor_spec, rowan::UNK;

namespace {

LoDTensor<std::int64_t> const bags({3, 1, 3, 0, 2, 2}, Lod{{0, 3, 3, 4, 6}});  // [3 1 3] [] [0] [2 2]
Tensor<float> const table{{1, 10}, {2, 20}, {3, 30}, {4, 40}};

}  // namespace

static_assert(weighted_embedding_bag_op::infer(tensor_spec<float>({9, 4}), tensor_spec<std::int32_t>({UNK}, 1), tensor_spec<float>({UNK})) ==
              tensor_spec<float>({UNK, 4}));

TEST_CASE("weights of a bag count as in embedding_lookup_sparse", "[op]") {
    Tensor<float> const weight{1, 2, 3, 5, 1, -1};
    auto const pooled = [&](Pooling pool) { return rowan::embedding_bag(Cpu{}, table, bags, weight, {pool}).value(); };
    CHECK((pooled(Pooling::sum) == Tensor<float>{{20, 200}, {0, 0}, {5, 50}, {0, 0}}));
    CHECK((pooled(Pooling::mean) == Tensor<float>{{20.f / 6, 200.f / 6}, {0, 0}, {1, 10}, {0, 0}}));  // the last divides by 0
    CHECK((pooled(Pooling::max) == Tensor<float>{{12, 120}, {0, 0}, {5, 50}, {3, 30}}));
}

TEST_CASE("the gradient of a weight of 16 bits is rounded once, after all columns", "[op]") {
    using rowan::bfloat16;
    auto const ones = Tensor<bfloat16>::full({1, 1000}, bfloat16(1.0F));
    LoDTensor<std::int64_t> const id(Tensor<std::int64_t>{0}, Lod{{0, 1}});
    for (Pooling const pool : {Pooling::sum, Pooling::max})
        CHECK(std::get<1>(rowan::embedding_bag_grad(Cpu{}, ones, id, Tensor<bfloat16>{bfloat16(1.0F)}, ones, {pool})) == Tensor<bfloat16>{bfloat16(1000.0F)});
}

TEMPLATE_TEST_CASE("a mean or a sum over the root does not depend on how large or small all weights are", "[op]", float, double, rowan::bfloat16) {
    using T = TestType;
    bool const wide = std::is_same_v<T, double>;
    auto const number = [](double x) { return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x)); };
    auto const rows = [&] {
        auto x = Tensor<T>::from_shape({4, 19});
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = number(static_cast<double>(i * 7 % 31) - 12);
        return x;
    }();
    Tensor<T> const out_grad = Tensor<T>::full({4, 19}, number(0.5));
    auto const weights = [&](double scale) { return Tensor<T>{number(1 * scale), number(2 * scale), number(3 * scale), number(5 * scale), number(1 * scale), number(0.5 * scale)}; };
    auto const near = [](auto const& got, auto const& want, double scale = 1) {
        for (std::size_t i = 0; i < want.size(); ++i) {
            double const a = static_cast<double>(got.data()[i]) * scale, b = static_cast<double>(want.data()[i]);
            if (!(std::abs(a - b) <= 0.01 * std::abs(b) + 1e-5)) return false;
        }
        return true;
    };
    for (Pooling const pool : {Pooling::mean, Pooling::sqrt}) {
        auto const pooled = [&](double scale, Cpu exec = {}) { return rowan::embedding_bag(exec, rows, bags, weights(scale), {pool}).value(); };
        auto const grads = [&](double scale) { return rowan::embedding_bag_grad(Cpu{}, rows, bags, weights(scale), out_grad, {pool}); };
        for (int const power : {-120, -80, -63, 63, 80, 120}) {
            double const scale = std::ldexp(1.0, wide ? power * 8 : power);
            CAPTURE(power);
            CHECK(near(pooled(scale), pooled(1)));
            CHECK(near(std::get<0>(grads(scale)).value(), std::get<0>(grads(1)).value()));
            CHECK(near(std::get<1>(grads(scale)), std::get<1>(grads(1)), scale));
        }
    }
    Tensor<float> const two{{1, 2}, {3, 4}};
    LoDTensor<std::int64_t> const both({0, 1}, Lod{{0, 2}});
    for (float const w : {1e25F, 1e-30F, 3e38F, 1e-44F}) {
        auto const pooled = rowan::embedding_bag(Cpu{}, two, both, Tensor<float>{w, w}, {Pooling::sqrt}).value();
        CHECK((std::abs(pooled(0, 0) - 2.828427F) < 1e-6F && std::abs(pooled(0, 1) - 4.242641F) < 1e-6F));
    }
    CHECK(rowan::embedding_bag(Cpu{}, two, both, Tensor<float>{0, 0}, {Pooling::sqrt}).value() == Tensor<float>{{0, 0}});
}

TEST_CASE("the mean of rows whose sum overflows fits, also of rows of few bits", "[op]") {
    Tensor<float> const large{{3e38F, 3e38F, 1, -3e38F}, {3e38F, -3e38F, 2, -2e38F}, {3e38F, 3e38F, 3, -1e38F}};
    LoDTensor<std::int64_t> const all({0, 1, 2}, Lod{{0, 3}});
    auto const mean = rowan::embedding_bag(Cpu{}, large, all, {Pooling::mean}).value();
    auto const near = [](float a, float b) { return std::abs(a / b - 1) < 1e-6F; };
    CHECK((near(mean(0, 0), 3e38F) && near(mean(0, 1), 1e38F) && mean(0, 2) == 2 && near(mean(0, 3), -2e38F)));
    CHECK(rowan::embedding_bag(Cpu{}, large, all, {Pooling::sum}).value()(0, 0) == INFINITY);
    CHECK(rowan::embedding_bag(Cpu{}, Tensor<float>{{1}, {INFINITY}, {2}}, all, {Pooling::mean}).value()(0, 0) == INFINITY);
    auto const weight = Tensor<float>{1e25F, 1e25F, 2e25F};
    for (rowan::RowFormat const format : {rowan::RowFormat::int8, rowan::RowFormat::int4}) {
        auto const store = rowan::quantize_rows(Tensor<float>{{1, 2, 5}, {2, 3, 4}, {7, 7, 8}}, format);
        for (Pooling const pool : {Pooling::mean, Pooling::sqrt})
            CHECK(rowan::embedding_bag(Cpu{}, store, all, weight, {.pool = pool}).value() == rowan::embedding_bag(Cpu{}, rowan::dequantize_rows(store), all, weight, {.pool = pool}).value());
    }
}

}  // namespace test_weighted_embedding_bag
