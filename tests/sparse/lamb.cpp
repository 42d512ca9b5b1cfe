// tests/sparse/lamb.cpp: LAMB, whose steps have the norm of the parameter, with gradients that are dense or stand for dense ones.
#include <rowan/sparse/lamb.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

namespace test_lamb {

using reference::product;
using rowan::bfloat16, rowan::Cpu, rowan::lamb, rowan::LambOptions, rowan::SelectedRows, rowan::Tensor;

namespace {

/// lamb of a dense gradient, one element after the other, in type S.
template <class S, class P, class M, class V, class G>
void slow(Tensor<P>& param, Tensor<M>& moment1, Tensor<V>& moment2, Tensor<G> const& grad, LambOptions const& o) {
    auto const wide = [](auto x) { return static_cast<S>(rowan::dtype<decltype(x)>::widen(x)); };
    auto const set = []<class T>(T& to, S x) { to = rowan::dtype<T>::narrow(static_cast<reference::sum_t<T>>(x)); };
    auto r = Tensor<S>::from_shape(param.shape());
    double power1 = 1, power2 = 1;
    for (int t = 0; t < o.step; ++t) power1 *= o.beta1, power2 *= o.beta2;
    double const before = std::sqrt(static_cast<double>(rowan::squared_norm(param)));
    for (std::size_t i = 0; i < r.size(); ++i) {
        S const g = wide(grad.data()[i]);
        S const m = product(S(o.beta1), wide(moment1.data()[i])) + product(S(1 - o.beta1), g);
        S const v = product(S(o.beta2), wide(moment2.data()[i])) + product(S(1 - o.beta2), product(g, g));
        S const root = std::sqrt(v / S(1 - power2)) + S(o.epsilon);
        r.data()[i] = m / S(1 - power1) / root + product(S(o.weight_decay), wide(param.data()[i]));
        set(moment1.data()[i], m);
        set(moment2.data()[i], v);
    }
    double const of_r = std::sqrt(static_cast<double>(rowan::squared_norm(r)));
    double const rate = o.learning_rate * (before == 0 || of_r == 0 ? 1 : before / of_r);
    for (std::size_t i = 0; i < r.size(); ++i) set(param.data()[i], wide(param.data()[i]) - product(S(rate), r.data()[i]));
}

constexpr LambOptions options{.learning_rate = 0.5, .beta1 = 0.75, .beta2 = 0.5, .epsilon = 1e-2, .step = 2, .weight_decay = 0.1};

/// All forms of a call must have the bits of `slow`.
template <class P, class M, class V, class G>
void check() {
    using S = std::common_type_t<reference::sum_t<P>, reference::sum_t<M>, reference::sum_t<V>, reference::sum_t<G>>;
    inputs::for_sizes<G>([&](SelectedRows<G> const& g) {
        std::tuple const start{inputs::wild<P>(g.shape(), 1), inputs::state<M>(g.shape(), 2), inputs::state<V>(g.shape(), 3)};
        auto const after = [&](auto const& call) { return reference::after(call, start); };
        auto const dense = inputs::wild<G>(g.shape(), 4);
        auto const of_dense = after([&](auto&... t) { slow<S>(t..., dense, options); });
        CHECK(reference::same(of_dense, after([&](auto&... t) { lamb(t..., dense, options); })));
        CHECK(reference::same(of_dense, after([&](auto&... t) { lamb(Cpu{.threads = 3}, t..., dense, options); })));
        rowan::RowPlan const plan(g);
        auto value = Tensor<reference::sum_t<G>>::from_shape(g.value().shape());
        for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = rowan::dtype<G>::widen(g.value().data()[i]);
        auto const sums = rowan::to_dense(SelectedRows<reference::sum_t<G>>(g.height(), g.rows(), value));
        auto const of_rows = after([&](auto&... t) { slow<S>(t..., sums, options); });
        CHECK(reference::same(of_rows, after([&](auto&... t) { lamb(t..., g, options); })));
        CHECK(reference::same(of_rows, after([&](auto&... t) { lamb(Cpu{.threads = 2}, plan, t..., g.value(), options); })));
    });
}

}  // namespace

TEST_CASE("four steps of lamb are those of a program in Python", "[lamb][golden]") {
    Tensor<double> const grads{{1, -2, 0.001}, {0.5, 0.25, -30}, {-0.125, 4, 0}, {0, -1, 7}};
    Tensor<double> const m{{0.10214999999999998, 0.13445, -1.7299270999999994}}, v{{0.001262112624000001, 0.02103438705850002, 0.9472009009970038}};
    auto const check = [&](LambOptions o, Tensor<double> const& p) {
        Tensor<double> param{{1, -0.5, 0.25}}, moment1 = Tensor<double>::zeros({1, 3}), moment2 = moment1;
        for (o.step = 1; o.step <= 4; ++o.step) {
            auto const t = static_cast<std::size_t>(o.step);
            lamb(param, moment1, moment2, grads.slice(t - 1, t), o);
        }
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(std::abs(param(0, i) - p(0, i)) < 1e-14);
            CHECK(std::abs(moment1(0, i) - m(0, i)) < 1e-14);
            CHECK(std::abs(moment2(0, i) - v(0, i)) < 1e-14);
        }
    };
    check({}, {{0.9967843181165271, -0.4995773269340072, 0.25124324469137915}});
    check({.learning_rate = 0.1, .weight_decay = 0.25}, {{0.682364294820479, -0.42188751015191095, 0.3151258441993393}});
}

TEST_CASE("lamb has the bits of its formula; a row-sparse gradient is the dense one with zeros", "[lamb]") {
    check<float, float, float, float>();
    check<double, double, double, double>();
}

TEST_CASE("table, moments and gradient of lamb may differ in type", "[lamb][mixed]") {
    check<bfloat16, float, float, bfloat16>();
    check<float, rowan::float16, double, bfloat16>();
}

TEMPLATE_TEST_CASE("lamb takes parameters of every size: a power of two in param is one in the step", "[lamb]", float, double) {
    using T = TestType;
    auto const g = inputs::wild<T>({7, 9}, 1), p = inputs::wild<T>({7, 9}, 2), m = inputs::state<T>({7, 9}, 3);
    auto const after = [&](int of_param, int of_epsilon, double rate) {  // with a large epsilon, the direction is m / epsilon
        auto param = p, moment1 = m, moment2 = m;
        for (T& x : param) x = std::ldexp(x, of_param);
        lamb(param, moment1, moment2, g, {.learning_rate = rate, .epsilon = std::ldexp(1.0, of_epsilon), .step = 5, .weight_decay = 0});
        for (T& x : param) x = std::ldexp(x, -of_param);
        return param;
    };
    int const far = std::is_same_v<T, float> ? 86 : 960, most = std::is_same_v<T, float> ? 95 : 980, e = std::is_same_v<T, float> ? 60 : 80;
    auto const want = after(0, e, 0.5);
    CHECK(!reference::same(want, p));
    for (int const size : {-far, -far + 20, -40, 40, far, most}) CHECK(reference::same(after(size, e, 0.5), want));
    for (int const epsilon : {e + 5, far}) {
        for (int const size : {-far, 0, 40, most}) {  // rates that are no normal numbers of T, and others
            CAPTURE(size, epsilon);
            CHECK(reference::same(after(size, epsilon, 0.5), want));
        }
    }
}

TEMPLATE_TEST_CASE("lamb takes directions that are greater than a root", "[lamb]", float, double) {
    using T = TestType;
    bool const single = std::is_same_v<T, float>;
    auto const after = [&](int up, int down, int size) {  // r = m / √v = 2^(up + down)
        auto param = Tensor<T>::full({5, 3}, std::ldexp(T(1), size)), moment1 = Tensor<T>::full({5, 3}, std::ldexp(T(1), up));
        auto moment2 = Tensor<T>::full({5, 3}, std::ldexp(T(1), -2 * down));
        lamb(param, moment1, moment2, Tensor<T>::zeros({5, 3}),
             {.learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 0, .step = 1 << 20, .weight_decay = 0});
        return std::ldexp(param(4, 2), -size);
    };
    int const up = single ? 100 : 1000, down = single ? 24 : 20;
    for (int const size : {-up, 0, up}) CHECK(std::abs(after(up, down, size) - T(0.75)) < std::numeric_limits<T>::epsilon());
    CHECK(std::abs(after(-up, -down, up) - T(0.75)) < std::numeric_limits<T>::epsilon());
}

TEST_CASE("the largest and smallest numbers in lamb", "[lamb]") {
    auto const step = [](float p, float m) {
        auto param = Tensor<float>::full({4, 1}, p), moment1 = Tensor<float>::full({4, 1}, m), moment2 = Tensor<float>::full({4, 1}, 1);
        lamb(param, moment1, moment2, Tensor<float>::zeros({4, 1}), {.learning_rate = 1, .step = 1 << 20, .weight_decay = 0});
        return param(3, 0);
    };
    float const most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
    CHECK(std::abs(step(most, 1)) < most * 1e-6F);
    CHECK(std::abs(step(most, 16 * least)) < most * 1e-6F);
    CHECK(std::abs(step(-most, -most)) < most * 1e-6F);
    CHECK(step(least, 1) == 0);
    CHECK(step(least, most) == 0);
    CHECK(step(16 * least, 16 * least) == 0);
}

TEST_CASE("the ratio of lamb is 1 if a norm is 0, and NaN and infinity remain", "[lamb]") {
    auto const after = [](float p, float g, double decay) {
        Tensor<float> param{{p, p}}, moment1{{0, 0}}, moment2{{0, 0}};
        lamb(param, moment1, moment2, Tensor<float>{{g, 1}}, {.learning_rate = 0.5, .epsilon = 0, .weight_decay = decay});
        return param;
    };
    CHECK(after(0, 1, 0.01) == Tensor<float>{{-0.5F, -0.5F}});
    CHECK(after(4, 1, 0) == Tensor<float>{{2, 2}});
    Tensor<float> param{{3, 4}}, moment1{{0, 0}}, moment2{{0, 0}};
    lamb(param, moment1, moment2, Tensor<float>{{0, 0}}, {.learning_rate = 0.5, .weight_decay = 0});
    CHECK(param == Tensor<float>{{3, 4}});
    lamb(param, moment1, moment2, Tensor<float>{{0, 0}}, {.learning_rate = 0.5, .weight_decay = 0.25});
    CHECK(param == Tensor<float>{{1.5F, 2}});
    float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (auto const& result : {after(1, nan, 0.01), after(nan, 1, 0), after(1, inf, 0)}) CHECK((std::isnan(result(0, 0)) && std::isnan(result(0, 1))));
}

TEST_CASE("all rows move and all moments decay by a row-sparse gradient in lamb", "[lamb]") {
    Tensor<float> param{{1}, {2}}, moment1{{1}, {1}}, moment2{{1}, {1}};
    lamb(param, moment1, moment2, SelectedRows<float>(2, {}, Tensor<float>::from_shape({0, 1})), {.beta1 = 0.5, .beta2 = 0.75});
    CHECK((moment1 == Tensor<float>{{0.5F}, {0.5F}} && moment2 == Tensor<float>{{0.75F}, {0.75F}}));
    CHECK((param(0, 0) < 1 && param(1, 0) < 2));
}

TEST_CASE("lamb of no elements does nothing, after its checks", "[lamb]") {
    for (std::vector<std::size_t> const& shape : {std::vector<std::size_t>{0, 3}, {2, 0}}) {
        auto param = Tensor<float>::zeros({shape[0], shape[1]}), moment1 = param, moment2 = param;
        Tensor<float> const value = param;
        SelectedRows<float> const g(static_cast<std::int64_t>(shape[0]), {}, Tensor<float>::zeros({0, shape[1]}));
        lamb(param, moment1, moment2, value);
        lamb(param, moment1, moment2, g);
        lamb(rowan::RowPlan(g), param, moment1, moment2, g.value());
        CHECK(param == value);
        CHECK_THROWS_AS(lamb(param, moment1, moment2, value, {.beta1 = 1}), rowan::ValueError);
        CHECK_THROWS_AS(lamb(Cpu{.threads = -1}, param, moment1, moment2, g), rowan::ValueError);
    }
}

}  // namespace test_lamb
