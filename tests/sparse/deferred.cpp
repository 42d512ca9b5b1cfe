// tests/sparse/deferred.cpp: Deferred has the bits of dense updates.
#include <rowan/sparse/deferred.hpp>

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"
#include "sanitizers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_deferred {

using rowan::AdaGradOptions, rowan::AdamOptions, rowan::CatchUp, rowan::Deferred, rowan::MomentumOptions, rowan::RmsPropOptions, rowan::SgdOptions;
using rowan::bfloat16, rowan::float16, rowan::SelectedRows, rowan::Tensor;

namespace {

// A step of an optimizer.
void apply(AdamOptions const& o, auto const& grad, auto&... x) { adam(x..., grad, o); }
void apply(AdaGradOptions const& o, auto const& grad, auto&... x) { adagrad(x..., grad, o); }
void apply(MomentumOptions const& o, auto const& grad, auto&... x) { momentum(x..., grad, o); }
void apply(RmsPropOptions const& o, auto const& grad, auto&... x) { rmsprop(x..., grad, o); }
void apply(SgdOptions const& o, auto const& grad, auto&... x) { sgd(x..., grad, o); }

// Numbers of many sizes, now and then 0.
template <class T>
Tensor<T> numbers(inputs::Random& random, std::size_t rows, std::size_t width, int least_exponent) {
    auto x = Tensor<T>::zeros({rows, width});
    for (T& number : x) {
        int const exponent = -static_cast<int>(random.below(-least_exponent));
        if (random.below(16) != 0) number = inputs::narrow<T>(std::ldexp(random.normal(), exponent));
    }
    return x;
}

// Whether they have the same bits, or are both NaN, whose sign depends on the compiler.
template <class T>
bool same_numbers(Tensor<T> const& a, Tensor<T> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        T const x = a.data()[i], y = b.data()[i];
        if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(static_cast<double>(x)) && std::isnan(static_cast<double>(y)))) return false;
    }
    return a.shape() == b.shape();
}

template <class... T>
bool same_all(std::tuple<T...> const& a, std::tuple<T...> const& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return (same_numbers(std::get<i>(a), std::get<i>(b)) && ...); }(std::index_sequence_for<T...>{});
}

// A parameter and its states, with deferred updates and with dense ones.
template <class Options, class... T>
struct Both {
    std::tuple<Tensor<T>...> deferred, dense = deferred;
    Deferred<Options> optimizer{static_cast<std::int64_t>(std::get<0>(deferred).shape(0))};
    rowan::Cpu exec{};

    void step(auto const& grad, Options const& options) {
        std::apply([&](auto&... x) { optimizer.step(exec, grad, options, x...); }, deferred);
        std::apply([&](auto&... x) { apply(options, to_dense(grad), x...); }, dense);
    }
    bool same_after_catch_up(std::vector<std::int64_t> const& rows) {
        std::apply([&](auto&... x) { optimizer.catch_up(exec, rows, x...); }, deferred);
        auto const rows_of = [&](auto const&... x) { return std::tuple(gather(x, rows)...); };
        return same_all(std::apply(rows_of, deferred), std::apply(rows_of, dense));
    }
    bool same_after_flush() {
        std::apply([&](auto&... x) { optimizer.flush(exec, x...); }, deferred);
        return same_all(deferred, dense);
    }
};

struct Run {
    std::size_t height = 9, width = 5;
    int steps = 400;
    double touch = 0.02;  // the part of the rows that a gradient has
    int threads = 1;
    unsigned seed = 1;
};

// Steps of random gradients, whose rows may repeat, deferred and dense. options(t) are those of step t. The last row never
// has a gradient.
template <class G, class T, class... S, class Options>
void compare_steps(Run const& run, std::function<Options(int)> const& options) {
    inputs::Random random(run.seed);
    auto const height = static_cast<std::int64_t>(run.height);
    Both<Options, T, S...> both{{numbers<T>(random, run.height, run.width, -8), Tensor<S>::zeros({run.height, run.width})...}};
    both.exec.threads = run.threads;
    for (int t = 1; t <= run.steps; ++t) {
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row + 1 < height; ++row)
            if (random.uniform() < run.touch) rows.insert(rows.end(), row % 2 == 0 ? 1 : 2, row);
        both.step(SelectedRows<G>(height, rows, numbers<G>(random, rows.size(), run.width, -20)), options(t));
        if (run.steps <= 2000 && random.below(16) == 0) {
            std::vector<std::int64_t> const some{height - 1, t % height, 0, t % height};
            REQUIRE(both.same_after_catch_up(some));
            for (auto const row : some) REQUIRE(both.optimizer.missed(row) == 0);
        }
    }
    REQUIRE(both.same_after_flush());
}

template <class G, class... T, class OptionsOf>
void compare(Run const& run, OptionsOf const& options) {
    using Options = decltype(options(1));
    compare_steps<G, T...>(run, std::function<Options(int)>(options));
}

// A rate that rises, falls and rises again.
double warm_up(int t) { return 0.01 * (t % 150 + 1) / 150; }
// A rate that is too small to move anything, then large.
double late(int t) { return t <= 64 ? 1e-12 : 0.1; }

}  // namespace

TEST_CASE("adam on a few rows has the bits of dense updates", "[deferred][property]") {
    for (unsigned seed = 0; seed < 3; ++seed) {
        Run const run{.width = 4 + 15 * seed, .steps = sanitizers::any ? 200 : 400, .touch = seed == 0 ? 0.2 : 0.005, .seed = seed};
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.step = t}; });
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .beta1 = 0.5, .beta2 = 0.6, .step = t}; });
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t, .weight_decay = 0.1, .decoupled = true}; });
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.epsilon = 0, .step = t, .weight_decay = 0.01}; });
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.learning_rate = late(t), .beta1 = 0.99, .step = 100'000 + t}; });
        // settings without a bound: a negative rate, betas that change, a decay that turns the sign
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.learning_rate = -0.001, .beta1 = t % 200 < 100 ? 0.9 : 0.2, .step = t}; });
        compare<float, float, float, float>(run, [](int t) { return AdamOptions{.learning_rate = 1.0, .step = t, .weight_decay = 1.5, .decoupled = true}; });
        compare<bfloat16, bfloat16, float, bfloat16>(run, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t, .weight_decay = 0.02, .decoupled = t > 100}; });
        compare<double, double, double, double>(run, [](int t) { return AdamOptions{.learning_rate = 1e-4, .step = t}; });
    }
}

TEST_CASE("momentum on a few rows has the bits of dense updates", "[deferred][property]") {
    for (bool const nesterov : {false, true}) {
        Run const run{.width = 21, .steps = sanitizers::any ? 300 : 1200, .touch = 0.002, .seed = 7};
        compare<float, float, float>(run, [=](int) { return MomentumOptions{.nesterov = nesterov}; });
        compare<float, float, float>(run, [=](int t) { return MomentumOptions{.learning_rate = warm_up(t), .momentum = 0.5, .nesterov = nesterov, .weight_decay = t > 600 ? 0.1 : 0.0}; });
        compare<float, float, float>(run, [=](int t) { return MomentumOptions{.learning_rate = late(t), .momentum = 0.99, .nesterov = nesterov}; });
        compare<float16, float16, float16>(run, [=](int t) { return MomentumOptions{.learning_rate = warm_up(t), .momentum = 0.5, .nesterov = nesterov}; });
        compare<float16, float16, float16>(run, [=](int) { return MomentumOptions{.momentum = 1.01, .nesterov = nesterov}; });
    }
}

TEST_CASE("rmsprop on a few rows has the bits of dense updates", "[deferred][property]") {
    Run const run{.width = 18, .touch = 0.01, .seed = 3};
    for (double const momentum : {0.0, 0.9}) {
        compare<float, float, float, float>(run, [=](int t) { return RmsPropOptions{.learning_rate = warm_up(t), .momentum = momentum}; });
        compare<float, float, float, float, float>(run, [=](int) { return RmsPropOptions{.momentum = momentum}; });
        compare<float, float, float, float, float>(run, [=](int) { return RmsPropOptions{.momentum = momentum, .epsilon = 0}; });
    }
}

TEST_CASE("sgd with a decay on a few rows has the bits of dense updates", "[deferred][property]") {
    Run const run{.width = 20, .steps = 900, .touch = 0.004, .seed = 5};
    for (bool const decoupled : {false, true}) {
        compare<float, float>(run, [=](int t) { return SgdOptions{.learning_rate = warm_up(t), .weight_decay = 0.1, .decoupled = decoupled}; });
        compare<bfloat16, bfloat16>(run, [=](int) { return SgdOptions{.learning_rate = 0.1, .weight_decay = 0.2, .decoupled = decoupled}; });
    }
}

TEST_CASE("adagrad with a decay on a few rows has the bits of dense updates", "[deferred][property]") {
    Run const run{.width = 20, .steps = sanitizers::any ? 300 : 900, .touch = 0.004, .seed = 6};
    for (bool const decoupled : {false, true}) {
        compare<float, float, float>(run, [=](int t) { return AdaGradOptions{.learning_rate = warm_up(t), .weight_decay = 0.1, .decoupled = decoupled}; });
        compare<float, bfloat16, bfloat16>(run, [=](int t) { return AdaGradOptions{.learning_rate = 0.1, .weight_decay = t > 300 ? 0.2 : 0.0, .decoupled = decoupled}; });
    }
}

TEST_CASE("rows that miss 100,000 steps have the bits of dense updates", "[deferred][property]") {
    int const steps = sanitizers::any ? 3000 : 100'000;  // beyond 65,535 all rows are brought up to date at once
    compare<float, float, float, float>({.height = 4, .width = 3, .steps = steps, .touch = 0.00005, .seed = 2}, [](int t) { return AdamOptions{.beta2 = 0.9, .step = t}; });
}

TEST_CASE("deferred updates have the same bits on any number of threads", "[deferred][threads]") {
    for (int const threads : {1, 3, 8})
        compare<float, float, float, float>({.height = 300, .width = 3, .steps = 100, .touch = 0.05, .threads = threads}, [](int t) { return AdamOptions{.step = t}; });
}

namespace {

// Steps of random gradients on rows with states of many sizes, in a closed form and dense: both have nearly the same
// numbers, where the dense steps say by how much they may differ. Rows catch up together, or one after the other.
template <class G, class T, class... S, class Options>
std::tuple<Tensor<T>, Tensor<S>...> check_near_steps(Run const& run, std::function<Options(int)> const& options, bool together) {
    inputs::Random random(run.seed);
    auto const height = static_cast<std::int64_t>(run.height);
    [[maybe_unused]] auto const positive = [&]<class E>(E) {
        auto x = numbers<E>(random, run.height, run.width, -60);
        for (E& number : x) number = E(std::abs(static_cast<double>(number)));
        return x;
    };
    auto p = numbers<T>(random, run.height, run.width, -8);
    if (run.touch == 0) std::fill(p.begin(), p.end(), T(0));  // so that nothing is rounded away
    Both<Options, T, S...> both{{p, positive(S{})...}};
    both.optimizer = Deferred<Options>(height, {.catch_up = CatchUp::closed_form});
    both.exec.threads = run.threads;
    std::vector<double> moved(p.size());
    for (int t = 1; t <= run.steps; ++t) {
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row + 1 < height; ++row)
            if (random.uniform() < run.touch) rows.push_back(row);
        p = std::get<0>(both.dense);
        both.step(SelectedRows<G>(height, rows, numbers<G>(random, rows.size(), run.width, -20)), options(t));
        for (std::size_t i = 0; i < p.size(); ++i) moved[i] += std::abs(static_cast<double>(std::get<0>(both.dense).data()[i]) - static_cast<double>(p.data()[i]));
        if (random.below(64) != 0) continue;
        for (std::vector<std::int64_t> some{1, 0, t % height}; !some.empty(); some.pop_back())
            if (!together || some.size() == 3) std::apply([&](auto&... x) { both.optimizer.catch_up(both.exec, together ? some : std::vector{some.back()}, x...); }, both.deferred);
    }
    both.same_after_flush();
    std::size_t state = 0;
    auto const near = [&]<class E>(Tensor<E> const& x, Tensor<E> const& dense) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const a = x.data()[i], b = dense.data()[i], size = state == 0 ? moved[i] : std::abs(b);
            double const rounded = run.touch == 0 ? 0 : run.steps * std::abs(b) * static_cast<double>(std::numeric_limits<E>::epsilon());
            INFO("tensor " << state << ", element " << i << ": " << a << ", dense " << b << " after moves of " << size);
            REQUIRE(std::abs(a - b) <= 0.001 * size + rounded + 0x1p-126);
        }
        ++state;
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) { (near(std::get<i>(both.deferred), std::get<i>(both.dense)), ...); }(std::index_sequence_for<T, S...>{});
    return both.deferred;
}

template <class G, class... T, class OptionsOf>
auto check_near(Run const& run, OptionsOf const& options, bool together = true) {
    using Options = decltype(options(1));
    return check_near_steps<G, T...>(run, std::function<Options(int)>(options), together);
}

}  // namespace

TEST_CASE("a closed form of missed steps is near dense updates", "[deferred][closed][property]") {
    double const betas[][2] = {{0.9, 0.999}, {0.9, 0.99}, {0.5, 0.9}, {0.99, 0.999}, {0.9, 0.95}, {0.9, 0.8}, {0, 0.5}};
    std::int64_t const before[] = {0, 3, 30, 1000, 100'000};
    inputs::Random random(11);
    for (int const gap : sanitizers::any ? std::vector{1, 2, 17, 300} : std::vector{1, 2, 3, 17, 300, 3000}) {
        Run const run{.height = 3, .width = 21, .steps = gap, .touch = 0, .seed = static_cast<unsigned>(gap)};
        for (auto const& [beta1, beta2] : betas) {
            for (int i = 0; i < (gap <= 300 ? 4 : 1); ++i) {
                bool const decays = random.below(2) == 0, late_rate = random.below(3) == 0;
                check_near<double, double, double, double>(run, [=, a = beta1, b = beta2, first = before[random.below(5)]](int t) {
                    return AdamOptions{.learning_rate = late_rate ? late(t) : warm_up(t), .beta1 = a, .beta2 = b, .step = first + t, .weight_decay = decays ? 0.3 : 0.0, .decoupled = decays};
                });
            }
        }
        for (bool const nesterov : {false, true})
            for (double const momentum : {0.0, 0.5, 0.9, 0.99})
                check_near<float, float, float>(run, [=](int t) { return MomentumOptions{.learning_rate = warm_up(t), .momentum = momentum, .nesterov = nesterov}; });
        for (double const momentum : {0.0, 0.9}) {
            check_near<float, float, float, float>(run, [=](int t) { return RmsPropOptions{.learning_rate = warm_up(t), .momentum = momentum}; });
            check_near<float, float, float, float, float>(run, [=](int) { return RmsPropOptions{.rho = 0.99, .momentum = momentum}; });
        }
    }
}

TEST_CASE("a closed form of missed steps is near dense updates also where rows have gradients, and options change", "[deferred][closed][property]") {
    Run const run{.width = 7, .steps = sanitizers::any ? 400 : 2000, .touch = 0.01};
    auto const both = [](Run const& some, auto const& options) { check_near<double, double, double, double>(some, options); };
    both(run, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t}; });
    both(run, [](int t) { return AdamOptions{.beta1 = t < 200 ? 0.8 : 0.9, .epsilon = t % 300 == 0 ? 0.001 : 1e-8, .step = t}; });
    // settings without a closed form now and then: an L2 penalty, a negative rate
    both(run, [](int t) { return AdamOptions{.step = t, .weight_decay = 0.01, .decoupled = t % 150 != 0}; });
    both(run, [](int t) { return AdamOptions{.learning_rate = t % 170 < 5 ? -0.001 : 0.001, .step = t}; });
    for (bool const decoupled : {false, true})
        check_near<float, float>(run, [=](int t) { return SgdOptions{.learning_rate = t % 500 == 3 ? -0.1 : 0.1, .weight_decay = 0.1, .decoupled = decoupled}; });
}

TEST_CASE("a closed form of missed steps has the same bits on any number of threads, and whichever rows are asked for together", "[deferred][closed][threads]") {
    auto const at = [](int threads, bool together) {
        return check_near<double, double, double, double>({.height = 300, .width = 3, .steps = 100, .touch = 0.05, .threads = threads}, [](int t) { return AdamOptions{.step = t, .weight_decay = 0.1, .decoupled = true}; }, together);
    };
    auto const one = at(1, true);
    CHECK(same_all(one, at(3, true)));
    CHECK(same_all(one, at(1, false)));
}

namespace {

/// 0, the smallest numbers, others, infinity and NaN, of either sign.
template <class T>
std::vector<T> edges() {
    float const smallest = std::is_same_v<T, float16> ? 0x1p-24F : std::is_same_v<T, bfloat16> ? 0x1p-133F : 0x1p-149F;
    std::vector<T> all;
    for (float const x : {0.0F, smallest, 0x1p-126F, 1e-3F, 1.0F, 60000.0F, std::numeric_limits<float>::infinity()})
        for (float const sign : {1.0F, -1.0F}) all.push_back(T(sign * x));
    all.push_back(T(std::nanf("")));
    return all;
}

/// A parameter and states with rows of all combinations of these numbers.
template <class Options, class... T>
Both<Options, T...> rows_of_edges(CatchUp catch_up) {
    std::size_t rows = 1, stride = 1;
    ((rows *= edges<T>().size()), ...);
    auto const filled = [&]<class E>(E) {
        auto const some = edges<E>();
        auto x = Tensor<E>::zeros({rows, 1});
        for (std::size_t row = 0; row < rows; ++row) x(row, 0) = some[row / stride % some.size()];
        stride *= some.size();
        return x;
    };
    Both<Options, T...> both{{filled(T{})...}};
    both.optimizer = Deferred<Options>(static_cast<std::int64_t>(rows), {.catch_up = catch_up});
    return both;
}
SelectedRows<float> no_gradient(std::int64_t height) { return {height, {}, Tensor<float>::zeros({0, 1})}; }

/// Misses steps in these rows.
template <class... T, class Options>
void check_edges(Options const& options) {
    for (int const steps : sanitizers::any ? std::vector{1, 2, 40} : std::vector{1, 2, 40, 600}) {
        auto both = rows_of_edges<Options, T...>(CatchUp::exact);
        for (int t = 0; t < steps; ++t) both.step(no_gradient(both.optimizer.height()), options);
        CHECK(both.same_after_flush());
    }
}

/// The same, with a closed form, which has numbers near those of dense steps, and otherwise the same.
template <class... T, class Options>
void check_near_edges(Options const& options) {
    for (int const steps : sanitizers::any ? std::vector{1, 2, 40} : std::vector{1, 2, 40, 600}) {
        auto both = rows_of_edges<Options, T...>(CatchUp::closed_form);
        auto const first = both.dense;
        std::vector<double> moved(std::get<0>(first).size());
        for (int t = 0; t < steps; ++t) {
            auto const before = std::get<0>(both.dense);
            both.step(no_gradient(both.optimizer.height()), options);
            if (t == steps / 4) both.same_after_flush();
            for (std::size_t row = 0; row < moved.size(); ++row) moved[row] += std::abs(double{std::get<0>(both.dense)(row, 0)} - double{before(row, 0)});
        }
        both.same_after_flush();
        std::size_t tensor = 0;
        auto const near = [&](auto const& x, auto const& dense) {
            for (std::size_t row = 0; row < moved.size(); ++row) {
                // dense steps round states that are or become subnormal by much, a closed form to 0
                bool const coarse = std::apply([&](auto const&, auto const&... s) { return (... || (s(row, 0) != 0 && std::abs(s(row, 0)) < 0x1p-120F)); }, first);
                double const a = x(row, 0), b = dense(row, 0), by = 0.001 * (tensor == 0 ? moved[row] : 0.0) + (steps + 3) * 0x1p-23 * std::abs(b) + 0x1p-126;
                INFO("tensor " << tensor << ", row " << row << " after " << steps << ": " << a << ", dense " << b);
                CHECK((std::isfinite(b) ? std::isfinite(a) && (coarse || std::abs(a - b) <= by) : a == b || (std::isnan(a) && std::isnan(b))));
            }
            ++tensor;
        };
        [&]<std::size_t... i>(std::index_sequence<i...>) { (near(std::get<i>(both.deferred), std::get<i>(both.dense)), ...); }(std::index_sequence_for<T...>{});
    }
}

/// Steps of one row of one number, whose only gradient is -0 in the first step.
template <class... T, class OptionsOf>
void check_row(int steps, OptionsOf const& options, T... x) {
    Both<decltype(options(1)), T...> both{{Tensor<T>::full({1, 1}, x)...}};
    for (int t = 1; t <= steps; ++t) both.step(t == 1 ? SelectedRows<float>(1, {0}, {{-0.0F}}) : SelectedRows<float>(1, {}, Tensor<float>::zeros({0, 1})), options(t));
    CHECK(both.same_after_flush());
}

}  // namespace

TEST_CASE("infinities, NaN, zeros of either sign and roots of negative numbers go on as in dense updates", "[deferred][edges]") {
    check_edges<float, float, float>(AdamOptions{.step = 1000});
    check_edges<float, float, float>(AdamOptions{.step = 1000, .weight_decay = 0.1, .decoupled = true});
    check_edges<float, float, float>(AdamOptions{.epsilon = 0, .step = 1000});
    check_edges<float, float, float>(AdamOptions{.epsilon = 1e-50, .step = 1000});
    check_edges<float16, float, bfloat16>(AdamOptions{.learning_rate = 1e-9, .beta1 = 0.5, .step = 1000});
    check_edges<float, float>(MomentumOptions{});
    check_edges<float, float>(MomentumOptions{.learning_rate = 0, .momentum = 0});
    check_edges<float16, float16>(MomentumOptions{.momentum = 0.5});
    check_edges<float, double>(MomentumOptions{.momentum = 0.5});
    check_edges<double, float>(MomentumOptions{.momentum = 0.5});
    check_edges<float, float, float>(RmsPropOptions{.momentum = 0.5});
    check_edges<float, float, float>(RmsPropOptions{.epsilon = 1e-50});
    check_edges<float, float>(AdaGradOptions{});
    check_edges<float, float>(AdaGradOptions{.learning_rate = 1, .weight_decay = 0.5, .decoupled = true});
    check_edges<float, float>(AdaGradOptions{.epsilon = 0, .weight_decay = 0.5, .decoupled = true});
    check_edges<bfloat16, bfloat16>(AdaGradOptions{.learning_rate = -1, .weight_decay = -0.5, .decoupled = true});
    check_edges<float>(SgdOptions{.learning_rate = 1, .weight_decay = 0.5, .decoupled = true});
}

TEST_CASE("a closed form gives NaN and infinities where dense updates do", "[deferred][closed][edges]") {
    for (double const epsilon : {1e-8, 1e-30, 100.0, 0.0}) check_near_edges<float, float, float>(AdamOptions{.epsilon = epsilon, .step = 1000});
    check_near_edges<float, float, float>(AdamOptions{.step = 1000, .weight_decay = 0.1, .decoupled = true});
    check_near_edges<float, float>(MomentumOptions{});
    check_near_edges<float, float>(MomentumOptions{.momentum = 0.001});
    check_near_edges<float, float>(MomentumOptions{.learning_rate = 0, .momentum = 0});
    check_near_edges<float, float, float>(RmsPropOptions{.momentum = 0.5});
    check_near_edges<float>(SgdOptions{.learning_rate = 1, .weight_decay = 0.5, .decoupled = true});
}

TEST_CASE("rows with new values have missed nothing", "[deferred]") {
    Deferred<MomentumOptions> deferred(3);
    auto param = Tensor<float>::full({3, 2}, 1), velocity = Tensor<float>::full({3, 2}, 0.5F);
    deferred.step(SelectedRows<float>(3, {2}, Tensor<float>::zeros({1, 2})), {.momentum = 0.5}, param, velocity);
    CHECK_THROWS_AS(deferred.renew({0, 3}), rowan::IndexError);
    CHECK(deferred.missed(0) == 1);
    deferred.renew({0});
    CHECK(deferred.missed(0) == 0);
    deferred.flush(param, velocity);
    CHECK(velocity == Tensor<float>{{0.5F, 0.5F}, {0.25F, 0.25F}, {0.25F, 0.25F}});
}

TEST_CASE("what rows have missed is saved with them, and the next steps have the same bits", "[deferred]") {
    for (auto const way : {CatchUp::exact, CatchUp::closed_form}) {
        Tensor<float> p = Tensor<float>::full({20, 3}, 1), m = Tensor<float>::zeros({20, 3}), v = m;
        Deferred<AdamOptions> first(20, {.catch_up = way});
        auto const step = [](auto& optimizer, std::int64_t t, auto&... x) {
            inputs::Random random(static_cast<std::uint64_t>(t));
            std::vector<std::int64_t> const rows{random.below(20), random.below(20)};
            optimizer.step(SelectedRows<float>(20, rows, inputs::wild<float>({2, 3}, static_cast<std::uint64_t>(t))), AdamOptions{.learning_rate = 0.1 / static_cast<double>(t), .step = t}, x...);
        };
        for (std::int64_t t = 1; t <= 40; ++t) step(first, t, p, m, v);
        auto const saved = first.contents();
        CHECK((saved.steps.size() == 40 && saved.steps[7].step == 8 && saved.made.size() == 20));
        auto p2 = p, m2 = m, v2 = v;
        Deferred<AdamOptions> second(20, {.catch_up = way});
        second.assign(saved, p2, m2, v2);
        for (std::int64_t t = 41; t <= 60; ++t) step(first, t, p, m, v), step(second, t, p2, m2, v2);
        first.flush(p, m, v), second.flush(p2, m2, v2);
        CHECK((same_numbers(p, p2) && same_numbers(m, m2) && same_numbers(v, v2)));
        CHECK((second.contents().steps.empty() && !second.behind()));
    }
    Deferred<SgdOptions> optimizer(2);
    auto p = Tensor<float>::zeros({2, 1});
    CHECK_THROWS_WITH(optimizer.assign({.steps = {{}}, .made = {0}}, p), "made.size() is 1, expected 2");
    CHECK_THROWS_WITH(optimizer.assign({.steps = {{}}, .made = {1, 2}}, p), "made[1] = 2 is not in [0, 2)");
    CHECK_THROWS_AS(optimizer.assign({.steps = {{.learning_rate = NAN}}, .made = {1, 0}}, p), rowan::ValueError);
    CHECK((!optimizer.behind() && optimizer.missed(0) == 0));
}

TEST_CASE("extreme settings have the bits of dense updates", "[deferred][edges]") {
    check_row(2, [](int) { return MomentumOptions{.learning_rate = 8e19, .momentum = 1e-30}; }, 0x1.8p-58F, 0x1.8cccccp-149F / 1e-30F);
    check_row(2, [](int t) { return AdamOptions{.learning_rate = 1e-45, .beta1 = 1 - 0x1p-53, .epsilon = 1, .step = t}; }, 0x1.8p-6F, 1e20F, 0.0F);
    double const beta2 = std::pow(0.51 * 0x1p-149 / (1 - 0x1p-12), 1 / 512.0) / (1 - 0x1p-23);  // to the power of 512 it is subnormal
    check_row(513, [=](int t) { return AdamOptions{.learning_rate = 1e-8, .beta1 = 0.999999999, .beta2 = beta2, .epsilon = 1e-30, .step = (std::int64_t{1} << 40) + t}; }, 1.5F, 1.9e-7F, 1e30F);
    check_row(80, [](int t) { return SgdOptions{.learning_rate = t <= 70 ? 0.0 : -0.0}; }, -0.0F);
    check_row(3, [](int) { return SgdOptions{.learning_rate = 1}; }, -0.0F);
}

TEST_CASE("a dense gradient, and new rows, miss nothing", "[deferred]") {
    auto p = Tensor<float>::full({3, 2}, 1), m = Tensor<float>::zeros({3, 2}), v = m;
    auto p2 = p, m2 = m, v2 = v;
    Deferred<AdamOptions> deferred(3);
    SelectedRows<float> const grad(3, {1}, {{1, 2}});
    deferred.step(grad, {.step = 1}, p, m, v);
    CHECK((deferred.missed(0) == 1 && deferred.missed(1) == 0));
    deferred.step(Tensor<float>{{1, 1}, {2, 2}, {3, 3}}, {.step = 2}, p, m, v);
    CHECK((deferred.missed(0) == 0 && deferred.missed(2) == 0));
    adam(p2, m2, v2, to_dense(grad), {.step = 1});
    adam(p2, m2, v2, Tensor<float>{{1, 1}, {2, 2}, {3, 3}}, {.step = 2});
    CHECK((reference::same(p, p2) && reference::same(m, m2) && reference::same(v, v2)));

    deferred.step(grad, {.step = 3}, p, m, v);
    deferred.resize(2);
    deferred.resize(5);
    CHECK((deferred.height() == 5 && deferred.missed(0) == 1 && deferred.missed(2) == 0 && deferred.missed(4) == 0));
}

TEST_CASE("bad input to a deferred optimizer throws, and nothing has changed", "[deferred][errors]") {
    auto p = Tensor<float>::full({3, 2}, 1), m = Tensor<float>::zeros({3, 2}), v = m;
    Deferred<AdamOptions> deferred(3);
    SelectedRows<float> const grad(3, {1}, {{1, 2}}), other(4, {1}, {{1, 2}});
    deferred.step(grad, {}, p, m, v);
    auto const refused = [&](auto const& call, char const* text) { CHECK_THROWS_WITH(call(), text); CHECK((deferred.missed(0) == 1 && deferred.missed(1) == 0)); };
    auto const seen = test::seen(p) + test::seen(m) + test::seen(v);
    auto few = Tensor<float>::zeros({2, 2}), narrow = Tensor<float>::zeros({3, 1});
    refused([&] { deferred.step(other, {}, p, m, v); }, "grad.height() is 4, expected 3, that of this Deferred");
    refused([&] { deferred.step(grad, {.beta1 = 1}, p, m, v); }, "beta1 is 1, expected a number in [0, 1)");
    refused([&] { deferred.step(grad, {}, p, m, m); }, "state 0 shares memory with state 1");
    refused([&] { deferred.catch_up({0, 3}, p, m, v); }, "rows[1] = 3 is not in [0, 3)");
    refused([&] { deferred.catch_up({0}, few, m, v); }, "param.shape(0) is 2, expected 3");
    refused([&] { deferred.flush(p, narrow, v); }, "state 0.shape() is [3, 1], expected [3, 2], the shape of param");
    refused([&] { deferred.missed(3); }, "row = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(Deferred<AdamOptions>(-1), "height is -1, expected in [0, 2^63 - 1]");
    CHECK(test::seen(p) + test::seen(m) + test::seen(v) == seen);
}

}  // namespace test_deferred
