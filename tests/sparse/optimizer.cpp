// tests/sparse/optimizer.cpp: an optimizer of the user's own, by its declaration. Those of rowan are in optimizers.cpp.
#include <rowan/sparse/optimizer.hpp>

#include "inputs.hpp"
#include "own_optimizer.hpp"
#include "reference.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/stochastic_rounding.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace rowan;
using reference::same;

}  // namespace

TEST_CASE("a declared optimizer is its formula, with and without a plan, an execution and a dense gradient", "[sparse]") {
    auto const table = inputs::wild<float>({9, 5}, 1);
    SelectedRows<float> const g(9, {8, 2, 8, 0}, inputs::wild<float>({4, 5}, 2));
    mine::signum_options const options{.learning_rate = 0.25};
    auto const by = [&](auto const& step) {
        auto param = table;
        auto moment = Tensor<float>::zeros({9, 5});
        step(param, moment);
        step(param, moment);
        return std::pair{param, moment};
    };
    auto const is = [](auto const& a, auto const& b) { return same(a.first, b.first) && same(a.second, b.second); };
    auto const want = by([&](auto& p, auto& m) { update_rows(g, LaneRule{mine::signum_formula{options}}, p, m); });
    CHECK(is(want, by([&](auto& p, auto& m) { mine::signum_step(p, m, g, options); })));
    CHECK(is(want, by([&](auto& p, auto& m) { mine::signum_step(Cpu{3}, p, m, g, {.learning_rate = 0.25}); })));
    CHECK(is(want, by([&](auto& p, auto& m) { mine::signum_step(RowPlan<>(g), p, m, g.value(), options); })));
    auto const dense = table;
    CHECK(is(by([&](auto& p, auto& m) { update_rows(dense, LaneRule{mine::signum_formula{{}}}, p, m); }), by([&](auto& p, auto& m) { mine::signum_step(p, m, dense); })));

    auto narrow = Tensor<bfloat16>::full({9, 5}, bfloat16(1)), again = narrow;
    auto moment = Tensor<float>::zeros({9, 5}), other = moment;
    StochasticRounding const rounding{.seed = 3};
    mine::signum_step(narrow, moment, g, rounding, options);
    update_rows(g, rounding, LaneRule{mine::signum_formula{options}}, again, other);
    CHECK((same(narrow, again) && same(moment, other)));
}

TEST_CASE("a declared optimizer refuses what its rule refuses, and states of other shapes", "[bad_input]") {
    auto param = Tensor<float>::zeros({4, 2}), moment = param, short_one = Tensor<float>::zeros({4});
    SelectedRows<float> const g(4, {1}, Tensor<float>::zeros({1, 2}));
    CHECK_THROWS_WITH(mine::signum_step(param, moment, g, {.momentum = 1}), "momentum is 1, expected less than 1");
    CHECK_THROWS_WITH(mine::signum_step(param, short_one, g), "moment.shape() is [4], expected [4, 2], the shape of param");
    CHECK_THROWS_AS(mine::signum_step(Cpu{-1}, param, moment, g), ValueError);
}
