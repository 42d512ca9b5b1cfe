// tests/thrust/net_train.cpp: nets of fully connected layers, trained on a device.
#include "nets.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace test_net_train {

namespace {

using namespace nets;

constexpr auto two_layers = []<class D>(std::type_identity<D>) {
    auto const x = layer::data<float, D>("x", {UNK, 5});
    auto const y = layer::data<float, D>("y", {UNK, 3});
    auto const predict = layer::fc(layer::tanh(layer::fc(x, {.output_size = 4})), {.output_size = 3});
    return Model<D>{predict, layer::mse(predict, y)};
};

Feeds batch(std::size_t n, unsigned seed) {
    return {{"x", device::filled<float>({n, 5}, seed)}, {"y", device::filled<float>({n, 3}, seed + 1)}};
}

std::vector<Feeds> batches() { return {batch(7, 1), batch(1, 3), batch(65, 5), batch(64, 7)}; }

template <class D>
rowan::TrainOptionsOn<D> options(auto const& optimizer) {
    return {.optimizer = layer::OptimizerOn<D>(optimizer, rowan::dtypes<float>{}), .epochs = 2, .seed = 3};
}

}  // namespace

TEMPLATE_TEST_CASE("a net on a device is trained to the host's bits by every optimizer", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const same = [](auto const& o) {
        auto const of_host = train<Cpu>(two_layers, batches(), batch(3, 9), options<Cpu>(o));
        check_same<D>(train<D>(two_layers, batches(), batch(3, 9), options<D>(o)), of_host);
        check_same<D>(train<D>(two_layers, batches(), batch(3, 9), options<D>(o), true), of_host);
    };
    same(layer::AdaGrad{.learning_rate = 0.1});
    same(layer::Adam{.learning_rate = 0.01});
    same(layer::Sgd{.learning_rate = 0.01});
    same(layer::Momentum{.learning_rate = 0.01, .nesterov = true});
    same(layer::Adamax{.learning_rate = 0.01});
    same(layer::Adadelta{});
    same(layer::Lamb{.learning_rate = 0.01});
    same(layer::RmsProp{.learning_rate = 0.01});
    same(layer::Ftrl{.learning_rate = 0.1});
}

TEMPLATE_TEST_CASE("norms and moving averages of a net on a device have the host's bits", "[thrust][net]", ROWAN_NET_DEVICES) {
    auto const normed = []<class D>(std::type_identity<D>) {
        auto const x = layer::data<float, D>("x", {UNK, 5});
        auto const y = layer::data<float, D>("y", {UNK, 3});
        auto const predict = layer::fc(layer::layer_norm(layer::batch_norm(x), {.scale = false}), {.output_size = 3});
        return Model<D>{predict, layer::mse(predict, y)};
    };
    auto const run = [&]<class D>(std::type_identity<D>) {
        auto o = options<D>(layer::AdamW{.learning_rate = 0.01});
        o.rates = {{"fc_0.w_0", 0.5}};
        o.average = layer::AverageOn<D>(layer::MovingAverage{.decay = 0.5}, rowan::dtypes<float>{});
        return train<D>(normed, batches(), batch(3, 9), o);
    };
    check_same<TestType>(run(std::type_identity<TestType>{}), run(std::type_identity<Cpu>{}));
}

TEMPLATE_TEST_CASE("a batch that a net on a device refuses leaves its parameters as they were", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const model = two_layers(std::type_identity<D>{});
    auto const first = rowan::train(model.cost, [](std::int64_t) { return batches(); }, options<D>(layer::Adam{}));

    auto bad = device::filled<float>({7, 5}, 1);
    bad(3, 2) = std::numeric_limits<float>::quiet_NaN();
    std::vector<Feeds> const refused{batch(7, 11), {{"x", bad}, {"y", device::filled<float>({7, 3}, 1)}}};
    auto resumed = options<D>(layer::Adam{});
    resumed.resume = &first;
    std::optional<Values> before;
    resumed.on_batch = [&](rowan::BatchReport const&) {
        before.emplace();
        for (auto const& v : scope.variables()) {
            if (v->role() == rowan::Role::parameter) before->emplace(v->name(), v->value().on_host().template get<LoDTensor<float>>().value());
        }
    };
    CHECK_THROWS_AS(rowan::train(model.cost, [&](std::int64_t) { return refused; }, resumed), rowan::ValueError);
    REQUIRE(before);
    for (auto const& [name, value] : *before)
        CHECK(device::same_bits(scope.get(name).value().on_host().template get<LoDTensor<float>>().value(), value));

    Feeds const other{{"x", rowan::to_device<D>(device::filled<float>({7, 4}, 1))}, {"y", device::filled<float>({7, 3}, 1)}};
    CHECK_THROWS_AS(rowan::infer(model.predict, other, first), rowan::ShapeError);
    CHECK_THROWS_AS(rowan::infer(model.predict, {{"x", device::filled<double>({7, 5}, 1)}}, first), rowan::TypeError);
}

TEMPLATE_TEST_CASE("training resumes on another device", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const half = [&]<class E>(std::type_identity<E> device, Parameters const* resume) {
        rowan::Scope scope;
        rowan::ScopeGuard const guard(scope);
        auto o = options<E>(layer::Adam{.learning_rate = 0.01});
        o.resume = resume;
        return rowan::train(two_layers(device).cost, [](std::int64_t) { return batches(); }, o);
    };
    std::type_identity<D> const there;
    std::type_identity<Cpu> const here;
    auto const a = half(here, nullptr), b = half(there, nullptr);
    auto const before = values(b);
    auto const of_host = values(half(here, &a));
    check_same<D>(values(half(there, &a)), of_host);
    check_same<D>(values(half(there, &b)), of_host);
    check_same<D>(values(half(here, &b)), of_host);
    for (auto const& [name, value] : values(b)) CHECK(device::same_bits(value, before.at(name)));
    CHECK(b.template get<float, D>("fc_0.w_0").shape() == Tensor<float>::shape_type{5, 4});
    CHECK_THROWS_AS(b.template get<float>("fc_0.w_0"), rowan::TypeError);
}

TEMPLATE_TEST_CASE("gradients are clipped and rates follow a schedule on a device", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const trained = []<class E>(std::type_identity<E>, auto const& clip) {
        auto o = options<E>(layer::AdaGrad{.learning_rate = 0.1});
        o.clip = layer::GradientClipOn<E>(clip, rowan::dtypes<float>{});
        o.schedule = layer::CosineDecay{.steps = 6};
        o.optimizers = {{"fc_0.w_0", layer::OptimizerOn<E>(layer::Momentum{}, rowan::dtypes<float>{})}};
        return train<E>(two_layers, batches(), batch(3, 9), o);
    };
    auto const same = [&](auto const& clip) {
        check_same<D>(trained(std::type_identity<D>{}, clip), trained(std::type_identity<Cpu>{}, clip));
    };
    same(layer::ClipByGlobalNorm{.max_norm = 0.1});
    same(layer::ClipByNorm{.max_norm = 0.1});
    same(layer::ClipByValue{.min = -0.1, .max = 0.1});
}

}  // namespace test_net_train
