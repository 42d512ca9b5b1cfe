// tests/sparse/rowwise_rmsprop.cpp: row-wise RMSProp, whose rows decay by their age.
#include <rowan/sparse/rowwise_rmsprop.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

namespace test_rowwise_rmsprop {

using reference::product;
using rowan::bfloat16, rowan::Cpu, rowan::RowPlan, rowan::rowwise_rmsprop, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::RowwiseRmsPropOptions options{.learning_rate = 0.125, .rho = 0.75, .epsilon = 1e-3, .decay = 0.5, .min_shrink = 0.25, .step = 20};

template <class G, class P, class M, class I>
void slow_step(SelectedRows<G> const& g, Tensor<P>& param, Tensor<M>& mean_square, Tensor<I>& last_step) {
    using S = std::common_type_t<reference::sum_t<G>, reference::sum_t<P>, reference::sum_t<M>>;
    for (auto const& [row, sum] : reference::sums(g)) {
        if (sum.empty()) continue;
        auto const at = static_cast<std::size_t>(row);
        double const age = last_step(at) == 0 ? 1 : static_cast<double>(options.step - last_step(at));
        double const shrink = std::max(options.min_shrink, 1 - std::min(1.0, product(options.learning_rate * options.decay, age)));
        last_step(at) = static_cast<I>(options.step);
        std::vector<S> squares;
        for (auto const x : sum) squares.push_back(product(static_cast<S>(x), static_cast<S>(x)));
        S const mean = reference::row_sum(squares) / static_cast<S>(sum.size());
        S const m = product(static_cast<S>(options.rho), static_cast<S>(rowan::dtype<M>::widen(mean_square(at)))) + product(static_cast<S>(1 - options.rho), mean);
        mean_square(at) = rowan::dtype<M>::narrow(static_cast<reference::sum_t<M>>(m));
        for (std::size_t k = 0; k < sum.size(); ++k) {
            S const kept = product(static_cast<S>(shrink), static_cast<S>(rowan::dtype<P>::widen(param.row(at)[k])));
            S const move = product(static_cast<S>(options.learning_rate), static_cast<S>(sum[k])) / (std::sqrt(m) + static_cast<S>(options.epsilon));
            param.row(at)[k] = rowan::dtype<P>::narrow(static_cast<reference::sum_t<P>>(kept - move));
        }
    }
}

template <class G, class P, class M, class I>
void check_bits() {
    inputs::for_sizes<G>([](SelectedRows<G> const& g) {
        auto last_step = Tensor<I>::zeros({g.shape()[0]});
        for (std::size_t row = 0; row < last_step.size(); ++row) last_step(row) = static_cast<I>(row % 21);  // 0, the first step; 20, this one
        std::tuple const before(inputs::wild<P>(g.shape(), 1), inputs::state<M>({g.shape()[0]}, 2), last_step);
        auto const after = [&](auto step) {
            auto all = before;
            std::apply(step, all);
            return all;
        };
        auto const want = after([&](auto&... x) { slow_step(g, x...); });
        auto const same = [&](auto step) {
            auto const got = after(step);
            return reference::same(std::get<0>(got), std::get<0>(want)) && reference::same(std::get<1>(got), std::get<1>(want)) && std::get<2>(got) == std::get<2>(want);
        };
        CHECK(same([&](auto&... x) { rowwise_rmsprop(x..., g, options); }));
        CHECK(same([&](auto&... x) { rowwise_rmsprop(Cpu{.threads = 3}, x..., g, options); }));
        CHECK(same([&](auto&... x) { rowwise_rmsprop(RowPlan(g), x..., g.value(), options); }));
        CHECK(same([&](auto&... x) { rowwise_rmsprop(Cpu{.threads = 2}, RowPlan(g), x..., g.value(), options); }));
    });
}

}  // namespace

TEST_CASE("the older a row, the more of it its next step takes off", "[rowwise_rmsprop][golden]") {
    // FBGEMM's formulas in double: learning rate 0.1, rho 0.9, epsilon 1e-3, decay 0.5, at least 0.25 kept; [1 -2] in the steps 3, 4, 9 and 40
    struct Step {
        std::int64_t number;
        double g0, g1, p0, p1, m;
    };
    Tensor<double> p{{7, 7}, {1, -2}}, m{0, 0};
    Tensor<std::int64_t> last{0, 0};
    for (Step const& s : {Step{3, 0.5, 1, 0.7507968127490039, -2.298406374501992, 0.062499999999999986},  // the first step
                          Step{4, -0.25, 0.75, 0.7974876459349634, -2.436178077247121, 0.08749999999999998},
                          Step{9, 0.5, 0, 0.4331406939905794, -1.827133557935341, 0.09124999999999998},
                          Step{40, 1, 1, -0.12549019782486773, -0.6905587608063478, 0.18212499999999998}}) {
        SelectedRows<double> const grad(2, {1, 1}, {{s.g0 - 1, s.g1}, {1, 0}});
        rowwise_rmsprop(p, m, last, grad, {.learning_rate = 0.1, .rho = 0.9, .epsilon = 1e-3, .decay = 0.5, .min_shrink = 0.25, .step = s.number});
        CHECK((std::abs(p(1, 0) - s.p0) < 1e-14 && std::abs(p(1, 1) - s.p1) < 1e-14 && std::abs(m(1) - s.m) < 1e-14));
        CHECK((last == Tensor<std::int64_t>{0, s.number} && p(0, 0) == 7 && m(0) == 0));
    }
}

TEST_CASE("row-wise RMSProp has the bits of its formula on any number of threads", "[rowwise_rmsprop]") {
    check_bits<float, float, float, std::int64_t>();
    check_bits<float, bfloat16, float, std::int32_t>();
}

TEST_CASE("the average of squares of a row is right also where their sum overflows", "[rowwise_rmsprop]") {
    auto param = Tensor<float>::zeros({1, 20});
    Tensor<float> moment{0};
    Tensor<std::int64_t> last{0};
    rowwise_rmsprop(param, moment, last, Tensor<float>::full({1, 20}, 1.5e19F), {.learning_rate = 1, .rho = 0, .epsilon = 0, .step = 1});
    CHECK((std::abs(moment(0) / 2.25e38 - 1) < 1e-6 && std::abs(param(0, 7) + 1) < 1e-6));
}

TEST_CASE("a negative rate and a second gradient of one step do not decay; min_shrink 0 forgets", "[rowwise_rmsprop]") {
    auto const after = [](std::int32_t last, rowan::RowwiseRmsPropOptions with) {
        Tensor<float> p{{8}}, m{1};
        Tensor<std::int32_t> steps{last};
        with.rho = 0;
        with.epsilon = 1;
        rowwise_rmsprop(p, m, steps, SelectedRows<float>(1, {0}, {{0}}), with);
        return p(0, 0);
    };
    CHECK(after(5, {.learning_rate = 0.5, .decay = 0.5, .step = 7}) == 4);
    CHECK(after(7, {.learning_rate = 0.5, .decay = 0.5, .step = 7}) == 8);
    CHECK(after(5, {.learning_rate = -0.5, .decay = 0.5, .step = 7}) == 8);
    CHECK(after(5, {.learning_rate = 0.5, .step = 7}) == 8);
    CHECK(after(0, {.learning_rate = 0.5, .decay = 0.5, .step = 7}) == 6);
    CHECK(after(1, {.learning_rate = 0.5, .decay = 0.5, .min_shrink = 0, .step = 7}) == 0);
    CHECK(after(1, {.learning_rate = 0.5, .decay = 0.5, .min_shrink = 1, .step = 7}) == 8);
}

TEST_CASE("a dense gradient is a step of all rows", "[rowwise_rmsprop]") {
    SelectedRows<float> const g(4, {2, 0, 2}, inputs::wild<float>({3, 20}, 3));
    auto sparse = inputs::wild<float>({4, 20}, 1), m = inputs::state<float>({4}, 2), dense = sparse, n = m;
    Tensor<std::int64_t> last{3, 0, 19, 20}, steps = last;
    rowwise_rmsprop(sparse, m, last, g, options);
    rowwise_rmsprop(dense, n, steps, to_dense(g), options);
    CHECK((last == Tensor<std::int64_t>{20, 0, 20, 20} && steps == Tensor<std::int64_t>{20, 20, 20, 20}));
    for (std::size_t const row : std::vector<std::size_t>{0, 2}) CHECK((Tensor<float>(sparse.slice(row, row + 1)) == Tensor<float>(dense.slice(row, row + 1)) && m(row) == n(row)));
    CHECK(n(1) == 0.75F * m(1));

    auto none = Tensor<float>::from_shape({4, 0});
    rowwise_rmsprop(none, m, steps, SelectedRows<float>(4, {1}, Tensor<float>::from_shape({1, 0})), {.step = 30});
    CHECK(steps == Tensor<std::int64_t>{20, 20, 20, 20});
}

TEST_CASE("bad options and last steps of row-wise RMSProp throw, and nothing has changed", "[rowwise_rmsprop][errors]") {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    auto p = Tensor<float>::full({3, 2}, 1), m = Tensor<float>::zeros({3});
    Tensor<std::int32_t> last{0, 4, -1};
    SelectedRows<float> const grad(3, {1, 0}, {{1, 2}, {3, 4}});
    auto const refused = [&](rowan::RowwiseRmsPropOptions const& with, std::string const& text) {
        auto const error = test::refused<rowan::ValueError>([&](Cpu exec) { rowwise_rmsprop(exec, p, m, last, grad, with); }, p, m, last, grad);
        CHECK(error.what() == text);
    };
    refused({.learning_rate = inf}, "learning_rate is inf, expected a finite number");
    refused({.rho = 1}, "rho is 1, expected a number in [0, 1)");
    refused({.epsilon = -1}, "epsilon is -1, expected 0 or more");
    refused({.decay = nan}, "decay is nan, expected a finite number");
    refused({.decay = -0.5}, "decay is -0.5, expected 0 or more");
    refused({.learning_rate = 0x1p100, .decay = 0x1p100}, "learning_rate · decay is 1.6069380442589903e+60, expected a number that fits the type of computation");
    refused({.min_shrink = 1.5}, "min_shrink is 1.5, expected a number in [0, 1]");
    refused({.min_shrink = nan}, "min_shrink is nan, expected a number in [0, 1]");
    refused({.step = 0}, "step is 0, expected 1 or more");
    refused({.step = std::int64_t{1} << 31}, "step is 2147483648, expected a number that last_step can hold");
    refused({.step = 3}, "last_step[1] is 4, expected 0 to 3, this step");

    using rowan::ShapeError;
    auto const throws = [&](auto const& call, char const* text) { CHECK(test::refused<rowan::Error>(call, p, m, last).what() == std::string(text)); };
    throws([&](Cpu exec) { rowwise_rmsprop(exec, p, m, last, Tensor<float>::zeros({3, 2}), {.step = 9}); }, "last_step[2] is -1, expected 0 to 9, this step");
    throws([&](Cpu exec) { rowwise_rmsprop(exec, RowPlan<>({2, 0}, 3), p, m, last, Tensor<float>::zeros({2, 2}), {.step = 9}); }, "last_step[2] is -1, expected 0 to 9, this step");
    throws([&](Cpu exec) { rowwise_rmsprop(exec, p, p, last, grad); }, "mean_square rank is 2, expected 1: one number per row");
    auto few = Tensor<std::int32_t>::zeros({2});
    throws([&](Cpu exec) { rowwise_rmsprop(exec, p, m, few, grad); }, "last_step.shape(0) is 2, expected 3");
    throws([&](Cpu exec) { rowwise_rmsprop(exec, p, m, last, SelectedRows<float>(5, {4}, {{1, 2}})); }, "param.shape(0) is 3, expected 5");
    throws([&](Cpu exec) { rowwise_rmsprop(exec, p, m, last, SelectedRows<float>(3, {1}, {{1}}), {.step = 9}); }, "param.shape() is [3, 2], expected [3, 1]");
}

}  // namespace test_rowwise_rmsprop
