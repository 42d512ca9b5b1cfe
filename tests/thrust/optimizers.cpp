// tests/thrust/optimizers.cpp: the optimizers of rowan/sparse on a device.
#include <rowan/sparse.hpp>
#include <rowan/thrust/sparse/lamb.hpp>
#include <rowan/thrust/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/sparse/sgd.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include "devices.hpp"

#include <string>
#include <type_traits>

namespace test_optimizers {

using device::same_bits, device::State;
using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor, rowan::to_device;

namespace {

/// Compares step(exec, param, states, gradient…) on device and host, with a sparse gradient, a plan and a dense one.
template <class D, class P, class G, class Sparse, class Planned>
void check_optimizer(device::Shape const& state_shape, std::size_t n, std::size_t width, unsigned hot, Sparse const& sparse,
                     Planned const& planned) {
    std::int64_t const height = 200;
    auto const g = device::gradient<G>(n, height, width, hot, 5);
    auto const on_device = to_device(D{}, g);
    State<D, P> p({200, width}, 1), a(state_shape, 2), b(state_shape, 3), c(state_shape, 4);
    auto const same = [&] { return p.same() && a.same() && b.same() && c.same(); };
    planned(Cpu{}, RowPlan<>(g), p.host, a.host, b.host, c.host, g.value());
    planned(D{}, RowPlan<D>(on_device), p.on_device, a.on_device, b.on_device, c.on_device, on_device.value());
    CHECK(same());
    if (n < 1000 && hot == 50) {
        auto const dense = device::filled<G>({200, width}, 6);
        sparse(Cpu{}, p.host, a.host, b.host, c.host, dense);
        sparse(D{}, p.on_device, a.on_device, b.on_device, c.on_device, to_device(D{}, dense));
        CHECK(same());
        auto const merged = merge(g);  // the host's sgd adds duplicates one by one
        sparse(Cpu{}, p.host, a.host, b.host, c.host, merged);
        sparse(D{}, p.on_device, a.on_device, b.on_device, c.on_device, to_device(D{}, merged));
        CHECK(same());
        sparse(D{}, p.on_device, a.on_device, b.on_device, c.on_device, on_device);
        planned(Cpu{}, RowPlan<>(g), p.host, a.host, b.host, c.host, g.value());
        CHECK(same());
    }
}

template <class D, class P, class G>
void check_optimizers(std::size_t n, std::size_t width, unsigned hot) {
    CAPTURE(n, width, hot);
    auto const check = [&](char const* name, auto const& sparse, auto const& planned) {
        CAPTURE(name);
        device::Shape shape{200, width};
        if (std::string(name) == "rowwise_adagrad") shape = {200};
        check_optimizer<D, P, G>(shape, n, width, hot, sparse, planned);
    };
    check("sgd", [](auto e, auto& p, auto&, auto&, auto&, auto const& g) { rowan::sgd(e, p, g, 0.5); },
          [](auto e, auto const& plan, auto& p, auto&, auto&, auto&, auto const& v) { rowan::sgd(e, plan, p, v, 0.5); });
    check("adagrad", [](auto e, auto& p, auto& a, auto&, auto&, auto const& g) { rowan::adagrad(e, p, a, g); },
          [](auto e, auto const& plan, auto& p, auto& a, auto&, auto&, auto const& v) { rowan::adagrad(e, plan, p, a, v); });
    check("rowwise_adagrad", [](auto e, auto& p, auto& a, auto&, auto&, auto const& g) { rowan::rowwise_adagrad(e, p, a, g); },
          [](auto e, auto const& plan, auto& p, auto& a, auto&, auto&, auto const& v) { rowan::rowwise_adagrad(e, plan, p, a, v); });
    if (n == 129) {
        for (bool const decoupled : {false, true}) {
            rowan::AdaGradOptions const decay{.weight_decay = 0.25, .decoupled = decoupled};
            check("rowwise_adagrad", [=](auto e, auto& p, auto& a, auto&, auto&, auto const& g) { rowan::rowwise_adagrad(e, p, a, g, decay); },
                  [=](auto e, auto const& plan, auto& p, auto& a, auto&, auto&, auto const& v) { rowan::rowwise_adagrad(e, plan, p, a, v, decay); });
            check("adagrad", [=](auto e, auto& p, auto& a, auto&, auto&, auto const& g) { rowan::adagrad(e, p, a, g, decay); },
                  [=](auto e, auto const& plan, auto& p, auto& a, auto&, auto&, auto const& v) { rowan::adagrad(e, plan, p, a, v, decay); });
            check("sgd", [=](auto e, auto& p, auto&, auto&, auto&, auto const& g) { rowan::sgd(e, p, g, {.learning_rate = 0.5, .weight_decay = 0.25, .decoupled = decoupled}); },
                  [=](auto e, auto const& plan, auto& p, auto&, auto&, auto&, auto const& v) { rowan::sgd(e, plan, p, v, {.learning_rate = 0.5, .weight_decay = 0.25, .decoupled = decoupled}); });
        }
    }
    if constexpr (std::is_same_v<P, float>) {  // the others differ in their formulas only
        check("momentum", [](auto e, auto& p, auto& a, auto&, auto&, auto const& g) { rowan::momentum(e, p, a, g, {.nesterov = true}); },
              [](auto e, auto const& plan, auto& p, auto& a, auto&, auto&, auto const& v) { rowan::momentum(e, plan, p, a, v, {.nesterov = true}); });
        check("adam", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::adam(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::adam(e, plan, p, a, b, v); });
        check("adamax", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::adamax(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::adamax(e, plan, p, a, b, v); });
        check("adadelta", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::adadelta(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::adadelta(e, plan, p, a, b, v); });
        check("lamb", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::lamb(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::lamb(e, plan, p, a, b, v); });
        check("rmsprop", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::rmsprop(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::rmsprop(e, plan, p, a, b, v); });
        check("centered rmsprop", [](auto e, auto& p, auto& a, auto& b, auto& c, auto const& g) { rowan::rmsprop(e, p, a, b, c, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto& c, auto const& v) { rowan::rmsprop(e, plan, p, a, b, c, v); });
        check("ftrl", [](auto e, auto& p, auto& a, auto& b, auto&, auto const& g) { rowan::ftrl(e, p, a, b, g); },
              [](auto e, auto const& plan, auto& p, auto& a, auto& b, auto&, auto const& v) { rowan::ftrl(e, plan, p, a, b, v); });
    }
}

template <class D, class P, class G>
void check_at_sizes() {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 64, 65, 129}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 3, 4, 16, 20}) check_optimizers<D, P, G>(n, width, 50);
    }
    check_optimizers<D, P, G>(4097, 4, 80);
}

}  // namespace

TEMPLATE_TEST_CASE("sgd and adagrad on a device, step by step", "[thrust][sgd][adagrad][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto p = Tensor<float, D>::full({3, 2}, 1);
    SelectedRows<float, D> const g(3, {2, 0, 2}, {{1, 2}, {3, 4}, {1, 2}});
    rowan::sgd(p, g, 0.5);
    CHECK(same_bits(p, Tensor<float>{{-0.5F, -1}, {1, 1}, {0, -1}}));
    rowan::sgd(D{}, p, Tensor<float, D>::full({3, 2}, 2), 0.25);
    CHECK(same_bits(p, Tensor<float>{{-1, -1.5F}, {0.5F, 0.5F}, {-0.5F, -1.5F}}));
    auto m = Tensor<float, D>::zeros({3, 2});
    rowan::adagrad(p, m, SelectedRows<float, D>(3, {1, 1}, {{1, 2}, {2, 2}}), {.learning_rate = 1, .epsilon = 0});
    CHECK(same_bits(m, Tensor<float>{{0, 0}, {9, 16}, {0, 0}}));
    CHECK(same_bits(p, Tensor<float>{{-1, -1.5F}, {-0.5F, -0.5F}, {-0.5F, -1.5F}}));
}

TEMPLATE_TEST_CASE("optimizers on a device give the bits of Cpu", "[thrust][optimizers]", ROWAN_TEST_DEVICES) {
    check_at_sizes<TestType, float, float>();
}

TEMPLATE_TEST_CASE("optimizers on a device give the bits of Cpu for double and 16-bit tables", "[thrust][optimizers]", ROWAN_TEST_DEVICES) {
    check_optimizers<TestType, double, double>(129, 4, 50);
    check_optimizers<TestType, double, double>(70, 3, 50);
    check_optimizers<TestType, rowan::bfloat16, float>(129, 4, 50);
    check_optimizers<TestType, rowan::bfloat16, float>(70, 3, 50);
}

TEMPLATE_TEST_CASE("adagrad on a device supports a row with very many lookups", "[thrust][adagrad]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const g = device::gradient<float>(100'000, 100, 3, 98, 5);
    State<D, float> p({100, 3}, 1), m({100, 3}, 2);
    rowan::adagrad(p.host, m.host, g);
    rowan::adagrad(p.on_device, m.on_device, to_device(D{}, g));
    CHECK((p.same() && m.same()));
}

}  // namespace test_optimizers
