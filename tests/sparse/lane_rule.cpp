// tests/sparse/lane_rule.cpp: a user's formula has the bits of the built-in optimizers.
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/lane_rule.hpp>
#include <rowan/sparse/sgd.hpp>

#include "inputs.hpp"
#include "refused.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace test_lane_rule {

using rowan::bfloat16, rowan::Cpu, rowan::LaneRule, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor, rowan::update_rows;
namespace lane = rowan::lane;

namespace {

struct own_sgd {
    template <class V>
    void operator()(V const& g, V& p) const {
        p = p - lane::product(lane::constant<V>(0.1), g);
    }
};

struct own_adagrad {
    double rate, epsilon;
    template <class V>
    void operator()(V const& g, V& p, V& m) const {
        m = m + lane::product(g, g);
        p = p - lane::quotient(lane::product(lane::constant<V>(rate), g), V(lane::square_root(m) + lane::constant<V>(epsilon)));
    }
};

/// An own rule that begins as a LaneRule.
struct counted_sgd : LaneRule<own_sgd> {
    std::atomic<int>* calls;
    void operator()(std::span<float const> g, std::span<float> p) const {
        ++*calls;
        LaneRule::operator()(g, p);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("an own SGD and AdaGrad have the bits of the built-in ones", "[lane_rule]", float, double, bfloat16) {
    using S = typename rowan::dtype<TestType>::sum;
    auto const g = inputs::gradient<TestType>(500, 3000, {37}, 1);
    auto const dense = inputs::gradient<TestType>(500, 500, {37}, 2).value();
    RowPlan const plan(g);
    for (int const threads : {1, 2, 8}) {
        Cpu const exec{.threads = threads};
        auto p = inputs::gradient<TestType>(500, 500, {37}, 3).value(), own_p = p;
        auto m = Tensor<S>::zeros({500, 37}), own_m = m;
        rowan::adagrad(exec, p, m, g, {.learning_rate = 0.1, .epsilon = 1e-6});
        update_rows(exec, g, LaneRule{own_adagrad{0.1, 1e-6}}, own_p, own_m);
        CHECK((p == own_p && m == own_m));
        rowan::adagrad(exec, p, m, dense, {.learning_rate = 0.2, .epsilon = 1e-6});
        update_rows(exec, dense, LaneRule{own_adagrad{0.2, 1e-6}}, own_p, own_m);
        CHECK((p == own_p && m == own_m));
        rowan::sgd(exec, plan, p, g.value(), 0.1);
        update_rows(exec, plan, g.value(), LaneRule{own_sgd{}}, own_p);
        CHECK(p == own_p);
    }
}

TEST_CASE("a rule that derives from LaneRule is called itself", "[lane_rule]") {
    auto p = Tensor<float>::zeros({4, 3});
    std::atomic<int> calls = 0;
    update_rows(inputs::gradient<float>(4, 4, {3}, 1), counted_sgd{{own_sgd{}}, &calls}, p);
    CHECK(calls > 0);
}

TEST_CASE("a formula selects by comparison, as a lambda too", "[lane_rule]") {
    auto p = Tensor<double>::zeros({3, 21});
    Tensor<double> g = p;
    for (std::size_t i = 0; i < g.size(); ++i) g.data()[i] = static_cast<double>(i % 3) - 1;
    auto const sign = []<class V>(V const& x, V& y) {
        V const zero = lane::constant<V>(0), one = lane::constant<V>(1);
        y = lane::choose(x > zero, one, lane::choose(x < zero, zero - one, zero));
    };
    update_rows(g, LaneRule{sign}, p);
    CHECK(p == g);
}

TEST_CASE("a formula needs states of the shape of param", "[lane_rule][bad_input]") {
    SelectedRows<float> const g(4, {3, 1}, {{1, 2}, {3, 4}});
    auto p = Tensor<float>::zeros({4, 2}), narrow = Tensor<float>::zeros({4});
    LaneRule const rule{own_adagrad{0.1, 1e-6}};
    CHECK_THROWS_WITH(update_rows(g, rule, p, narrow), "state 0.shape() is [4], expected [4, 2], the shape of param");
    CHECK_THROWS_AS(update_rows(RowPlan(g), g.value(), rule, p, narrow), rowan::ShapeError);
    CHECK_THROWS_AS(update_rows(Tensor<float>::full({4, 2}, 1), rule, p, narrow), rowan::ShapeError);
    CHECK((p == Tensor<float>::zeros({4, 2}) && narrow == Tensor<float>::zeros({4})));
}

}  // namespace test_lane_rule
