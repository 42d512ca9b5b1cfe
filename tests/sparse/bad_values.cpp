// tests/sparse/bad_values.cpp: numbers that no computation can use: NaN and infinite options, decays outside [0, 1), threads below 0.
#include "optimizers.hpp"
#include "refused.hpp"

#include <functional>
#include <limits>

namespace test_bad_values {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor, rowan::ValueError;
using test::refused, test::States;

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

/// `call(execution, step, value)` must refuse every one of `bad` by a ValueError that names `field`, and accept `good`.
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

std::vector<double> const decays{not_a_number, infinity, -infinity, -1e-9, 1.0, 1.5};

}  // namespace

TEST_CASE("sgd refuses a learning rate that is not finite", "[bad_input]") {
    std::vector<double> const good{0, -1, 0.5};
    check_option("learning_rate", not_finite, good, [](Cpu exec, Step& x, double value) { sgd(exec, x.param, x.grad, value); });
    check_option("learning_rate", not_finite, good, [](Cpu exec, Step& x, double value) { sgd(exec, x.param, x.dense, value); });
    check_option("learning_rate", not_finite, good,
                 [](Cpu exec, Step& x, double value) { sgd(exec, x.plan, x.param, x.grad.value(), value); });
}

TEST_CASE("adagrad refuses options that are not finite", "[bad_input]") {
    auto const call = []<class G>(Cpu exec, Step& x, G const& grad, rowan::AdagradOptions options) {
        if constexpr (std::is_same_v<G, rowan::RowPlan<>>) {
            adagrad(exec, grad, x.param, x.state[0], x.grad.value(), options);
            rowwise_adagrad(exec, grad, x.param, x.per_row, x.grad.value(), options);
        } else {
            adagrad(exec, x.param, x.state[0], grad, options);
            rowwise_adagrad(exec, x.param, x.per_row, grad, options);
        }
    };
    check_options("learning_rate", &rowan::AdagradOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("epsilon", &rowan::AdagradOptions::epsilon, not_finite, {0, 1e-6}, call);
    auto const rowwise = [](Cpu exec, Step& x, double value) { rowwise_adagrad(exec, x.param, x.per_row, x.grad, {.learning_rate = value}); };
    check_option("learning_rate", not_finite, {0.5}, rowwise);
}

TEST_CASE("momentum refuses options that are not finite", "[bad_input]") {
    auto const call = []<class G>(Cpu exec, Step& x, G const& grad, rowan::MomentumOptions options) {
        if constexpr (std::is_same_v<G, rowan::RowPlan<>>) {
            momentum(exec, grad, x.param, x.state[0], x.grad.value(), options);
        } else {
            momentum(exec, x.param, x.state[0], grad, options);
        }
    };
    check_options("learning_rate", &rowan::MomentumOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("momentum", &rowan::MomentumOptions::momentum, not_finite, {0, 0.9}, call);
    check_options("weight_decay", &rowan::MomentumOptions::weight_decay, not_finite, {0, 0.1}, call);
}

TEST_CASE("adam refuses options that are not finite, a beta outside [0, 1) and a step before the first", "[bad_input]") {
    auto const call = []<class G>(Cpu exec, Step& x, G const& grad, rowan::AdamOptions options) {
        if constexpr (std::is_same_v<G, rowan::RowPlan<>>) {
            adam(exec, grad, x.param, x.state[0], x.state[1], x.grad.value(), options);
        } else {
            adam(exec, x.param, x.state[0], x.state[1], grad, options);
        }
    };
    check_options("learning_rate", &rowan::AdamOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("epsilon", &rowan::AdamOptions::epsilon, not_finite, {0, 1e-8}, call);
    check_options("beta1", &rowan::AdamOptions::beta1, decays, {0, 0.9}, call);
    check_options("beta2", &rowan::AdamOptions::beta2, decays, {0, 0.999}, call);
    auto const step = [](Cpu exec, Step& x, double value) {
        adam(exec, x.param, x.state[0], x.state[1], x.grad, {.step = static_cast<std::int64_t>(value)});
    };
    check_option("step", {0, -1, -0x1p62}, {1, 2, 0x1p62}, step);
}

TEST_CASE("rmsprop refuses options that are not finite and a rho outside [0, 1)", "[bad_input]") {
    auto const call = []<class G>(Cpu exec, Step& x, G const& grad, rowan::RmspropOptions options) {
        if constexpr (std::is_same_v<G, rowan::RowPlan<>>) {
            rmsprop(exec, grad, x.param, x.state[0], x.state[1], x.grad.value(), options);
            rmsprop(exec, grad, x.param, x.state[0], x.state[1], x.state[2], x.grad.value(), options);
        } else {
            rmsprop(exec, x.param, x.state[0], x.state[1], grad, options);
            rmsprop(exec, x.param, x.state[0], x.state[1], x.state[2], grad, options);
        }
    };
    check_options("learning_rate", &rowan::RmspropOptions::learning_rate, not_finite, {0, 0.5}, call);
    check_options("rho", &rowan::RmspropOptions::rho, decays, {0, 0.9}, call);
    check_options("momentum", &rowan::RmspropOptions::momentum, not_finite, {0, 0.9}, call);
    check_options("epsilon", &rowan::RmspropOptions::epsilon, not_finite, {1e-6}, call);
    auto const centered = [](Cpu exec, Step& x, double value) {
        rmsprop(exec, x.param, x.state[0], x.state[1], x.state[2], x.grad, {.learning_rate = value});
    };
    check_option("learning_rate", not_finite, {0.5}, centered);
}

TEST_CASE("ftrl refuses options that are not finite, a learning rate of 0 and a power outside [-1, 0]", "[bad_input]") {
    auto const call = []<class G>(Cpu exec, Step& x, G const& grad, rowan::FtrlOptions options) {
        if constexpr (std::is_same_v<G, rowan::RowPlan<>>) {
            ftrl(exec, grad, x.param, x.state[0], x.state[1], x.grad.value(), options);
        } else {
            ftrl(exec, x.param, x.state[0], x.state[1], grad, options);
        }
    };
    check_options("learning_rate", &rowan::FtrlOptions::learning_rate, {not_a_number, infinity, -infinity, 0}, {0.5}, call);
    check_options("l1", &rowan::FtrlOptions::l1, not_finite, {0, 0.5}, call);
    check_options("l2", &rowan::FtrlOptions::l2, not_finite, {0, 0.5}, call);
    check_options("lr_power", &rowan::FtrlOptions::lr_power, {not_a_number, infinity, -1.01, 0.01}, {-1, -0.75, -0.5, 0}, call);
}

TEST_CASE("from_dense refuses a threshold that is negative or not finite", "[bad_input]") {
    check_option("threshold", {not_a_number, infinity, -infinity, -0.1}, {0, 2.5, 1e300},
                 [](Cpu exec, Step& x, double value) { from_dense(exec, x.dense, value); });
    Tensor<std::int64_t> const numbers{{0}, {std::numeric_limits<std::int64_t>::max()}, {std::numeric_limits<std::int64_t>::min()}};
    CHECK(rowan::from_dense(numbers, 1e18).rows().size() == 2);
    CHECK(rowan::from_dense(numbers, 1e300).rows().empty());  // larger than any integer
    CHECK(rowan::from_dense(numbers, 0x1p63).rows().empty());
}

TEST_CASE("a number of threads below 0 is refused by every function, whatever the sizes", "[bad_input]") {
    Step x;
    auto out = x.grad;
    std::vector<std::function<void(Cpu)>> calls{
        [&](Cpu e) { gather(e, x.dense, {0}); },
        [&](Cpu e) { gather_into(e, x.dense, {0, 1, 2}, x.param); },
        [&](Cpu e) { lookup_table_grad(e, {0, 1, 2}, x.dense, 3); },
        [&](Cpu e) { scatter_add(e, x.param, x.grad); },
        [&](Cpu e) { scatter_add(e, x.param, {0, 1, 2}, x.dense); },
        [&](Cpu e) { rowan::RowPlan<>(e, {}, 3); },
        [&](Cpu e) { merge(e, x.grad); },
        [&](Cpu e) { merge_into(e, x.plan, x.grad.value(), out); },
        [&](Cpu e) { add(e, x.grad, x.grad); },
        [&](Cpu e) { add(e, x.grad, x.dense); },
        [&](Cpu e) { scale(e, x.grad, 2); },
        [&](Cpu e) { to_dense(e, x.grad); },
        [&](Cpu e) { from_dense(e, x.dense); },
        [&](Cpu e) { retain(e, x.grad, {}); },
        [&](Cpu e) { split(e, x.grad, {3}); },
        [&](Cpu e) { squared_norm(e, x.grad); },
        [&](Cpu e) { update_rows(e, x.grad, [](auto, auto) {}, x.param); },
        [&](Cpu e) { rowan::parallel_for(e, 0, 1, [](std::size_t, std::size_t) {}); },
    };
    for (auto const& optimizer : test::optimizers()) {
        States& s = optimizer.state_per_row ? x.per_row_states : x.state;
        calls.push_back([&x, &s, optimizer](Cpu e) { optimizer.sparse(e, x.param, s, x.grad); });
        calls.push_back([&x, &s, optimizer](Cpu e) { optimizer.dense(e, x.param, s, x.dense); });
        calls.push_back([&x, &s, optimizer](Cpu e) { optimizer.planned(e, x.plan, x.param, s, x.grad.value()); });
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        for (int const threads : {-1, std::numeric_limits<int>::min()}) {
            auto const error = refused<ValueError>([&](Cpu) { calls[i](Cpu{threads}); }, x.param, x.state[0], x.state[1], x.per_row, x.grad, out);
            CHECK(error.field() == "threads");
        }
        CHECK_NOTHROW(calls[i](Cpu{3}));
    }
}

}  // namespace test_bad_values
