// tests/thrust/deferred.cpp: Deferred on a device has the bits of dense updates.
#include <rowan/sparse.hpp>
#include <rowan/thrust/sparse/deferred.hpp>
#include <rowan/thrust/sparse/sgd.hpp>

#include "devices.hpp"
#include "sanitizers.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace test_deferred_on_device {

using device::late_refusal, device::refusal, device::Rows, device::same_bits;
using rowan::AdaGradOptions, rowan::AdamOptions, rowan::Deferred, rowan::MomentumOptions, rowan::RmsPropOptions, rowan::SgdOptions;
using rowan::bfloat16, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

// A dense step on the host.
void apply(AdamOptions const& o, auto const& grad, auto&... x) { adam(x..., grad, o); }
void apply(AdaGradOptions const& o, auto const& grad, auto&... x) { adagrad(x..., grad, o); }
void apply(MomentumOptions const& o, auto const& grad, auto&... x) { momentum(x..., grad, o); }
void apply(RmsPropOptions const& o, auto const& grad, auto&... x) { rmsprop(x..., grad, o); }
void apply(SgdOptions const& o, auto const& grad, auto&... x) { sgd(x..., grad, o); }

template <class T>
Tensor<T> dense_of(Tensor<T> const& grad) { return grad.share(); }
template <class T>
Tensor<T> dense_of(SelectedRows<T> const& grad) { return to_dense(grad); }

// Whether they have the same bits, or are both NaN, whose sign may differ.
template <class T>
bool same_numbers(Tensor<T> const& a, Tensor<T> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        T const x = a.data()[i], y = b.data()[i];
        if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(static_cast<double>(x)) && std::isnan(static_cast<double>(y)))) return false;
    }
    return a.shape() == b.shape();
}

// A parameter and its states, deferred on the device and dense on the host.
template <class D, class Options, class... T>
struct Both {
    std::tuple<Tensor<T>...> dense;
    std::tuple<Tensor<T, D>...> there = std::apply([](auto const&... x) { return std::tuple(to_device(D{}, x)...); }, dense);
    Deferred<Options, D> optimizer{std::get<0>(dense).shape(0)};

    void step_there(auto const& grad, Options const& options) {
        std::apply([&](auto&... x) { optimizer.step(grad, options, x...); }, there);
    }
    void step(auto const& grad, Options const& options) {
        step_there(to_device(D{}, grad), options);
        std::apply([&](auto&... x) { apply(options, dense_of(grad), x...); }, dense);
    }
    void catch_up(auto const& rows) {
        std::apply([&](auto&... x) { optimizer.catch_up(rows, x...); }, there);
    }
    bool same_rows(Rows const& rows) {
        return same([&](auto const& x) { return gather(x, rows); });
    }
    bool same_after_flush() {
        std::apply([&](auto&... x) { optimizer.flush(x...); }, there);
        return same([](auto const& x) { return x.share(); });
    }
    bool same(auto const& part) {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return (same_numbers(part(to_host(std::get<i>(there))), part(std::get<i>(dense))) && ...);
        }
        (std::index_sequence_for<T...>{});
    }
};

struct Run {
    std::int64_t height = 9;
    std::size_t width = 5;
    int steps = 150;
    unsigned touch = 20;  // of 1000 rows, those that a gradient has, one to three times
    unsigned seed = 1;
};

// Numbers of many sizes, now and then 0.
template <class T>
Tensor<T> numbers(std::mt19937& random, std::size_t rows, std::size_t width, unsigned exponents) {
    auto x = Tensor<T>::from_shape({rows, width});
    for (std::size_t i = 0; i < x.size(); ++i) {
        float const size = std::ldexp(static_cast<float>(random() % 4096) - 2048, -11 - static_cast<int>(random() % exponents));
        x.data()[i] = rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(random() % 16 == 0 ? 0.0F : size));
    }
    return x;
}

// Steps of random gradients of type G. options(t) are those of step t. The last row never has a gradient.
template <class D, class G, class T, class... S, class Options>
void check_steps(Run const& run, std::function<Options(int)> const& options) {
    std::mt19937 random(run.seed);
    auto const height = static_cast<std::size_t>(run.height);
    Both<D, Options, T, S...> both{{numbers<T>(random, height, run.width, 8), Tensor<S>::zeros({height, run.width})...}};
    for (int t = 1; t <= run.steps; ++t) {
        Rows rows;
        for (std::int64_t row = 0; row + 1 < run.height; ++row)
            if (random() % 1000 < run.touch) rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(random() % (rows.size() + 1)), 1 + random() % 3, row);
        auto const value = numbers<G>(random, rows.size(), run.width, 20);
        both.step(SelectedRows<G>(run.height, rows, value), options(t));
        if (random() % 32 != 0) continue;
        Rows const some{run.height - 1, t % run.height, 0, t % run.height};
        both.catch_up(some);
        REQUIRE(both.same_rows(some));
        for (auto const row : some) REQUIRE(both.optimizer.missed(row) == 0);
        if (random() % 4 == 0) both.step(numbers<G>(random, height, run.width, 20), options(t));
    }
    CHECK(both.same_after_flush());
}

template <class D, class G, class... T, class OptionsOf>
void check(Run const& run, OptionsOf const& options) {
    using Options = decltype(options(1));
    check_steps<D, G, T...>(run, std::function<Options(int)>(options));
}

// A rate that rises and falls.
double warm_up(int t) { return 0.01 * (t % 50 + 1) / 50; }
// A rate that is too small to move anything, then large, again and again.
double late(int t) { return t % 37 < 30 ? 1e-12 : 0.1; }

template <class G>
SelectedRows<G> no_gradient(std::int64_t height, std::size_t width) {
    return {height, Rows{}, Tensor<G>::zeros({0, width})};
}

}  // namespace

TEMPLATE_TEST_CASE("adam on a few rows of a device has the bits of dense updates", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    check<D, float, float, float, float>({.touch = 200}, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t}; });
    check<D, float, float, float, float>({}, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t, .weight_decay = 0.1, .decoupled = true}; });
    check<D, float, float, float, float>({.touch = 100}, [](int t) { return AdamOptions{.learning_rate = late(t), .beta1 = 0.99, .step = 100'000 + t}; });
    // settings without a bound
    check<D, float, float, float, float>({.width = 4}, [](int t) { return AdamOptions{.epsilon = 0, .step = t, .weight_decay = 0.01}; });
    check<D, float, float, float, float>({}, [](int t) { return AdamOptions{.learning_rate = -0.001, .beta1 = t % 100 < 50 ? 0.9 : 0.2, .step = t}; });
    // the device sums the duplicates of a bfloat16 gradient, and rounds the sums
    check<D, bfloat16, bfloat16, float, bfloat16>({.touch = 100}, [](int t) { return AdamOptions{.learning_rate = warm_up(t), .step = t, .weight_decay = 0.02, .decoupled = t > 100}; });
    check<D, double, double, double, double>({}, [](int t) { return AdamOptions{.learning_rate = 1e-4, .step = t}; });
}

TEMPLATE_TEST_CASE("optimizers on a few rows of a device have the bits of dense updates", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (bool const first : {false, true}) {
        check<D, float, float, float>({}, [=](int t) { return MomentumOptions{.learning_rate = warm_up(t), .nesterov = first, .weight_decay = first ? 0.1 : 0.0}; });
        check<D, float, float, float, float>({}, [=](int) { return RmsPropOptions{.momentum = first ? 0.9 : 0.0}; });
        check<D, float, float, float, float, float>({}, [=](int t) { return RmsPropOptions{.learning_rate = warm_up(t), .momentum = first ? 0.9 : 0.0}; });
        check<D, float, float>({}, [=](int t) { return SgdOptions{.learning_rate = warm_up(t), .weight_decay = 0.1, .decoupled = first}; });
        check<D, bfloat16, bfloat16>({.touch = 100}, [=](int) { return SgdOptions{.learning_rate = 0.1, .weight_decay = 0.2, .decoupled = first}; });
        check<D, float, float, float>({}, [=](int t) { return AdaGradOptions{.learning_rate = warm_up(t), .weight_decay = 0.1, .decoupled = first}; });
    }
}

TEMPLATE_TEST_CASE("a deferred optimizer of a device has the bits of the host's", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    std::mt19937 random(4);
    auto param = numbers<float>(random, 6, 4, 8), velocity = numbers<float>(random, 6, 4, 30);
    auto param_there = to_device(D{}, param), velocity_there = to_device(D{}, velocity);
    Deferred<MomentumOptions> on_host(6);
    Deferred<MomentumOptions, D> there(6);
    for (int t = 0; t < 100; ++t) {
        auto const grad = SelectedRows<float>(6, device::some_ids(static_cast<std::size_t>(t % 3), 6, 20, static_cast<unsigned>(t)), numbers<float>(random, static_cast<std::size_t>(t % 3), 4, 20));
        on_host.step(grad, {.learning_rate = warm_up(t)}, param, velocity);
        there.step(to_device(D{}, grad), {.learning_rate = warm_up(t)}, param_there, velocity_there);
        for (std::int64_t row = 0; row < 6; ++row) REQUIRE(on_host.missed(row) == there.missed(row));
    }
    CHECK((same_bits(param_there, param) && same_bits(velocity_there, velocity)));
    on_host.flush(param, velocity);
    there.flush(param_there, velocity_there);
    CHECK((same_bits(param_there, param) && same_bits(velocity_there, velocity)));
}

TEMPLATE_TEST_CASE("rows of a device that miss thousands of steps have the bits of dense updates", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Run const run{.height = 4, .width = 3, .steps = 3000, .touch = 1, .seed = 2};
    check<D, float, float, float, float>(run, [](int t) { return AdamOptions{.beta2 = 0.9, .step = t}; });
    check<D, float, float, float>(run, [](int) { return MomentumOptions{.weight_decay = 0.1}; });
}

TEMPLATE_TEST_CASE("on a device, infinities, NaN, zeros and subnormal numbers go on as in dense updates", "[thrust][deferred][edges]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    float const infinity = std::numeric_limits<float>::infinity();
    auto const edges = [&](std::size_t stride) {
        auto x = Tensor<float>::from_shape({512, 1});
        for (std::size_t row = 0; row < 512; ++row) {
            float const some[] = {0, 0x1p-149F, 0x1p-126F, 1e-3F, 1, infinity, std::nanf(""), 6e4F};
            x(row, 0) = row * 5 / stride % 2 == 0 ? some[row / stride % 8] : -some[row / stride % 8];
        }
        return x;
    };
    for (bool const decays : {false, true}) {
        Both<D, AdamOptions, float, float, float> adam{{edges(1), edges(8), edges(64)}};
        Both<D, MomentumOptions, float, float> momentum{{edges(1), edges(16)}};
        for (int t = 0; t < 100; ++t) {
            adam.step(no_gradient<float>(512, 1), {.step = 1000, .weight_decay = decays ? 0.1 : 0.0, .decoupled = decays});
            momentum.step(no_gradient<float>(512, 1), {.momentum = decays ? 0.5 : 0.9});
        }
        CHECK(adam.same_after_flush());
        CHECK(momentum.same_after_flush());
    }
}

TEST_CASE("a device keeps 65,535 steps at most", "[thrust][deferred]") {
    using D = std::tuple_element_t<0, std::tuple<ROWAN_TEST_DEVICES>>;
    auto param = Tensor<float, D>{{1}, {-3}};
    Tensor<float> dense{{1}, {-3}};
    auto const grad = to_device(D{}, no_gradient<float>(2, 1));
    Deferred<SgdOptions, D> deferred(2);
    for (int t = 0; t < (sanitizers::any ? 3000 : 65'537); ++t) {
        double const rate = t % 16 == 0 ? 0.0001 : 0.0;
        deferred.step(grad, {.learning_rate = rate, .weight_decay = 0.01, .decoupled = true}, param);
        for (float& x : dense) x *= static_cast<float>(1 - rate * 0.01);
        if (t == 65'534) CHECK(deferred.missed(1) == 65'535);
    }
    if (!sanitizers::any) CHECK(deferred.missed(1) == 2);
    deferred.flush(param);
    CHECK(same_bits(param, dense));
}

TEMPLATE_TEST_CASE("a deferred optimizer of a device can be copied, resized and told of new rows", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto param = Tensor<float, D>::full({3, 2}, 1), velocity = Tensor<float, D>::full({3, 2}, 0.5F);
    Deferred<MomentumOptions, D> deferred(3);
    deferred.step(SelectedRows<float, D>(3, {2}, Tensor<float, D>::zeros({1, 2})), {.momentum = 0.5}, param, velocity);
    CHECK_THROWS_AS(deferred.renew({0, 3}), rowan::IndexError);
    CHECK_THROWS_AS(deferred.missed(3), rowan::IndexError);
    CHECK(deferred.missed(0) == 1);
    auto copy = deferred;
    deferred.renew({0});
    CHECK(deferred.missed(0) == 0);
    CHECK(copy.missed(0) == 1);
    deferred.flush(param, velocity);
    CHECK(same_bits(velocity, Tensor<float>{{0.5F, 0.5F}, {0.25F, 0.25F}, {0.25F, 0.25F}}));

    copy.resize(5);
    CHECK(copy.height() == 5);
    CHECK(copy.missed(1) == 1);
    CHECK(copy.missed(4) == 0);
    CHECK_THROWS_AS(copy.flush(param, velocity), ShapeError);
    copy.resize(1);
    param = Tensor<float, D>::full({1, 2}, 1), velocity = Tensor<float, D>::full({1, 2}, 0.5F);
    copy.catch_up(Tensor<std::int32_t, D>{0, 0}, param, velocity);
    CHECK(same_bits(velocity, Tensor<float>{{0.25F, 0.25F}}));
    CHECK(copy.missed(0) == 0);
}

TEMPLATE_TEST_CASE("steps of a device after a bad id are not made", "[thrust][deferred][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Both<D, MomentumOptions, float, float> both{{Tensor<float>{{1, 2}, {3, 4}, {5, 6}}, Tensor<float>{{8, 9}, {1, 2}, {3, -4}}}};
    SelectedRows<float> const grad(3, {1}, {{1, 2}}), none = no_gradient<float>(3, 2);
    MomentumOptions const a{.learning_rate = 0, .momentum = 1}, b{.learning_rate = 0.5};
    for (int t = 0; t < 70; ++t) both.step(none, a);
    SelectedRows<float, D> const bad(3, Tensor<std::int32_t, D>{2, 3}, Tensor<float, D>{{1, 2}, {3, 4}});
    for (int t = 0; t < 40; ++t) both.step_there(bad, b);
    CHECK(late_refusal(D{}) == "rows[1] = 3 is not in [0, 3)");
    CHECK(both.optimizer.missed(0) == 70);
    both.step(grad, b);
    both.catch_up(Tensor<std::int64_t, D>{0, 7});
    both.step_there(to_device(D{}, grad), b);
    both.optimizer.renew(Tensor<std::int64_t, D>{0, 0});
    CHECK(refusal<rowan::IndexError>([&] { std::apply([&](auto&... x) { both.optimizer.flush(x...); }, both.there); }) == "rows[1] = 7 is not in [0, 3)");
    CHECK(both.optimizer.missed(0) == 71);
    both.optimizer.renew(Tensor<std::int64_t, D>{0, -1});
    CHECK(late_refusal(D{}) == "rows[1] = -1 is not in [0, 3)");
    CHECK(both.optimizer.missed(0) == 71);
    for (int t = 0; t < 40; ++t) both.step(none, b);
    CHECK(both.same_after_flush());
    both.step(grad, a);
    CHECK(both.same_after_flush());
}

TEMPLATE_TEST_CASE("a deferred step of a device changes nothing if it throws", "[thrust][deferred][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto param = Tensor<float, D>::full({3, 2}, 1), velocity = Tensor<float, D>::full({3, 2}, 0.5F), other = Tensor<float, D>::zeros({2, 2});
    Deferred<MomentumOptions, D> deferred(3), lower(2);
    SelectedRows<float, D> const grad(3, {1}, Tensor<float, D>{{1, 2}});
    CHECK_THROWS_AS(deferred.step(grad, {.momentum = std::nan("")}, param, velocity), rowan::ValueError);
    CHECK_THROWS_AS(deferred.step(grad, {}, param, other), ShapeError);
    CHECK_THROWS_AS(deferred.step(grad, {}, param, param), rowan::Error);
    CHECK_THROWS_AS(deferred.step(other, {}, param, velocity), ShapeError);
    CHECK_THROWS_AS(deferred.catch_up({3}, param, velocity), rowan::IndexError);
    CHECK_THROWS_AS(deferred.catch_up({2}, other, velocity), ShapeError);
    CHECK(refusal<ShapeError>([&] { lower.step(grad, {}, param, velocity); }) == refusal<ShapeError>([&] {
              auto p = to_host(param), v = to_host(velocity);
              Deferred<MomentumOptions>(2).step(to_host(grad), {}, p, v);
          }));
    CHECK(deferred.missed(0) == 0);
    CHECK(same_bits(param, Tensor<float>::full({3, 2}, 1)));
}

TEMPLATE_TEST_CASE("on a device, tables without rows or without columns have deferred steps", "[thrust][deferred]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const height : std::vector<std::size_t>{0, 2}) {
        CAPTURE(height);
        device::Shape const shape{height, height == 0 ? std::size_t{2} : 0};
        auto param = Tensor<float, D>::zeros(shape), velocity = Tensor<float, D>::zeros(shape);
        Deferred<MomentumOptions, D> deferred(height);
        auto const grad = to_device(D{}, SelectedRows<float>(static_cast<std::int64_t>(height), Rows(height / 2, 1), Tensor<float>::zeros({height / 2, shape[1]})));
        for (int t = 0; t < 3; ++t) deferred.step(grad, {}, param, velocity);
        deferred.catch_up(Rows(height, 1), param, velocity);
        if (height == 2) CHECK(deferred.missed(0) == 3);
        if (height == 2) CHECK(deferred.missed(1) == 0);
        deferred.flush(param, velocity);
        if (height == 2) CHECK(deferred.missed(0) == 0);
        deferred.step(Tensor<float, D>::zeros(shape), {}, param, velocity);
    }
}

}  // namespace test_deferred_on_device
