// tests/sparse/rowwise_adagrad.cpp: AdaGrad with one number of state per row.
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace test_rowwise_adagrad {

using reference::product;
using rowan::bfloat16, rowan::Cpu, rowan::RowPlan, rowan::rowwise_adagrad, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::AdaGradOptions options{.learning_rate = 0.05, .epsilon = 1e-3};

template <class G, class P, class M>
void slow_step(SelectedRows<G> const& g, Tensor<P>& param, Tensor<M>& moment, rowan::AdaGradOptions const& options) {
    using S = std::common_type_t<reference::sum_t<G>, reference::sum_t<P>, reference::sum_t<M>>;
    for (auto const& [row, sums] : reference::sums(g)) {
        if (sums.empty()) continue;
        auto const at = static_cast<std::size_t>(row);
        std::vector<S> sum(sums.begin(), sums.end()), kept, squares;
        for (std::size_t k = 0; k < sum.size(); ++k) {
            S const p = static_cast<S>(rowan::dtype<P>::widen(param.row(at)[k]));
            if (options.weight_decay != 0 && !options.decoupled) sum[k] += product(static_cast<S>(options.weight_decay), p);
            kept.push_back(options.decoupled ? product(static_cast<S>(1 - product(options.learning_rate, options.weight_decay)), p) : p);
        }
        for (auto const x : sum) squares.push_back(product(x, x));
        S const m = static_cast<S>(rowan::dtype<M>::widen(moment(at))) + reference::row_sum(squares) / static_cast<S>(sum.size());
        moment(at) = rowan::dtype<M>::narrow(static_cast<reference::sum_t<M>>(m));
        for (std::size_t k = 0; k < sum.size(); ++k) {
            S const scaled = product(static_cast<S>(options.learning_rate), sum[k]);
            S const moved = kept[k] - scaled / (std::sqrt(m) + static_cast<S>(options.epsilon));
            param.row(at)[k] = rowan::dtype<P>::narrow(static_cast<reference::sum_t<P>>(moved));
        }
    }
}

template <class G, class P, class M>
void check_bits(rowan::AdaGradOptions const& with = options) {
    inputs::for_sizes<G>([&](SelectedRows<G> const& g) {
        auto const param = inputs::wild<P>(g.shape(), 1);
        auto const moment = inputs::state<M>({g.shape()[0]}, 2);
        auto const after = [&](auto step) {
            auto pair = std::pair(param, moment);
            step(pair.first, pair.second);
            return pair;
        };
        auto const want = after([&](auto& p, auto& m) { slow_step(g, p, m, with); });
        auto const same = [&](auto step) {
            auto const got = after(step);
            return reference::same(got.first, want.first) && reference::same(got.second, want.second);
        };
        CHECK(same([&](auto& p, auto& m) { rowwise_adagrad(p, m, g, with); }));
        CHECK(same([&](auto& p, auto& m) { rowwise_adagrad(Cpu{.threads = 3}, p, m, g, with); }));
        CHECK(same([&](auto& p, auto& m) { rowwise_adagrad(RowPlan(g), p, m, g.value(), with); }));
        CHECK(same([&](auto& p, auto& m) { rowwise_adagrad(Cpu{.threads = 2}, RowPlan(g), p, m, g.value(), with); }));
    });
}

}  // namespace

TEST_CASE("the state of a row grows by the mean square of its summed gradient", "[rowwise_adagrad]") {
    auto param = Tensor<float>::full({3, 4}, 5);
    Tensor<float> moment{2, 2, 2};
    SelectedRows<float> const g(3, {1, 0, 1}, {{1, 2, 0, 0}, {4, 0, 0, 0}, {1, 2, 2, 4}});  // row 1: (2, 4, 2, 4)
    rowwise_adagrad(param, moment, g, {.learning_rate = 2, .epsilon = 1});
    CHECK((moment == Tensor<float>{6, 12, 2}));
    CHECK(std::abs(param(0, 0) - (5 - 8 / (std::sqrt(6.0) + 1))) < 1e-6);
    CHECK(std::abs(param(1, 1) - (5 - 8 / (std::sqrt(12.0) + 1))) < 1e-6);
    CHECK((param(0, 1) == 5 && param(2, 3) == 5));
}

TEST_CASE("the mean of squares of a row is right also where their sum overflows", "[rowwise_adagrad]") {
    auto const near = [](float a, double b) { return std::abs(a / b - 1) < 1e-6; };
    auto const grad = Tensor<float>::full({2, 20}, 1.5e19F);
    for (double const decay : {0.0, 0.5}) {
        auto param = Tensor<float>::zeros({2, 20});
        Tensor<float> moment{0, 1e38F};
        rowwise_adagrad(param, moment, grad, {.learning_rate = 2, .epsilon = 0, .weight_decay = decay});
        CHECK((near(moment(0), 2.25e38) && near(moment(1), 3.25e38)));
        CHECK((near(param(0, 3), -2) && near(param(1, 19), -3e19 / std::sqrt(3.25e38))));
    }
}

TEST_CASE("row-wise adagrad has the bits of its formula, with 16 partial sums along a row", "[rowwise_adagrad]") {
    check_bits<float, float, float>();
    check_bits<double, double, double>();
}

TEST_CASE("table, state and gradient of row-wise adagrad may differ in type", "[rowwise_adagrad][mixed]") {
    check_bits<float, bfloat16, float>();
    check_bits<bfloat16, float, double>();
    check_bits<rowan::float16, rowan::float16, rowan::float16>();
}

TEST_CASE("row-wise adagrad with a weight decay has the bits of its formula", "[rowwise_adagrad]") {
    for (bool const decoupled : {false, true}) {
        check_bits<float, float, float>({.learning_rate = 0.05, .epsilon = 1e-3, .weight_decay = 0.25, .decoupled = decoupled});
        check_bits<float, bfloat16, float>({.learning_rate = 0.05, .epsilon = 1e-3, .weight_decay = 0.25, .decoupled = decoupled});
    }
}

TEST_CASE("a weight decay has FBGEMM's values, before the mean of squares or decoupled", "[rowwise_adagrad][golden]") {
    // its formulas in double, with multiplier = lr / (sqrt(m) + eps): L2 has p = (1 - multiplier · weight_decay) · p - multiplier · g,
    // DECOUPLE p = (1 - lr · weight_decay) · p - multiplier · g; two steps
    for (bool const decoupled : {false, true}) {
        Tensor<double> p{{7, 7}, {1, -2}}, m{0, 0};
        for (int t = 0; t < 2; ++t)
            rowwise_adagrad(p, m, SelectedRows<double>(2, {1}, {{0.5, 1}}), {.learning_rate = 0.1, .epsilon = 1e-3, .weight_decay = 0.1, .decoupled = decoupled});
        CHECK(std::abs(p(1, 0) - (decoupled ? 0.8728846069791576 : 0.855755134357508)) < 1e-15);
        CHECK(std::abs(p(1, 1) - (decoupled ? -2.1746307860416847 : -2.1923264875233226)) < 1e-15);
        CHECK(std::abs(m(1) - (decoupled ? 1.25 : 0.9859775538880995)) < 1e-15);
        CHECK((p(0, 0) == 7 && m(0) == 0));
    }
}

TEST_CASE("with width 1 it equals adagrad", "[rowwise_adagrad]") {
    auto const g = inputs::gradient<float>(50, 300, {1}, 1);
    auto param = inputs::wild<float>({50, 1}, 1);
    auto moment = inputs::state<float>({50}, 2);
    auto want = param;
    auto want_moment = moment.reshaped({50, 1}) + 0;
    Tensor<float> m = want_moment;
    rowan::adagrad(want, m, g, options);
    rowwise_adagrad(param, moment, g, options);
    CHECK((reference::same(param, want) && reference::same(moment.reshaped({50, 1}), m)));
}

TEST_CASE("a gradient without rows, or rows without elements, do not change the state", "[rowwise_adagrad]") {
    Tensor<float> param{{1, 2}, {3, 4}};
    Tensor<float> moment{5, 6};
    rowwise_adagrad(param, moment, SelectedRows<float>(2, {}, Tensor<float>::from_shape({0, 2})));
    auto none = Tensor<float>::from_shape({2, 0});
    rowwise_adagrad(none, moment, SelectedRows<float>(2, {1}, Tensor<float>::from_shape({1, 0})));
    CHECK((param == Tensor<float>{{1, 2}, {3, 4}} && moment == Tensor<float>{5, 6}));
}

TEST_CASE("a sparse step equals the dense step, row by row", "[rowwise_adagrad][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<float>(6, 20);
        auto const after = [](auto const& grad) {
            auto param = inputs::wild<float>({6, 20}, 1);
            auto moment = inputs::state<float>({6}, 2);
            rowwise_adagrad(param, moment, grad, options);
            return std::pair(param, moment);
        };
        auto const sparse = after(g);
        auto const dense = after(rowan::to_dense(g));
        RC_ASSERT(sparse.first == dense.first && sparse.second == dense.second);
    }));
}

}  // namespace test_rowwise_adagrad
