// tests/sparse/sgd.cpp: gradient descent, with the bits of the serial loop.
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/sgd.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace test_sgd {

using rowan::bfloat16, rowan::Cpu, rowan::float16, rowan::RowPlan, rowan::SelectedRows, rowan::sgd, rowan::Tensor;

namespace {

// Subtracts and stores every contribution, in input order.
template <class P, class G>
void slow_sgd(Tensor<P>& param, SelectedRows<G> const& g, double learning_rate) {
    using S = std::common_type_t<reference::sum_t<P>, reference::sum_t<G>>;
    for (std::size_t i = 0; i < g.value().size(); ++i) {
        P& p = param.data()[static_cast<std::size_t>(g.rows()[i / g.row_size()]) * g.row_size() + i % g.row_size()];
        S const step = reference::product(static_cast<S>(learning_rate), static_cast<S>(rowan::dtype<G>::widen(g.value().data()[i])));
        p = rowan::dtype<P>::narrow(static_cast<reference::sum_t<P>>(static_cast<S>(rowan::dtype<P>::widen(p)) - step));
    }
}

template <class P, class G>
void check_bits() {
    inputs::for_sizes<G>([](SelectedRows<G> const& g) {
        auto const before = inputs::wild<P>(g.shape(), 7);
        auto want = before;
        slow_sgd(want, g, 0.1);
        auto got = before;
        sgd(got, g, 0.1);
        CHECK(reference::same(got, want));
        got = before;
        sgd(Cpu{.threads = 3}, got, g, 0.1);
        CHECK(reference::same(got, want));

        want = before;
        reference::update(g, [](auto x, auto& p) { p -= reference::product(static_cast<decltype(x)>(0.1), x); }, want);
        got = before;
        sgd(RowPlan(g), got, g.value(), 0.1);
        CHECK(reference::same(got, want));
        got = before;
        sgd(Cpu{.threads = 3}, RowPlan(g), got, g.value(), 0.1);
        CHECK(reference::same(got, want));
    });
}

}  // namespace

TEST_CASE("the learning rate times the gradient is subtracted from its rows", "[sgd][golden]") {
    SelectedRows<float> const g(4, {1, 3, 1}, {{1, 2}, {3, 4}, {5, 6}});
    auto param = Tensor<float>::zeros({4, 2});
    sgd(param, g, 0.5);
    CHECK((param == Tensor<float>{{0, 0}, {-3, -4}, {0, 0}, {-1.5F, -2}}));

    auto five = Tensor<float>::full({10, 1}, 5);
    sgd(five, SelectedRows<float>(10, {0, 4, 7}, {{2}, {1}, {4}}), 2);
    CHECK((five(0, 0) == 1 && five(4, 0) == 3 && five(7, 0) == -3 && five(1, 0) == 5));
}

TEST_CASE("sgd has the bits of the serial loop; with a plan, of duplicates summed first", "[sgd]") {
    check_bits<float, float>();
    check_bits<double, double>();
    check_bits<bfloat16, bfloat16>();
    check_bits<float16, float16>();
}

TEST_CASE("the table may have another type than the gradient", "[sgd][mixed]") {
    check_bits<bfloat16, float>();
    check_bits<float16, double>();
    check_bits<float, bfloat16>();
    check_bits<double, float>();
    check_bits<float, std::int32_t>();
}

TEST_CASE("a dense gradient has the same formula for every element", "[sgd]") {
    for (inputs::Shape const& shape : std::initializer_list<inputs::Shape>{{0, 3}, {7}, {1023}, {1025, 1}, {65, 2, 17}, {1000, 300}}) {
        auto const grad = inputs::wild<bfloat16>(shape, 1);
        auto want = inputs::wild<float>(shape, 2);
        auto got = want;
        for (std::size_t i = 0; i < grad.size(); ++i) want.data()[i] -= reference::product(0.1F, float(grad.data()[i]));
        auto threaded = got;
        sgd(got, grad, 0.1);
        sgd(Cpu{.threads = 3}, threaded, grad, 0.1);
        CHECK((reference::same(got, want) && reference::same(threaded, want)));
    }
}

TEST_CASE("a gradient with no rows, or a rate of 0, changes nothing", "[sgd][golden]") {
    auto const before = inputs::wild<float>({4, 2}, 1);
    auto param = before;
    sgd(param, SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 2})), 0.5);
    sgd(param, inputs::gradient<float>(4, 9, {2}, 1), 0);
    CHECK(reference::same(param, before));
}

TEST_CASE("a sparse step equals the dense step, if sums are exact", "[sgd][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<float>(6, 2);
        auto const before = rowan::to_dense(inputs::arbitrary_gradient<float>(6, 2));
        auto const after = [&](auto const& grad) {
            auto param = before;
            sgd(param, grad, 0.25);
            return param;
        };
        RC_ASSERT(after(g) == after(rowan::to_dense(g)));
        RC_ASSERT(after(g) == after(rowan::merge(g)));
    }));
}

TEST_CASE("a weight decay of SGD has PyTorch's values, and is of the touched rows", "[sgd][golden]") {
    // torch.optim.SGD in double with lr=0.1, weight_decay=0.1: 1 and -2 with gradients 0.5 and 1, two steps
    SelectedRows<double> const grad(3, {0, 2, 2}, {{0.5}, {0.25}, {0.75}});
    for (bool const decoupled : {false, true}) {
        Tensor<double> p{{1}, {7}, {-2}};
        for (int step = 0; step < 2; ++step) sgd(p, grad, {.learning_rate = 0.1, .weight_decay = 0.1, .decoupled = decoupled});
        CHECK((std::abs(p(0, 0) - 0.8806) < 1e-15 && p(1, 0) == 7 && std::abs(p(2, 0) + 2.1592) < 1e-15));
        auto dense = p;
        sgd(dense, to_dense(grad), {.learning_rate = 0.1, .weight_decay = 0.1, .decoupled = decoupled});
        CHECK(std::abs(dense(1, 0) - 6.93) < 1e-15);
    }
}

TEST_CASE("options without a decay are the learning rate; with one, a plan is the step of its gradient", "[sgd]") {
    inputs::for_sizes<float>([](SelectedRows<float> const& g) {
        auto const before = inputs::wild<float>(g.shape(), 7);
        auto const after = [&](auto const& step) {
            auto param = before;
            step(param);
            return param;
        };
        rowan::SgdOptions options{.learning_rate = 0.1, .decoupled = true};
        CHECK(reference::same(after([&](auto& p) { sgd(p, g, options); }), after([&](auto& p) { slow_sgd(p, g, 0.1); })));
        RowPlan const plan(g);
        CHECK(reference::same(after([&](auto& p) { sgd(plan, p, g.value(), options); }), after([&](auto& p) { sgd(plan, p, g.value(), 0.1); })));
        options.weight_decay = 0.5;
        for (bool const decoupled : {false, true}) {
            options.decoupled = decoupled;
            auto want = before;
            reference::update(g, [&](float x, float& p) {
                if (decoupled) {
                    p = reference::product(static_cast<float>(1 - reference::product(0.1, 0.5)), p);
                } else {
                    x += reference::product(0.5F, p);
                }
                p -= reference::product(0.1F, x);
            }, want);
            CHECK(reference::same(after([&](auto& p) { sgd(p, g, options); }), want));
            CHECK(reference::same(after([&](auto& p) { sgd(plan, p, g.value(), options); }), want));
        }
    });
}

}  // namespace test_sgd
