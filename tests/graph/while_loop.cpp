// tests/graph/while_loop.cpp
#include <rowan/graph/while_loop.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/while_loop.hpp>
#include <rowan/own_operator.hpp>

#include <cstdint>
#include <string>
#include <tuple>

namespace test_while_loop {

namespace {

using namespace test;

using Index = layer::Var<std::int64_t>;
using Number = layer::Var<double>;

Index counter() { return layer::full<std::int64_t>({1}, 0); }

/// Runs the net of v, whose parameters have values.
Tensor<double> value(Number const& v) {
    Net<>::trace_and_build(*v).run(v->scope());
    return v->value().get<LoDTensor<double>>().value();
}

}  // namespace

TEST_CASE("the state of a loop without iterations is the first one", "[while_loop]") {
    DefaultScope scope;
    auto const x = parameter({1}, 5);
    auto const y = layer::while_loop(
        x, [](auto const& v) { return layer::greater(v, 1e9); }, [](auto const& v) { return layer::scale(v, 2); });
    check_net(y);
}

TEST_CASE("gradients through a loop equal finite differences", "[while_loop]") {
    DefaultScope scope;
    auto const w = parameter({3, 3}, 1), b = parameter({3}, 2), first = parameter({2, 3}, 3);
    SECTION("of what is read in every iteration, and of the first state") {
        auto const [i, y] = layer::while_loop(
            std::tuple(counter(), first), [](auto const& k, auto const&) { return layer::less(k, 4); },
            [&](auto const& k, auto const& v) {
                return std::tuple(layer::scale(k, 1, 1), layer::tanh(layer::apply<fc_op>({}, v, w, b)));
            });
        check_net(layer::mse(y, parameter({2, 3}, 4)));
    }
    SECTION("of states that change places, and one that stays") {
        auto const [i, u, v, z] = layer::while_loop(
            std::tuple(counter(), first, parameter({2, 3}, 5), parameter({2, 3}, 6)),
            [](auto const& k, auto const&...) { return layer::less(k, 3); },
            [&](auto const& k, auto const& p, auto const& q, auto const& r) {
                return std::tuple(layer::scale(k, 1, 1), layer::add(q, r), layer::mul(p, p), r);
            });
        check_net(layer::mse(layer::mul(u, v), layer::tanh(z)));
    }
    SECTION("of a state that is forgotten") {
        auto const [i, u] = layer::while_loop(
            std::tuple(counter(), first), [](auto const& k, auto const&) { return layer::less(k, 2); },
            [&](auto const& k, auto const&) { return std::tuple(layer::scale(k, 1, 1), layer::tanh(parameter({2, 3}, 8, "inner"))); });
        check_net(layer::mse(u, parameter({2, 3}, 7)));
    }
    SECTION("of a loop within a loop") {
        auto const [i, y] = layer::while_loop(
            std::tuple(counter(), first), [](auto const& k, auto const&) { return layer::less(k, 3); },
            [&](auto const& k, auto const& v) {
                auto const [j, u] = layer::while_loop(
                    std::tuple(counter(), v), [&](auto const& l, auto const&) { return layer::less(l, k); },
                    [&](auto const& l, auto const& s) {
                        return std::tuple(layer::scale(l, 1, 1), layer::tanh(layer::apply<fc_op>({}, s, w, b)));
                    });
                return std::tuple(layer::scale(k, 1, 1), layer::add(u, v));
            });
        check_net(layer::mse(y, parameter({2, 3}, 4)));
    }
}

TEST_CASE("the gradient of a table that a loop looks up is row-sparse", "[while_loop]") {
    DefaultScope scope;
    auto const table = parameter({7, 2}, 1, "table"), start = parameter({1, 2}, 2);
    auto const [i, y] = layer::while_loop(
        std::tuple(counter(), start), [](auto const& k, auto const&) { return layer::less(k, 3); },
        [&](auto const& k, auto const& v) {
            return std::tuple(layer::scale(k, 1, 1), layer::add(layer::mul(v, v), layer::apply<lookup_table_op>({}, table, k)));
        });
    check_gradients(layer::mse(y, parameter({1, 2}, 4)), "table");
}

TEST_CASE("a loop over an array equals the same layers in a chain, with the same gradients", "[while_loop]") {
    DefaultScope scope;
    auto const x = parameter({5, 2, 3}, 1), w = parameter({3, 3}, 2), b = parameter({3}, 3), boot = parameter({2, 3}, 4);
    auto const cell = [&](auto const& x_t, auto const& h) {
        return layer::tanh(layer::add(x_t, layer::apply<fc_op>({}, h, w, b)));
    };
    auto const steps = layer::unstack(x);
    auto const size = layer::array_size(steps);
    auto const [i, last, outputs] = layer::while_loop(
        std::tuple(counter(), boot, layer::create_array<double>({2, 3})),
        [&](auto const& k, auto const&...) { return layer::less(k, size); },
        [&](auto const& k, auto const& h, auto const& out) {
            auto const now = cell(layer::array_read(steps, k), h);
            return std::tuple(layer::scale(k, 1, 1), now, layer::array_write(out, k, now));
        });
    auto const all = layer::stack(outputs);
    CHECK(all->spec().dims == Dims{UNK, 2, 3});
    auto want = boot;
    for (std::int64_t k = 0; k < 5; ++k) want = cell(layer::array_read(steps, layer::full<std::int64_t>({1}, static_cast<double>(k))), want);
    CHECK(value(last) == value(want));
    CHECK(value(all).shape() == Tensor<double>::shape_type{5, 2, 3});

    auto const by_loop = layer::add(layer::mse(all, parameter({5, 2, 3}, 6)), layer::mse(last, parameter({2, 3}, 7)));
    check_net(by_loop);
}

TEST_CASE("without a gradient a loop keeps one iteration's values and writes arrays in place", "[while_loop]") {
    DefaultScope scope;
    auto const [i, out] = layer::while_loop(
        std::tuple(counter(), layer::create_array<std::int64_t>({1})), [](auto const& k, auto const&) { return layer::less(k, 2000); },
        [](auto const& k, auto const& a) { return std::tuple(layer::scale(k, 1, 1), layer::array_write(a, k, k)); });
    auto const all = run(layer::stack(out)).value();
    REQUIRE(all.shape(0) == 2000);
    for (std::int64_t k = 0; k < 2000; ++k) REQUIRE(all.data()[k] == k);
}

TEST_CASE("an error within a loop names the iteration", "[while_loop]") {
    DefaultScope scope;
    auto const table = parameter({3, 2}, 1, "table"), first = parameter({1, 2}, 2, "first");
    auto const [i, out] = layer::while_loop(
        std::tuple(counter(), first), [](auto const& k, auto const&) { return layer::less(k, 5); },
        [&](auto const& k, auto const& v) { return std::tuple(layer::scale(k, 1, 1), layer::add(v, layer::embedding(k, table))); });
    CHECK_THROWS_AS(value(out), IndexError);
    CHECK_THROWS_WITH(value(out), Catch::Matchers::EndsWith("): iteration 3: lookup_table(w = table, ids = state_0): ids[0] = 3 is not in [0, 3)"));
}

TEST_CASE("condition and states may be variables from outside", "[while_loop]") {
    DefaultScope scope;
    auto const x = parameter({2}, 1), y = parameter({2}, 2);
    auto const never = layer::any(layer::greater(x, 1e9)), always = layer::any(layer::less(x, 1e9));
    auto const same = layer::while_loop(x, [&](auto const&) { return never; }, [&](auto const&) { return y; });
    CHECK(value(same) == value(layer::scale(x, 1)));
    auto const endless = layer::while_loop(x, [&](auto const&) { return always; }, [&](auto const&) { return y; }, {.max_iterations = 3});
    CHECK_THROWS_AS(value(endless), ValueError);
    auto const [i, last] = layer::while_loop(
        std::tuple(counter(), x), [](auto const& k, auto const&) { return layer::less(k, 2); },
        [&](auto const& k, auto const&) { return std::tuple(layer::scale(k, 1, 1), y); });
    check_net(layer::mse(layer::add(last, layer::mul(x, x)), parameter({2}, 3)));
}

TEST_CASE("a recurrent layer within a loop has the gradients of finite differences", "[while_loop]") {
    DefaultScope scope;
    auto const x = layer::sequence_expand(parameter({2, 3}, 1), fed("lengths", LoDTensor<double>::from_nested({{1, 2}, {3, 4, 5}})));
    auto const w = parameter({3, 3}, 2), b = parameter({3}, 3);
    auto const [i, y] = layer::while_loop(
        std::tuple(counter(), x), [](auto const& k, auto const&) { return layer::less(k, 2); },
        [&](auto const& k, auto const& v) {
            auto const h = layer::rnn(v, 3, [&](auto x_t, auto before) {
                auto const now = layer::tanh(layer::add(layer::apply<fc_op>({}, x_t, w, b), before));
                return layer::Step{now, now};
            });
            return std::tuple(layer::scale(k, 1, 1), h);
        });
    check_net(layer::mse(layer::sequence_pool(y), parameter({2, 3}, 4)));
}

TEST_CASE("states of two floating-point types have no common gradient", "[while_loop]") {
    DefaultScope scope;
    auto const x = layer::data<float>("x", {1});
    auto const [a, b] = layer::while_loop(
        std::tuple(x, parameter({1}, 1)), [](auto const& v, auto const&) { return layer::less(v, 3); },
        [](auto const& v, auto const& u) { return std::tuple(layer::scale(v, 1, 1), layer::scale(u, 2)); });
    CHECK_THROWS_WITH(append_backward<double>(*layer::mse(b, parameter({1}, 2))),
                      "while_loop: the gradient of a state is f64, expected f32, as for the first state that is not an integer");
}

}  // namespace test_while_loop
