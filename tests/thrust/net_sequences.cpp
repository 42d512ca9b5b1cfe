// tests/thrust/net_sequences.cpp: nets of sequences, trained on a device: bags, recurrent steps, loops.
#include "nets.hpp"

#include <tuple>

namespace test_net_sequences {

namespace {

using namespace nets;

constexpr std::int64_t height = 50, classes = 4;

template <class D>
Model<D> classifier(layer::Var<float, D> const& state) {
    auto const predict = layer::fc(state, {.output_size = classes});
    return {predict, layer::cross_entropy(predict, layer::data<std::int64_t, D>("label", {UNK}))};
}

constexpr auto bag = []<class D>(std::type_identity<D>) {
    auto const ids = layer::data<std::int64_t, D>("words", {UNK}, 1);
    return classifier<D>(layer::embedding_bag(ids, {.height = height, .width = 6, .name = "table"}, {.pool = rowan::Pooling::mean}));
};

constexpr auto gru = []<class D>(std::type_identity<D>) {
    auto const ids = layer::data<std::int64_t, D>("words", {UNK}, 1);
    auto const rows = layer::embedding(ids, {.height = height, .width = 6, .name = "table"});
    auto const states = layer::rnn_with_last(rows, 5, [](auto row, auto before) {
        auto const now = layer::gru_unit(row, before, {.size = 5});
        return layer::Step{now, now};
    });
    return classifier<D>(states.last);
};

/// A reverse net with the lookup inside the step, whose result has all states.
constexpr auto lookup_in_step = []<class D>(std::type_identity<D>) {
    auto const ids = layer::data<std::int64_t, D>("words", {UNK}, 1);
    auto const table = layer::embedding_table<float, D>({.height = height, .width = 6, .name = "table"});
    auto const states = layer::rnn(
        ids, layer::Memory{.size = 6},
        [&](auto id, auto before) {
            auto const now = layer::tanh(layer::add(layer::embedding(id, table), layer::fc(before, {.output_size = 6})));
            return layer::Step{now, now};
        },
        {.reverse = true});
    return classifier<D>(layer::sequence_pool(states, {rowan::Pooling::mean}));
};

Feeds batch(std::vector<std::int64_t> const& lengths, unsigned seed) {
    return {{"words", words(lengths, height, seed)}, {"label", labels(lengths.size(), classes, seed + 1)}};
}

/// Enough sequences for several parts.
std::vector<std::int64_t> many_lengths() {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < 70; ++i) lengths.push_back(i * 7 % 6);
    return lengths;
}

std::vector<Feeds> batches() {
    return {batch({0, 1, 5, 5, 2}, 1), batch({3}, 3), batch({0, 1, 0}, 5), batch(many_lengths(), 7)};
}

template <class D, class Build>
Result trained(Build const& build) {
    return train<D>(build, batches(), batch({2, 0, 4}, 9), {.optimizer = ada_grad<D>(), .epochs = 2, .seed = 3});
}

}  // namespace

TEMPLATE_TEST_CASE("a net of bags is trained on a device to the host's bits", "[thrust][net]", ROWAN_NET_DEVICES) {
    check_same<TestType>(trained<TestType>(bag), trained<Cpu>(bag));
}

TEMPLATE_TEST_CASE("a recurrent net is trained on a device to the host's bits", "[thrust][net]", ROWAN_NET_DEVICES) {
    check_same<TestType>(trained<TestType>(gru), trained<Cpu>(gru));
}

TEMPLATE_TEST_CASE("a lookup within a recurrent step runs on a device", "[thrust][net]", ROWAN_NET_DEVICES) {
    check_same<TestType>(trained<TestType>(lookup_in_step), trained<Cpu>(lookup_in_step));
}

TEMPLATE_TEST_CASE("bad ids of a batch on a device throw from train, and change nothing", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const refused = [](auto const& build) {
        rowan::Scope scope;
        rowan::ScopeGuard const guard(scope);
        Model<D> const model = build(std::type_identity<D>{});
        auto const reader = [](std::int64_t) { return batches(); };
        rowan::TrainOptionsOn<D> options{.optimizer = ada_grad<D>()};
        auto const good = rowan::train(model.cost, reader, options);
        options.resume = &good;
        auto bad = words({2, 3}, height, 1);
        bad.value()(3) = height;
        Feeds const feeds{{"words", bad}, {"label", labels(2, classes, 1)}};
        CHECK_THROWS_AS(rowan::train(model.cost, [&](std::int64_t) { return std::vector<Feeds>{feeds}; }, options), rowan::IndexError);
        for (auto const& [name, value] : values(good)) {
            if (name.find('@') != name.npos) continue;
            CHECK(device::same_bits(scope.get(name).value().on_host().template get<LoDTensor<float>>().value(), value));
        }
        CHECK_THROWS_AS(rowan::infer(model.predict, feeds, good), rowan::IndexError);
        CHECK_NOTHROW(rowan::infer(model.predict, batch({2, 3}, 1), good));
    };
    refused(bag);
    refused(gru);
    refused(lookup_in_step);
}

TEMPLATE_TEST_CASE("a loop over an array runs on a device", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const build = []<class E>(std::type_identity<E>) {
        auto const x = layer::data<float, E>("x", {UNK, 3});
        auto const y = layer::data<float, E>("y", {UNK, 3});
        auto const none = layer::create_array<float, E>({UNK, 3});
        auto const [i, state, all] = layer::while_loop(
            std::tuple(layer::full<std::int64_t, E>({1}, 0), x, none), [](auto i, auto, auto) { return layer::less(i, 4); },
            [](auto i, auto state, auto all) {
                auto const next = layer::tanh(layer::fc(state, {.output_size = 3}));
                return std::tuple(layer::scale(i, 1, 1), next, layer::array_write(all, i, next));
            });
        auto const last = layer::array_read(all, layer::full<std::int64_t, E>({1}, 2));
        return Model<E>{state, layer::mse(layer::add(state, last), y)};
    };
    auto const one = [](std::size_t n, unsigned seed) {
        return Feeds{{"x", device::filled<float>({n, 3}, seed)}, {"y", device::filled<float>({n, 3}, seed + 1)}};
    };
    auto const of = [&]<class E>(std::type_identity<E>) {
        return train<E>(build, {one(5, 1), one(64, 3)}, one(2, 5), {.optimizer = ada_grad<E>(), .epochs = 2});
    };
    check_same<D>(of(std::type_identity<D>{}), of(std::type_identity<Cpu>{}));
}

TEMPLATE_TEST_CASE("dropout on a device drops the same elements as on the host", "[thrust][net]", ROWAN_NET_DEVICES) {
    auto const build = []<class E>(std::type_identity<E>) {
        auto const x = layer::data<float, E>("x", {UNK, 3});
        auto const predict = layer::fc(layer::dropout(layer::fc(x, {.output_size = 40})), {.output_size = 2});
        return Model<E>{predict, layer::mse(predict, layer::data<float, E>("y", {UNK, 2}))};
    };
    Feeds const feeds{{"x", device::filled<float>({9, 3}, 1)}, {"y", device::filled<float>({9, 2}, 2)}};
    auto const of = [&]<class E>(std::type_identity<E>) {
        return train<E>(build, {feeds, feeds}, feeds, {.optimizer = ada_grad<E>(), .epochs = 2, .seed = 5});
    };
    check_same<TestType>(of(std::type_identity<TestType>{}), of(std::type_identity<Cpu>{}));
}

}  // namespace test_net_sequences
