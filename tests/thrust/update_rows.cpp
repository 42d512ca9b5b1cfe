// tests/thrust/update_rows.cpp: rules on a device, and their errors.
#include <rowan/sparse.hpp>
#include <rowan/thrust/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/sparse/sgd.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include "devices.hpp"

#include <cmath>
#include <limits>

namespace test_update_rows {

using device::late_refusal, device::refusal, device::State;
using rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host, rowan::update_rows;

namespace {

/// A user's rule: p -= the mean gradient; a state of another width counts updates and sums.
struct count_rule {
    ROWAN_NO_EXEC_CHECK  // on the host, rows are std::span
    template <class G, class P, class S>
    ROWAN_HD void operator()(G g, P p, S seen) const {
        float sum = 0;
        for (std::size_t i = 0; i < g.size(); ++i) sum = sum + g[i];
        for (auto& x : p) x = x - sum / static_cast<float>(g.size());
        seen[0] += 1;
        seen[1] += sum;
    }
};

/// A user's formula: AdaGrad.
struct own_adagrad {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD void operator()(V const& g, V& p, V& m) const {
        namespace lane = rowan::lane;
        m = m + lane::product(g, g);
        V const root = lane::square_root(m) + lane::constant<V>(1e-6);
        p = p - lane::quotient(lane::product(lane::constant<V>(0.1), g), root);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("a user's formula has the bits of the built-in optimizer on a device", "[thrust][lane_rule]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    rowan::LaneRule const rule{own_adagrad{}};
    for (std::size_t const width : std::vector<std::size_t>{1, 3, 64}) {
        CAPTURE(width);
        auto const g = device::gradient<float>(4097, 200, width, 30, 5);
        State<D, float> p({200, width}, 1), m({200, width}, 2);
        rowan::adagrad(p.host, m.host, g, {.learning_rate = 0.1});
        update_rows(to_device(D{}, g), rule, p.on_device, m.on_device);
        CHECK((p.same() && m.same()));
        auto const dense = device::filled<float>({200, width}, 6);
        rowan::adagrad(p.host, m.host, dense, {.learning_rate = 0.1});
        update_rows(to_device(D{}, dense), rule, p.on_device, m.on_device);
        CHECK((p.same() && m.same()));
    }
    auto p = Tensor<float, D>::zeros({4, 2}), narrow = Tensor<float, D>::zeros({4});
    CHECK_THROWS_AS(update_rows(Tensor<float, D>::zeros({4, 2}), rule, p, narrow), ShapeError);
}

TEMPLATE_TEST_CASE("a rule of a user's runs on a device, with states of other widths", "[thrust][update_rows]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 65, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{1, 3, 4}) {
            CAPTURE(n, width);
            auto const g = device::gradient<rowan::float16>(n, 200, width, 30, 5);
            State<D, float> p({200, width}, 1), seen({200, 2}, 2);
            update_rows(g, count_rule{}, p.host, seen.host);
            update_rows(to_device(D{}, g), count_rule{}, p.on_device, seen.on_device);
            CHECK((p.same() && seen.same()));
            update_rows(RowPlan<>(g), g.value(), count_rule{}, p.host, seen.host);
            update_rows(D{}, RowPlan<D>(to_device(D{}, g)), to_device(D{}, g.value()), count_rule{}, p.on_device, seen.on_device);
            CHECK((p.same() && seen.same()));
            auto const dense = device::filled<rowan::float16>({200, width}, 6);
            update_rows(dense, count_rule{}, p.host, seen.host);
            update_rows(to_device(D{}, dense), count_rule{}, p.on_device, seen.on_device);
            CHECK((p.same() && seen.same()));
        }
    }
}

TEMPLATE_TEST_CASE("on a device, a dense gradient can be the tensor that is updated", "[thrust][update_rows]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    State<D, float> p({70, 3}, 1), m({70, 3}, 2);
    rowan::adagrad(p.host, m.host, p.host);
    rowan::adagrad(p.on_device, m.on_device, p.on_device);
    CHECK((p.same() && m.same()));
}

TEMPLATE_TEST_CASE("an optimizer on a device changes nothing if it throws", "[thrust][optimizers][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    State<D, float> p({3, 2}, 1), m({3, 2}, 2);
    SelectedRows<float, D> const g(3, {2, 0}, {{1, 2}, {3, 4}});
    auto& param = p.on_device;
    auto& moment = m.on_device;
    auto rows = Tensor<float, D>::zeros({2, 2});
    CHECK_THROWS_AS(rowan::sgd(param, g, std::nan("")), rowan::ValueError);
    CHECK_THROWS_AS(rowan::sgd(param, Tensor<float, D>::zeros({3, 2}), std::numeric_limits<double>::infinity()), rowan::ValueError);
    CHECK_THROWS_AS(rowan::adagrad(param, moment, g, {.epsilon = std::nan("")}), rowan::ValueError);
    CHECK_THROWS_AS(rowan::sgd(rows, g, 0.1), ShapeError);
    CHECK_THROWS_AS(rowan::adagrad(param, rows, g), ShapeError);
    CHECK_THROWS_AS(rowan::rowwise_adagrad(param, moment, g), ShapeError);
    CHECK_THROWS_AS(rowan::adagrad(param, moment, rows), ShapeError);
    CHECK_THROWS_AS(rowan::adagrad(RowPlan<D>(g), param, moment, Tensor<float, D>::zeros({3, 2})), ShapeError);
    CHECK(refusal<rowan::Error>([&] { rowan::adagrad(param, param, g); }) == "param shares memory with state 0");
    SelectedRows<float, D> const own(3, {2, 0}, param.slice(0, 2));
    CHECK(refusal<rowan::Error>([&] { rowan::sgd(param, own, 0.1); }) == "param shares memory with the gradient's value");
    CHECK(late_refusal(D{}) == "nothing was thrown");

    SelectedRows<float, D> const bad(3, Tensor<std::int32_t, D>{2, 3}, Tensor<float, D>{{1, 2}, {3, 4}});
    rowan::adagrad(param, moment, bad);
    rowan::adagrad(param, moment, g);
    rowan::sgd(param, Tensor<float, D>::full({3, 2}, 2), 0.25);
    update_rows(g, count_rule{}, param, moment);
    CHECK(late_refusal(D{}) == "rows[1] = 3 is not in [0, 3)");
    CHECK((p.same() && m.same()));
    RowPlan<D> const plan(Tensor<std::int64_t, D>{0, -1}, 3);
    rowan::sgd(plan, param, g.value(), 0.5);
    CHECK(late_refusal(D{}) == "rows[1] = -1 is not in [0, 3)");
    CHECK((p.same() && m.same()));
    rowan::sgd(p.host, to_host(g), 0.5);
    rowan::sgd(param, g, 0.5);
    CHECK(p.same());
}

}  // namespace test_update_rows
