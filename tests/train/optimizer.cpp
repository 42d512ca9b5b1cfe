// tests/train/optimizer.cpp
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/optimizer.hpp>

#include "layer/check_net.hpp"
#include "own_optimizer.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_optimizer {

using namespace rowan;

namespace {

/// An optimizer of one's own for nets.
struct Signum {
    double learning_rate = 0.01, momentum = 0.9;
    using op = optimizer_operator<mine::signum>;
    ROWAN_OPTIONS(Signum, learning_rate, momentum)
};

/// An optimizer that throws at its third step; a net that runs several checks it first, or cannot.
template <bool first>
struct tired_op : rowan::detail::optimizer_op<AdamOptions> {
    static constexpr std::string_view name = "tired";
    static constexpr bool checks_first = first;
    template <class P, class D, rowan::detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, AdamOptions const& a) {
        if (a.step >= 3) throw ValueError("step", static_cast<double>(a.step), "less than 3");
        sgd(exec, param, grad, a.learning_rate);
    }
};
template <bool first>
struct Tired {
    using op = tired_op<first>;
    double learning_rate = 1;
    AdamOptions options() const { return {.learning_rate = learning_rate}; }
};

/// An operator that returns its input, and a gradient of another shape.
struct wrong_grad_op {
    static constexpr std::string_view name = "wrong_grad";
    using inputs = slots<grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    static VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return Tensor<T, D>::zeros({x.size() + 1});
    }
};
struct wrong_op {
    static constexpr std::string_view name = "wrong";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<wrong_grad_op>;
    static VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return x;
    }
};

float first(Variable const& v) { return v.value().get<LoDTensor<float>>().value().data()[0]; }

/// A net of two parameters with initial value 0 and gradient 1.
struct Two {
    test::DefaultScope scope;
    layer::Var<float> v = layer::parameter<float>({1}, {}, "v"), w = layer::parameter<float>({1}, {}, "w");
    layer::Var<float> cost = layer::add(v, w);

    /// Trains on three batches, one of which must throw. Returns the number of changes of v and w.
    std::pair<float, float> steps(TrainOptions const& options, std::string const& text) const {
        v->value().clear();
        w->value().clear();
        CHECK_THROWS_WITH(train(cost, [](std::int64_t) { return std::vector<Feeds>(3); }, options), text);
        return {v->value().empty() ? 0 : -first(*v), w->value().empty() ? 0 : -first(*w)};
    }
};

}  // namespace

TEST_CASE("all parameters change or none, even if one optimizer throws", "[layer]") {
    using both = std::pair<float, float>;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    Two net;
    auto const with = [](layer::Optimizer const& w) { return TrainOptions{.optimizer = layer::Sgd{.learning_rate = 1}, .optimizers = {{"w", w}}}; };
    CHECK(net.steps(with(layer::Sgd{.learning_rate = nan}), "sgd(param = w, grad = identity_1.out_0): learning_rate is nan, expected a finite number") == both{0, 0});
    CHECK(net.steps(with(layer::Adam{.beta2 = 1}), "adam(param = w, moment = w@adam.moment, moment2 = w@adam.moment2, grad = identity_1.out_0): beta2 is 1, expected a number in [0, 1)") == both{0, 0});
    CHECK(net.steps(with(layer::Adadelta{.rho = 1}), "adadelta(param = w, mean_square = w@adadelta.mean_square, mean_step = w@adadelta.mean_step, grad = identity_1.out_0): rho is 1, expected a number in [0, 1)") == both{0, 0});
    CHECK(net.steps(with(layer::Ftrl{.l1 = nan}), "ftrl(param = w, moment = w@ftrl.moment, linear = w@ftrl.linear, grad = identity_1.out_0): l1 is nan, expected a finite number") == both{0, 0});
    CHECK(net.steps(with(Tired<true>{}), "tired(param = w, grad = identity_1.out_0): step is 3, expected less than 3") == both{2, 2});
    CHECK(net.steps(with(Tired<false>{}), "tired(param = w, grad = identity_1.out_0): step is 3, expected less than 3") == both{2, 2});
    auto options = with(layer::Sgd{.learning_rate = 1e30});
    options.schedule = [](std::int64_t step) { return step == 2 ? 1e30 : 1.0; };  // overflows, but only for w
    CHECK(net.steps(options, "sgd(param = w, grad = identity_1.out_0): learning_rate is 1.0000000000000001e+60, expected a number that fits the type of computation") == both{2, 2e30f});

    auto const wrong = layer::add(net.v, layer::apply<wrong_op>({}, net.w));
    CHECK_THROWS_WITH(train(wrong, [](std::int64_t) { return std::vector<Feeds>(1); }),
                      "the gradient wrong_grad_0.x@GRAD_0.shape() is [2], expected [1], that of w");
    CHECK(first(*net.v) == 0);
}

TEST_CASE("an optimizer that is not lazy updates all rows of a table, as if its gradient were dense", "[layer]") {
    test::DefaultScope scope;
    auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = 4, .width = 2, .name = "table"});
    auto const cost = layer::mse(rows, layer::data<float>("y", {UNK, 2}));
    Feeds const first{{"ids", Tensor<std::int64_t>{2, 0, 2}}, {"y", Tensor<float>{{1, 2}, {3, 4}, {5, 6}}}};
    Feeds const second{{"ids", Tensor<std::int64_t>{1}}, {"y", Tensor<float>{{1, 2}}}};
    auto const run = [&](layer::Optimizer const& optimizer, std::vector<Feeds> const& batches) {
        return train(cost, [&](std::int64_t) { return batches; }, {.optimizer = optimizer}).get<float>("table");
    };
    auto const begin = Trainer(cost).parameters().get<float>("table");
    auto const check = [&](auto lazy) {
        lazy.learning_rate = 0.5;
        auto dense = lazy;
        dense.lazy = false;
        auto const once = run(dense, {first}), twice = run(dense, {first, second}), lazily = run(lazy, {first, second});
        CHECK(lazily(2, 0) == run(lazy, {first})(2, 0));  // row 2 is in the first batch only
        CHECK(twice(2, 0) != once(2, 0));
        CHECK((lazily(3, 0) == begin(3, 0)));
    };
    check(layer::Momentum{});
    check(layer::Adam{});
    check(layer::AdamW{});
    check(layer::Adamax{});
    check(layer::Adadelta{.weight_decay = 0.01});
    check(layer::RmsProp{.momentum = 0.5});

    auto const by_hand = [&](Tensor<float> table, auto const& step) {
        for (Feeds const& batch : {first, second}) {
            Tensor<std::int64_t> const ids = batch.at("ids").value().get<LoDTensor<std::int64_t>>().value();
            Tensor<float> const y = batch.at("y").value().get<LoDTensor<float>>().value();
            step(table, to_dense(lookup_table_grad(ids, std::get<0>(rowan::mse_op::backward(rowan::Cpu{}, gather(table, ids), y, Tensor<float>{1})), 4)));
        }
        return table;
    };
    auto velocity = Tensor<float>::zeros({4, 2}), moment1 = velocity, moment2 = velocity;
    auto const table = by_hand(begin, [&](auto& p, auto const& g) { momentum(p, velocity, g, {.learning_rate = 0.5, .weight_decay = 0.25}); });
    LambOptions lamb_options{.learning_rate = 0.5, .step = 0};
    auto const of_lamb = by_hand(begin, [&](auto& p, auto const& g) {
        ++lamb_options.step;
        lamb(p, moment1, moment2, g, lamb_options);
    });
    CHECK(run(layer::Lamb{.learning_rate = 0.5}, {first, second}) == of_lamb);
    CHECK(run(layer::Momentum{.learning_rate = 0.5, .weight_decay = 0.25, .lazy = false}, {first, second}) == table);
    CHECK(table(3, 0) != begin(3, 0));  // decayed
}

TEST_CASE("options.rates multiply the learning rates of single parameters", "[layer]") {
    test::DefaultScope scope;
    auto const v = layer::parameter<float>({1}, layer::Constant{2}, "v"), w = layer::parameter<float>({1}, layer::Constant{2}, "w");
    auto const cost = layer::add(v, w);
    auto const values = [&](TrainOptions const& options) {
        auto const p = train(cost, [](std::int64_t) { return std::vector<Feeds>(2); }, options);
        return std::pair(p.get<float>("v")(0), p.get<float>("w")(0));
    };
    CHECK(values({.optimizer = layer::Sgd{.learning_rate = 0.5}, .rates = {{"v", 0}, {"w", 0.5}}}) == std::pair(2.0F, 1.5F));
    CHECK(values({.optimizer = layer::Sgd{.learning_rate = 0.5}, .rates = {{"w", 0.5}}, .schedule = layer::ConstantRate{0.5}}) == std::pair(1.5F, 1.75F));
    auto const frozen = values({.optimizer = layer::AdamW{.learning_rate = 0.5, .weight_decay = 0.5}, .rates = {{"v", 0}}});
    CHECK(frozen.first == 2);
    CHECK(std::abs(frozen.second - ((2 * 0.75F - 0.5F) * 0.75F - 0.5F)) < 1e-6F);
    for (bool const decoupled : {false, true})
        CHECK(values({.optimizer = layer::Sgd{.learning_rate = 0.5, .weight_decay = 0.5, .decoupled = decoupled}, .rates = {{"v", 0}}}) == std::pair(2.0F, 0.25F));
    for (layer::Optimizer const& optimizer : {layer::Optimizer(layer::AdaGrad{.learning_rate = 1, .epsilon = 0, .weight_decay = 0.5, .decoupled = true}),
                                              layer::Optimizer(layer::RowwiseAdaGrad{.learning_rate = 1, .epsilon = 0, .weight_decay = 0.5, .decoupled = true})})
        CHECK(std::abs(values({.optimizer = optimizer}).first - ((2 * 0.5 - 1) * 0.5 - 1 / std::sqrt(2.0))) < 1e-6);
    CHECK_THROWS_WITH(values({.rates = {{"u", 1}}}), "there is no parameter \"u\" for the rate of that name");
    CHECK_THROWS_WITH(values({.rates = {{"v", std::numeric_limits<double>::infinity()}}}), "the rate of v is inf, expected a finite number");
}

TEST_CASE("options that make a cost grow are refused before the training", "[layer]") {
    test::DefaultScope scope;
    auto const v = layer::parameter<float>({1}, layer::Constant{2}, "v");
    auto const refused = [&](TrainOptions const& options, std::string const& text) {
        CAPTURE(text);
        auto const reader = [](std::int64_t) { return std::vector<Feeds>(1); };
        CHECK_THROWS_AS(train(layer::scale(v, 1), reader, options), ValueError);
        CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, options), Catch::Matchers::EndsWith(text));
        CHECK_THROWS_AS(Trainer(layer::scale(v, 1), options), ValueError);
        CHECK(v->value().empty());
    };
    auto const rates = [&](auto o) {
        o.learning_rate = -0.5;
        refused({.optimizer = o}, "learning_rate is -0.5, expected 0 or more");
        refused({.optimizers = {{"v", o}}}, "learning_rate is -0.5, expected 0 or more");
    };
    auto const decays = [&](auto o) {
        rates(o);
        o.weight_decay = -0.25;
        refused({.optimizer = o}, "weight_decay is -0.25, expected 0 or more");
    };
    decays(layer::Sgd{});
    decays(layer::AdaGrad{});
    decays(layer::RowwiseAdaGrad{});
    decays(layer::Momentum{});
    decays(layer::Adam{});
    decays(layer::AdamW{});
    decays(layer::Adamax{});
    decays(layer::Adadelta{});
    decays(layer::Lamb{});
    rates(layer::RmsProp{});
    rates(layer::Ftrl{});
    rates(Tired<true>{});  // and a user's
    refused({.optimizer = layer::Deferred{layer::Adam{.learning_rate = -0.5}}}, "learning_rate is -0.5, expected 0 or more");
    for (double const momentum : {-0.1, 1.5}) {
        std::string const text = momentum < 0 ? "momentum is -0.1, expected 0 or more" : "momentum is 1.5, expected a number in [0, 1]";
        refused({.optimizer = layer::Momentum{.momentum = momentum}}, text);
        refused({.optimizer = layer::RmsProp{.momentum = momentum}}, text);
    }
    refused({.optimizer = layer::Ftrl{.l1 = -1}}, "l1 is -1, expected 0 or more");
    refused({.optimizer = layer::Ftrl{.l2 = -1}}, "l2 is -1, expected 0 or more");
    refused({.rates = {{"v", -1}}}, "the rate of v is -1, expected 0 or more");
    refused({.schedule = layer::ConstantRate{-1}}, "the schedule's factor for step 0 is -1, expected 0 or more");
}

TEST_CASE("a schedule that falls below 0 ends the training at that step", "[layer]") {
    test::DefaultScope scope;
    auto const v = layer::parameter<float>({1}, layer::Constant{2}, "v");
    auto const falls = [](std::int64_t step) { return 1.0 - static_cast<double>(step); };
    CHECK_THROWS_WITH(train(layer::scale(v, 1), [](std::int64_t) { return std::vector<Feeds>(5); }, {.optimizer = layer::Sgd{.learning_rate = 1}, .schedule = falls}),
                      "the schedule's factor for step 2 is -1, expected 0 or more");
    CHECK(first(*v) == 1);  // a factor of 0 is none, and -0 too
    CHECK(train(layer::scale(v, 1), [](std::int64_t) { return std::vector<Feeds>(1); }, {.optimizer = layer::Sgd{.learning_rate = -0.0}, .rates = {{"v", -0.0}}}).get<float>("v")(0) == 2);
}

TEST_CASE("an optimizer of one's own is declared once, for tensors and nets", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const cost = layer::mean(layer::embedding(ids, {.height = 5, .width = 2, .table = layer::Constant{1}, .name = "w"}));
    auto const batches = [](std::int64_t) { return std::vector<Feeds>(3, {{"ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>{4, 1, 4})}}); };
    auto const trained = train(cost, batches, {.optimizer = Signum{.learning_rate = 0.5}});
    auto w = Tensor<float>::full({5, 2}, 1), moment = Tensor<float>::zeros({5, 2});
    SelectedRows<float> const g(5, {4, 1, 4}, Tensor<float>::full({3, 2}, 1.0F / 6));
    for (int step = 0; step < 3; ++step) mine::signum_step(w, moment, g, {.learning_rate = 0.5});
    CHECK(std::ranges::equal(trained.get<float>("w"), w));
    CHECK(trained.get<float>("w")(4, 0) == -0.5F);
    CHECK_THROWS_WITH(train(cost, batches, {.optimizer = Signum{.momentum = 1}}), Catch::Matchers::Contains("momentum is 1, expected less than 1"));
}

TEST_CASE("an optimizer that cannot be added leaves the scope unchanged", "[layer]") {
    Scope scope;
    auto& w = scope.new_var("w", tensor_spec<float>({2}), Role::parameter);
    auto& gradient = scope.new_var("gradient", tensor_spec<float>({2}));
    scope.new_var("w@adam.moment2", tensor_spec<float>({2}));
    layer::Optimizer const adam(layer::Adam{});
    CHECK_THROWS_AS(adam.add(scope, {&w, &gradient}), GraphError);
    CHECK(scope.variables().size() == 3);
    CHECK(scope.find("w@adam.moment1") == nullptr);
    CHECK(scope.operators().empty());
}

TEST_CASE("optimizers appended to a net by hand change all parameters or none", "[layer]") {
    Two net;
    auto const gradients = append_backward<float>(*net.cost);
    auto built = Net<>::trace_and_build(std::array{&*net.cost, gradients[0].gradient, gradients[1].gradient});
    auto const attributes = std::make_shared<AdaGradOptions>();
    auto& state = net.scope.new_var("state", tensor_spec<float>({1}), Role::state);
    built.append(net.scope.new_op<sgd_op, Cpu, float, float>({&*net.v, gradients[0].gradient}, {0.5}));
    built.append(net.scope.new_op(kernel_of<adagrad_op, Cpu, float, float, float>::value, {&*net.w, &state, gradients[1].gradient}, attributes));
    for (Variable* const p : {&*net.v, &*net.w, &state}) test::set(*p, LoDTensor<float>(Tensor<float>{0}));
    auto const refused = [&](std::string const& text) {
        CHECK_THROWS_WITH(built.run(net.scope), text);
        CHECK((first(*net.v) == 0 && first(*net.w) == 0));
    };
    attributes->epsilon = -1;
    refused("adagrad(param = w, moment = state, grad = identity_1.out_0): epsilon is -1, expected 0 or more");
    attributes->epsilon = 0;
    test::set(state, LoDTensor<float>(Tensor<float>{0, 0}));
    refused("adagrad(param = w, moment = state, grad = identity_1.out_0): moment.shape() is [2], expected [1], the shape of param");
    test::set(state, LoDTensor<double>(Tensor<double>{0}));
    CHECK_THROWS_AS(built.run(net.scope), TypeError);
    CHECK(first(*net.v) == 0);
    test::set(state, LoDTensor<float>(Tensor<float>{0}));
    built.run(net.scope);
    CHECK((first(*net.v) == -0.5f && first(*net.w) == -0.01f && first(state) == 1));
}

}  // namespace test_optimizer
