// tests/sparse/stochastic_rounding.cpp: tables of 16-bit floats whose new values are rounded at random.
#include <rowan/sparse/stochastic_rounding.hpp>

#include "inputs.hpp"
#include "reference.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace test_stochastic_rounding {

namespace {

using namespace rowan;
using reference::same;

/// All finite numbers of a type, ascending.
template <class P>
std::vector<double> numbers() {
    std::vector<double> all;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        auto const x = static_cast<double>(static_cast<float>(P::from_bits(static_cast<std::uint16_t>(bits))));
        if (std::isfinite(x) && bits != 0x8000) all.push_back(x);
    }
    std::ranges::sort(all);
    return all;
}

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// The rounding as documented, by the neighbours of x among the numbers of the type.
template <class P>
double slow(float x, std::uint64_t seed, std::int64_t step, std::uint64_t e) {
    static auto const all = numbers<P>();
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U, per = std::is_same_v<P, bfloat16> ? 4 : 2, bits = 64 / per;
    std::uint64_t const sequence = mix(mix(seed) + (static_cast<std::uint64_t>(step) + 1) * golden);
    std::uint64_t const word = mix(sequence + (e / per + 1) * golden) >> bits * (e % per);
    double const random = static_cast<double>(per == 4 ? word & 0xFFFF : word & 0xFFFFFFFF);
    double const size = std::abs(static_cast<double>(x));
    if (!std::isfinite(x)) return static_cast<double>(x);
    auto const above = std::ranges::lower_bound(all, size);
    if (above == all.end()) return std::copysign(all.back(), x);
    if (*above == size) return static_cast<double>(x);
    double const part = (size - above[-1]) / (*above - above[-1]);
    double const all_bits = std::ldexp(1, static_cast<int>(bits));
    bool const away = std::floor(part * all_bits) + random >= all_bits;
    return std::copysign(away ? *above : above[-1], x);
}

std::vector<float> inputs_around_numbers() {
    std::vector<float> all{0,          -0.0F,     65504,        65519,        65520,      1e6F,
                           3.3895e38F, 3.4e38F,   INFINITY,     -INFINITY,    NAN,        0x1p-24F,
                           0x1p-25F,   0x1p-149F, 0x1.004p-14F, 0x1.fffp-15F, -0x1.8p-30F};
    inputs::Random random(3);
    for (int i = 0; i < 3000; ++i)
        all.push_back(static_cast<float>(std::ldexp(1 + random.uniform(), static_cast<int>(random.below(60)) - 40)) *
                      (i % 2 == 0 ? 1.0F : -1.0F));
    for (int i = 0; i < 300; ++i)
        all.push_back(static_cast<float>(std::ldexp(random.uniform(), static_cast<int>(random.below(276)) - 148)));
    return all;
}

template <class P>
Tensor<P> table(std::size_t height, std::size_t width) {
    return inputs::wild<P>({height, width}, 9);
}

}  // namespace

TEMPLATE_TEST_CASE("stochastic rounding gives the documented bits, and keeps what needs no rounding",
                   "[sparse][stochastic_rounding]", bfloat16, float16) {
    auto const all = inputs_around_numbers();
    StochasticRounding const rounding{.seed = 5, .step = 77};
    std::vector<TestType> together(all.size());
    rounding.narrow<TestType>(all, 1, together.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const got = rounding.narrow<TestType>(all[i], i + 1);
        CAPTURE(all[i], i);
        REQUIRE(got.bits() == together[i].bits());
        if (std::isnan(all[i])) {
            REQUIRE(std::isnan(static_cast<float>(got)));
        } else {
            double const want = slow<TestType>(all[i], 5, 77, i + 1);
            REQUIRE(static_cast<double>(static_cast<float>(got)) == want);
            REQUIRE(std::signbit(static_cast<float>(got)) == std::signbit(all[i]));
        }
    }
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        auto const x = TestType::from_bits(static_cast<std::uint16_t>(bits));
        auto const got = rounding.narrow<TestType>(static_cast<float>(x), bits * 7);
        REQUIRE((got.bits() == x.bits() || (std::isnan(static_cast<float>(x)) && std::isnan(static_cast<float>(got)))));
    }
}

TEMPLATE_TEST_CASE("stochastic rounding has the expected value, over elements, steps and seeds",
                   "[sparse][stochastic_rounding]", bfloat16, float16) {
    for (float const x : {1.001F, -3.3F, 0.7F, 6.1e-5F, 2.1e-6F, 1.3e-8F}) {
        TestType const near(x), next = TestType::from_bits(static_cast<std::uint16_t>(near.bits() + 1));
        double const unit =
            std::abs(static_cast<double>(static_cast<float>(next)) - static_cast<double>(static_cast<float>(near)));
        for (int what = 0; what < 3; ++what) {
            CAPTURE(x, what);
            int constexpr n = 40'000;
            double sum = 0;
            for (int i = 0; i < n; ++i) {
                StochasticRounding const rounding{.seed = what == 1 ? static_cast<std::uint64_t>(i) : 1,
                                                  .step = what == 2 ? i : 1};
                sum += static_cast<double>(static_cast<float>(
                           rounding.narrow<TestType>(x, what == 0 ? static_cast<std::uint64_t>(i) : 6))) -
                       static_cast<double>(x);
            }
            CHECK(std::abs(sum / n) <
                  5 * 0.5 * unit / std::sqrt(n));  // 5 standard deviations, which are at most half a unit
        }
    }
}

TEMPLATE_TEST_CASE("optimizers with stochastic rounding compute as with floats, for any number of threads",
                   "[sparse][stochastic_rounding]", bfloat16, float16) {
    std::size_t const height = 50;
    StochasticRounding const rounding{.seed = 8, .step = 3};
    for (std::size_t const width : std::vector<std::size_t>{1, 3, 64, 300, 6001}) {
        CAPTURE(width);
        inputs::Random random(width);
        std::vector<std::int64_t> rows(90);
        for (auto& row : rows) row = random.below(40);
        SelectedRows<float> const grad(static_cast<std::int64_t>(height), rows,
                                       inputs::wild<float>({rows.size(), width}, 4));
        auto const check = [&](bool by_rows, auto const& rounded, auto const& plain) {
            auto const start = table<TestType>(height, width);
            auto wide = Tensor<float>::from_shape({height, width});
            for (std::size_t i = 0; i < wide.size(); ++i) wide.data()[i] = static_cast<float>(start.data()[i]);
            auto const like = by_rows ? Tensor<float>::zeros({height}) : Tensor<float>::zeros({height, width});
            auto wide_state = like;
            plain(wide, wide_state);
            auto want = start;
            for (std::size_t e = 0; e < wide.size(); ++e) {
                if (std::ranges::find(rows, static_cast<std::int64_t>(e / width)) != rows.end())
                    want.data()[e] = rounding.narrow<TestType>(wide.data()[e], e);
            }
            for (int const threads : {1, 2, 8}) {
                CAPTURE(threads);
                auto got = start;
                auto state = like;
                rounded(Cpu{threads}, got, state);
                CHECK((same(got, want) && same(state, wide_state)));
            }
        };
        auto const rule = [](auto g, std::span<float> row, auto sum) {
            for (std::size_t i = 0; i < row.size(); ++i) row[i] -= 0.1F * (sum[0] += g[i]);
        };
        check(
            false, [&](Cpu exec, auto& p, auto& m) { adagrad(exec, p, m, grad, rounding, {.learning_rate = 0.1}); },
            [&](auto& p, auto& m) { adagrad(p, m, grad, {.learning_rate = 0.1}); });
        check(
            true, [&](Cpu exec, auto& p, auto& m) { rowwise_adagrad(exec, p, m, grad, rounding); },
            [&](auto& p, auto& m) { rowwise_adagrad(p, m, grad); });
        check(
            true, [&](Cpu exec, auto& p, auto&) { sgd(exec, p, grad, 0.3, rounding); },
            [&](auto& p, auto&) { sgd(RowPlan(grad), p, grad.value(), 0.3); });
        check(
            true,
            [&](Cpu exec, auto& p, auto& m) { update_rows(exec, RowPlan(grad), grad.value(), rounding, rule, p, m); },
            [&](auto& p, auto& m) { update_rows(grad, rule, p, m); });
    }
}

TEST_CASE("dense gradients are rounded at random, too, and errors change nothing", "[sparse][stochastic_rounding]") {
    auto const start = table<bfloat16>(30, 100);
    auto const grad = inputs::wild<float>({30, 100}, 7);
    auto wide = Tensor<float>::from_shape({30, 100});
    for (std::size_t i = 0; i < wide.size(); ++i) wide.data()[i] = static_cast<float>(start.data()[i]);
    auto m = Tensor<float>::zeros({30, 100}), v = m, wide_m = m, wide_v = m;
    adam(wide, wide_m, wide_v, grad);
    auto got = start;
    StochasticRounding const rounding{.seed = 1, .step = 2};
    adam(got, m, v, grad, rounding);
    for (std::size_t e = 0; e < got.size(); ++e)
        REQUIRE(got.data()[e].bits() == rounding.narrow<bfloat16>(wide.data()[e], e).bits());
    CHECK((same(m, wide_m) && same(v, wide_v)));
    got = start;
    auto state = Tensor<float>::zeros({29});
    CHECK_THROWS_AS(rowwise_adagrad(got, state, grad, rounding), ShapeError);
    CHECK_THROWS_AS(sgd(got, grad, NAN, rounding), ValueError);
    CHECK_THROWS_AS(sgd(Cpu{-1}, got, grad, 1, rounding), ValueError);
    CHECK(same(got, start));
}

TEST_CASE("updates of less than half a unit of the last place are lost by rounding to nearest only",
          "[sparse][stochastic_rounding]") {
    // Each element is to become 2, from 1, by steps of 0.001: a unit of the last place is 0.0078.
    auto nearest = Tensor<bfloat16>::full({4, 64}, bfloat16(1.0F)), random = nearest;
    SelectedRows<float> const grad(4, {0, 1, 2, 3}, Tensor<float>::full({4, 64}, -0.001F));
    for (std::int64_t step = 0; step < 1000; ++step) {
        sgd(nearest, grad, 1);
        sgd(random, grad, 1, StochasticRounding{.seed = 7, .step = step});
    }
    double sum = 0;
    for (bfloat16 const x : random) {
        sum += static_cast<double>(static_cast<float>(x));
        CHECK(std::abs(static_cast<float>(x) - 2) < 0.5F);
    }
    CHECK(std::abs(sum / 256 - 2) < 0.03);
    CHECK(std::ranges::all_of(nearest, [](bfloat16 x) { return static_cast<float>(x) == 1; }));
}

}  // namespace test_stochastic_rounding
