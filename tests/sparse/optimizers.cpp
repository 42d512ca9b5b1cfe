// tests/sparse/optimizers.cpp: options, tensors and memory for which every optimizer throws.
#include "optimizers.hpp"
#include "refused.hpp"

#include <functional>
#include <limits>

namespace test_optimizers {

namespace {

using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::ValueError;
using test::refusal, test::refused, test::States;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
std::vector<double> const not_finite{not_a_number, -not_a_number, infinity, -infinity, 1e39, -1e39};  // as floats

struct Step {
    Tensor<float> param = test::ramp<float>({3, 2});
    States state{Tensor<float>::full({3, 2}, 1), Tensor<float>::full({3, 2}, 1), Tensor<float>::full({3, 2}, 2)};
    Tensor<float> per_row = Tensor<float>::full({3}, 1);
    States per_row_states{per_row, per_row, per_row};
    SelectedRows<float> grad{3, {2, 0}, {{1, 2}, {3, 4}}};
    Tensor<float> dense{{1, 2}, {3, 4}, {5, 6}};
    rowan::RowPlan<> plan{grad.rows(), 3};
};

/// `call(execution, step, value)` must throw a ValueError that names `field` for each of `bad`, and accept `good`.
template <class Call>
void check_option(char const* field, std::vector<double> const& bad, std::vector<double> const& good, Call call) {
    Step x;
    CAPTURE(field);
    for (double const value : bad) {
        CAPTURE(value);
        auto const error = refused<ValueError>([&](Cpu exec) { call(exec, x, value); }, x.param, x.state[0], x.state[1], x.state[2],
                                               x.per_row, x.grad, x.dense, x.plan);
        CHECK(error.field() == field);
        CHECK((error.value() == value || (error.value() != error.value() && value != value)));
        CHECK_THAT(error.what(), Catch::Matchers::StartsWith(std::string(field) + " is "));
    }
    for (double const value : good) CHECK_NOTHROW(call(Cpu{}, x, value));
}

/// The three forms of a call: sparse, dense and planned.
template <class Options, class Call>
void check_options(char const* field, double Options::*option, std::vector<double> const& bad, std::vector<double> const& good, Call call) {
    auto const with = [=](double value) {
        Options options;
        options.*option = value;
        return options;
    };
    check_option(field, bad, good, [&](Cpu exec, Step& x, double value) { call(exec, x, x.grad, with(value)); });
    check_option(field, bad, good, [&](Cpu exec, Step& x, double value) { call(exec, x, x.dense, with(value)); });
    check_option(field, bad, good, [&](Cpu exec, Step& x, double value) { call(exec, x, x.plan, with(value)); });
}

/// A step of the form, with the given states.
template <class F, class G, class Options, class... State>
void step(F const& f, Cpu exec, Step& x, G const& grad, Options const& options, State&... state) {
    if constexpr (std::is_same_v<G, RowPlan<>>) {
        f(exec, grad, x.param, state..., x.grad.value(), options);
    } else {
        f(exec, x.param, state..., grad, options);
    }
}

std::vector<double> const bad_epsilons{not_a_number, infinity, -infinity, 1e39, -1e-9};
std::vector<double> const decays{not_a_number, infinity, -infinity, -1e-9, 1.0, 1.5};

}  // namespace

TEST_CASE("sgd refuses a learning rate that is not finite", "[bad_input]") {
    std::vector<double> const good{0, -1, 0.5};
    check_option("learning_rate", not_finite, good, [](Cpu exec, Step& x, double value) { sgd(exec, x.param, x.grad, value); });
    check_option("learning_rate", not_finite, good, [](Cpu exec, Step& x, double value) { sgd(exec, x.param, x.dense, value); });
    check_option("learning_rate", not_finite, good,
                 [](Cpu exec, Step& x, double value) { sgd(exec, x.plan, x.param, x.grad.value(), value); });
}

TEST_CASE("sgd with a decay refuses options that are not finite", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::SgdOptions const& options) {
        step([](auto&&... a) { rowan::sgd(a...); }, exec, x, grad, options);
    };
    check_options("learning_rate", &rowan::SgdOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("weight_decay", &rowan::SgdOptions::weight_decay, not_finite, {0, 0.1}, call);
    auto const kept = [](Cpu exec, Step& x, double value) { sgd(exec, x.param, x.grad, {.learning_rate = -1024, .weight_decay = value / 1024}); };
    check_option("1 - learning_rate · weight_decay", {1e39, -1e39}, {1}, kept);
}

TEST_CASE("adagrad refuses options that are not finite", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::AdaGradOptions const& options) {
        step([](auto&&... a) { rowan::adagrad(a...); }, exec, x, grad, options, x.state[0]);
        step([](auto&&... a) { rowan::rowwise_adagrad(a...); }, exec, x, grad, options, x.per_row);
    };
    check_options("learning_rate", &rowan::AdaGradOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("epsilon", &rowan::AdaGradOptions::epsilon, bad_epsilons, {0, 1e-6}, call);
    check_options("weight_decay", &rowan::AdaGradOptions::weight_decay, not_finite, {0, 0.1}, call);
    auto const rowwise = [](Cpu exec, Step& x, double value) { rowwise_adagrad(exec, x.param, x.per_row, x.grad, {.learning_rate = value}); };
    check_option("learning_rate", not_finite, {0.5}, rowwise);
    auto const decay = [](Cpu exec, Step& x, double value) { rowwise_adagrad(exec, x.param, x.per_row, x.grad, {.weight_decay = value}); };
    check_option("weight_decay", not_finite, {0.5}, decay);
    auto const kept = [](Cpu exec, Step& x, double value) { adagrad(exec, x.param, x.state[0], x.grad, {.learning_rate = -1024, .weight_decay = value / 1024}); };
    check_option("1 - learning_rate · weight_decay", {1e39, -1e39}, {1}, kept);
}

TEST_CASE("momentum refuses options that are not finite", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::MomentumOptions const& options) {
        step([](auto&&... a) { rowan::momentum(a...); }, exec, x, grad, options, x.state[0]);
    };
    check_options("learning_rate", &rowan::MomentumOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("momentum", &rowan::MomentumOptions::momentum, not_finite, {0, 0.9}, call);
    check_options("weight_decay", &rowan::MomentumOptions::weight_decay, not_finite, {0, 0.1}, call);
}

template <class Options, class Optimizer>
void check_moments(Optimizer const& optimizer) {
    auto const call = [&](Cpu exec, Step& x, auto const& grad, Options const& options) {
        step(optimizer, exec, x, grad, options, x.state[0], x.state[1]);
    };
    check_options("learning_rate", &Options::learning_rate, not_finite, {0, 0.5}, call);
    check_options("epsilon", &Options::epsilon, bad_epsilons, {0, 1e-8}, call);
    check_options("beta1", &Options::beta1, decays, {0, 0.9}, call);
    check_options("beta2", &Options::beta2, decays, {0, 0.999}, call);
    check_options("weight_decay", &Options::weight_decay, not_finite, {0, 0.1}, call);
    auto const step = [&](Cpu exec, Step& x, double value) {
        Options options;
        options.step = static_cast<std::int64_t>(value);
        optimizer(exec, x.param, x.state[0], x.state[1], x.grad, options);
    };
    check_option("step", {0, -1, -0x1p62}, {1, 2, 0x1p62}, step);
}

TEST_CASE("adam refuses options that are not finite, a beta outside [0, 1) and a step before the first", "[bad_input]") {
    check_moments<rowan::AdamOptions>([](auto&&... a) { rowan::adam(a...); });
}

TEST_CASE("adamax refuses the options that adam refuses, and a first rate that overflows", "[bad_input]") {
    check_moments<rowan::AdamaxOptions>([](auto&&... a) { rowan::adamax(a...); });
    auto const first = [](Cpu exec, Step& x, double value) {
        adamax(exec, x.param, x.state[0], x.state[1], x.grad, {.learning_rate = value / 8, .beta1 = 0.875});
    };
    check_option("learning_rate / (1 - beta1^step)", {1e39}, {1e38}, first);
}

TEST_CASE("lamb refuses the options that adam refuses", "[bad_input]") {
    check_moments<rowan::LambOptions>([](auto&&... a) { rowan::lamb(a...); });
}

TEST_CASE("adadelta refuses options that are not finite and a rho outside [0, 1)", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::AdadeltaOptions const& options) {
        step([](auto&&... a) { rowan::adadelta(a...); }, exec, x, grad, options, x.state[0], x.state[1]);
    };
    check_options("learning_rate", &rowan::AdadeltaOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("rho", &rowan::AdadeltaOptions::rho, decays, {0, 0.9}, call);
    check_options("epsilon", &rowan::AdadeltaOptions::epsilon, bad_epsilons, {0, 1e-6}, call);
    check_options("weight_decay", &rowan::AdadeltaOptions::weight_decay, not_finite, {0, 0.1}, call);
}

TEST_CASE("rmsprop refuses options that are not finite and a rho outside [0, 1)", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::RmsPropOptions const& options) {
        step([](auto&&... a) { rowan::rmsprop(a...); }, exec, x, grad, options, x.state[0], x.state[1]);
        step([](auto&&... a) { rowan::rmsprop(a...); }, exec, x, grad, options, x.state[0], x.state[1], x.state[2]);
    };
    check_options("learning_rate", &rowan::RmsPropOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("rho", &rowan::RmsPropOptions::rho, decays, {0, 0.9}, call);
    check_options("momentum", &rowan::RmsPropOptions::momentum, not_finite, {0, 0.9}, call);
    check_options("epsilon", &rowan::RmsPropOptions::epsilon, bad_epsilons, {1e-6}, call);
    auto const centered = [](Cpu exec, Step& x, double value) {
        rmsprop(exec, x.param, x.state[0], x.state[1], x.state[2], x.grad, {.learning_rate = value});
    };
    check_option("learning_rate", not_finite, {0.5}, centered);
}

TEST_CASE("ftrl refuses options that are not finite, a learning rate of 0 and a power outside [-1, 0]", "[bad_input]") {
    auto const call = [](Cpu exec, Step& x, auto const& grad, rowan::FtrlOptions const& options) {
        step([](auto&&... a) { rowan::ftrl(a...); }, exec, x, grad, options, x.state[0], x.state[1]);
    };
    check_options("learning_rate", &rowan::FtrlOptions::learning_rate, {not_a_number, infinity, -infinity, 0}, {0.5}, call);
    check_options("l1", &rowan::FtrlOptions::l1, not_finite, {0, 0.5}, call);
    check_options("l2", &rowan::FtrlOptions::l2, not_finite, {0, 0.5}, call);
    check_options("lr_power", &rowan::FtrlOptions::lr_power, {not_a_number, infinity, -1.01, 0.01}, {-1, -0.75, -0.5, 0}, call);
}

TEST_CASE("every optimizer refuses param, state and gradient that do not match", "[bad_input]") {
    auto const g = SelectedRows<float>(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    RowPlan<> const plan(g.rows(), 4);
    auto const dense = rowan::to_dense(g);
    for (auto const& optimizer : test::optimizers()) {
        CAPTURE(optimizer.name);
        auto const refuse = [&](Tensor<float> param, States s, std::string const& text) {
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.sparse(e, param, s, g); }, param, s[0], s[1], s[2]) == text);
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.dense(e, param, s, dense); }, param, s[0], s[1], s[2]) == text);
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.planned(e, plan, param, s, g.value()); }, param, s[0], s[1], s[2]) == text);
        };
        for (auto const& [shape, text] : {std::pair<Tensor<float>::shape_type, char const*>{{3, 2}, "param.shape(0) is 3, expected 4"},
                                          {{5, 2}, "param.shape(0) is 5, expected 4"},
                                          {{4, 3}, "param.shape() is [4, 3], expected [4, 2]"},
                                          {{4}, "param.shape() is [4], expected [4, 2]"},
                                          {{4, 2, 1}, "param.shape() is [4, 2, 1], expected [4, 2]"}}) {
            auto const param = test::ramp<float>(shape);
            refuse(param, test::states_for(optimizer, param), text);
        }
        auto param = test::ramp<float>({4, 2});
        for (std::size_t k = 0; k < optimizer.state.size(); ++k) {
            auto s = test::states_for(optimizer, param);
            s[k] = test::ramp<float>({4, 1});
            refuse(param, s, optimizer.state_per_row ? "moment rank is 2, expected 1: one number per row"
                                                     : optimizer.state[k] + ".shape() is [4, 1], expected [4, 2], the shape of param");
            s[k] = test::ramp<float>({3});
            refuse(param, s, optimizer.state_per_row ? "moment.shape(0) is 3, expected 4"
                                                     : optimizer.state[k] + ".shape() is [3], expected [4, 2], the shape of param");
        }
        auto s = test::states_for(optimizer, param);
        CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.planned(e, plan, param, s, test::ramp<float>({2, 2})); }, param, s[0]) ==
              "value.shape(0) is 2, expected 3, the number of rows");
        CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.dense(e, param, s, Tensor<float>::full({}, 1)); }, param, s[0]) ==
              "grad rank is 0, expected at least 1");
        CHECK_NOTHROW(optimizer.sparse(Cpu{}, param, s, g));
        CHECK_NOTHROW(optimizer.dense(Cpu{}, param, s, dense));
        CHECK_NOTHROW(optimizer.planned(Cpu{}, plan, param, s, g.value()));
    }
}

TEST_CASE("a table that shares memory with its gradient or state throws", "[bad_input]") {
    auto table = test::ramp<float>({6, 2});
    SelectedRows<float> const g(6, {4, 5}, table.slice(0, 2));
    rowan::RowPlan<> const plan(g);
    auto const beside = test::ramp<float>({6, 2});
    SelectedRows<float> const apart(6, {4, 5}, beside.slice(0, 2));
    CHECK(refusal<rowan::Error>([&](Cpu e) { scatter_add(e, table, g); }, table) == "dst shares memory with the gradient's value");
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { sgd(e, table, g, 0.5); },
             [&](Cpu e) { sgd(e, plan, table, g.value(), 0.5); },
             [&](Cpu e) { auto m = beside; adagrad(e, table, m, g); },
             [&](Cpu e) { auto m = beside; adagrad(e, plan, table, m, g.value()); },
             [&](Cpu e) { auto m = beside, v = beside; adam(e, table, m, v, g, {.step = 1}); },
         }) {
        CHECK(refusal<rowan::Error>(call, table) == "param shares memory with the gradient's value");
    }
    auto const same = table.share();
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto m = same.share(); adagrad(e, table, m, apart); }, table) == "param shares memory with state 0");
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto m = same.share(); adagrad(e, table, m, beside); }, table) == "param shares memory with state 0");
    auto m = beside, v = m.share();
    CHECK(refusal<rowan::Error>([&](Cpu e) { adam(e, table, m, v, apart, {.step = 1}); }, table) == "state 0 shares memory with state 1");
    sgd(table, same, 0.5);  // dense: element by element, each read before it is written
    CHECK(table(5, 1) == 1.375F / 2);
}

TEST_CASE("a table that partly overlaps its dense gradient throws", "[bad_input]") {
    std::size_t const n = 1U << 18;  // enough for several threads
    auto base = test::ramp<float>({n + 1, 1});
    auto lower = base.slice(0, n), upper = base.slice(1, n + 1);
    auto const apart = test::ramp<float>({n, 1});
    auto moments = Tensor<float>::zeros({n + 1});
    auto rows = moments.slice(0, n);
    auto const copy = [](auto g, auto p, auto&&...) { p[0] = g[0]; };
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { sgd(e, upper, lower, 1); },
             [&](Cpu e) { sgd(e, lower, upper, 1); },
             [&](Cpu e) { auto m = apart; adagrad(e, upper, m, lower); },
             [&](Cpu e) { update_rows(e, lower, copy, upper); },
         }) {
        CHECK(refusal<rowan::Error>(call, base) == "param shares memory with other elements of grad");
    }
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { auto p = apart; adagrad(e, p, upper, lower); },
             [&](Cpu e) { auto p = apart; momentum(e, p, lower, upper); },
             [&](Cpu e) { auto p = apart; update_rows(e, lower, copy, p, upper); },
             [&](Cpu e) { auto p = apart; rowwise_adagrad(e, p, rows, moments.slice(1, n + 1).reshaped({n, 1})); },
         }) {
        CHECK(refusal<rowan::Error>(call, base, moments) == "state 0 shares memory with other elements of grad");
    }
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto p = apart, m = apart; adam(e, p, m, upper, lower, {.step = 1}); }, base) ==
          "state 1 shares memory with other elements of grad");

    for (int const threads : {1, 2, 8}) {  // the same elements, and others of the same block
        auto param = test::ramp<float>({n + 1, 1}), same = param.share();
        sgd(Cpu{threads}, param, same, 0.5);
        CHECK(param == Tensor<float>(test::ramp<float>({n + 1, 1}) / 2));
        auto block = test::ramp<float>({2 * n, 1}), half = block.slice(n, 2 * n);
        sgd(Cpu{threads}, half, block.slice(0, n), 1);
        CHECK(block.slice(0, n) == apart);
        CHECK(half == Tensor<float>::zeros({n, 1}));
        auto p = apart, g = apart;
        auto square = g.share();
        adagrad(Cpu{threads}, p, square, g, {.learning_rate = 1, .epsilon = 1});
        CHECK(square(63, 0) == 7.875F + 7.875F * 7.875F);
    }
}

}  // namespace test_optimizers
