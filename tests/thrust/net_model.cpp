// tests/thrust/net_model.cpp: nets on a device, saved and loaded.
#include "nets.hpp"

#include <rowan/io/model.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace test_net_model {

namespace {

using namespace nets;

/// A temporary file.
struct File {
    explicit File(std::string const& name)
        : path((std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string()) {}
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File() { std::filesystem::remove(path); }

    std::string bytes() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    std::string path;
};

template <class D>
Model<D> build() {
    auto const ids = layer::data<std::int64_t, D>("words", {UNK}, 1);
    auto const rows = layer::embedding(ids, {.height = 20, .width = 6});
    auto const predict = layer::fc(layer::tanh(layer::sequence_pool(rows, {rowan::Pooling::mean})), {.output_size = 3});
    return {predict, layer::cross_entropy(predict, layer::data<std::int64_t, D>("label", {UNK}))};
}

std::vector<Feeds> batches() { return {{{"words", words({2, 0, 5}, 20, 1)}, {"label", labels(3, 3, 2)}}}; }
Feeds asked() { return {{"words", words({1, 4}, 20, 3)}}; }

/// Calls f(model, parameters) inside a scope.
template <class D, class F>
void trained(F const& f) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const model = build<D>();
    rowan::TrainOptionsOn<D> const options{.optimizer = ada_grad<D>(), .epochs = 2};
    f(model, rowan::train(model.cost, [](std::int64_t) { return batches(); }, options));
}

template <class D>
Tensor<float> predicted(Model<D> const& model, Parameters const& parameters) {
    return rowan::to_host(rowan::infer(model.predict, asked(), parameters).value());
}

}  // namespace

TEMPLATE_TEST_CASE("a model file of a device equals the host's, and both load it", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    File const of_host("rowan_host_"), of_device("rowan_device_");
    Tensor<float> expected;
    trained<Cpu>([&](Model<Cpu> const& model, Parameters const& parameters) {
        rowan::save_model(model.predict, parameters, of_host.path);
        expected = predicted(model, parameters);
    });
    trained<D>([&](Model<D> const& model, Parameters const& parameters) {
        rowan::save_model(model.predict, parameters, of_device.path);
        check_same<D>(predicted(model, parameters), expected);
    });
#ifndef __CUDACC__
    CHECK(of_device.bytes() == of_host.bytes());
#endif
    CHECK(of_device.bytes().size() == of_host.bytes().size());

    auto const load = [&]<class E>(std::type_identity<E>, File const& file) {
        rowan::Scope scope;
        rowan::ScopeGuard const guard(scope);
        auto const model = build<E>();
        check_same<D>(predicted(model, rowan::load_model(model.predict, file.path)), expected);
    };
    load(std::type_identity<Cpu>{}, of_device);
    load(std::type_identity<D>{}, of_device);
    load(std::type_identity<D>{}, of_host);
}

TEMPLATE_TEST_CASE("a net on a device is loaded from its file", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    File const file("rowan_program_");
    trained<D>([&](Model<D> const& model, Parameters const& parameters) {
        rowan::save_model(model.predict, parameters, file.path);
        using Ops = rowan::registry<rowan::lookup_table_op, rowan::sequence_pool_op, rowan::tanh_op, rowan::fc_op>;
        auto const loaded = rowan::load_model<Ops, rowan::dtypes<float>, D>(file.path);
        auto const y = rowan::infer(loaded.predict, asked(), loaded.parameters);
        CHECK(device::same_bits(rowan::to_host(y.value()), predicted(model, parameters)));
    });
}

TEMPLATE_TEST_CASE("the result of training on a device is saved, and training resumes on another", "[thrust][net]", ROWAN_NET_DEVICES) {
    using D = TestType;
    File const file("rowan_parameters_");
    trained<D>([&](Model<D> const& model, Parameters const& parameters) {
        rowan::save_parameters(parameters, file.path);
        auto const loaded = rowan::load_parameters(file.path);
        CHECK(loaded.steps == parameters.steps);
        for (auto const& [name, value] : values(parameters)) CHECK(device::same_bits(loaded.get<float>(name), value));
        rowan::TrainOptionsOn<D> options{.optimizer = ada_grad<D>()};
        auto const reader = [](std::int64_t) { return batches(); };
        options.resume = &parameters;
        auto const expected = values(rowan::train(model.cost, reader, options));
        options.resume = &loaded;
        auto const got = values(rowan::train(model.cost, reader, options));
        for (auto const& [name, value] : expected) CHECK(device::same_bits(got.at(name), value));
    });
}

#ifndef __CUDACC__

/// A system of the host's memory with streams that have numbers.
struct Numbered {};

}  // namespace test_net_model

template <>
struct rowan::ThrustDevice<test_net_model::Numbered> {
    int stream = 0;
    friend thrust::cpp::tag thrust_policy(ThrustDevice const&) { return {}; }
    friend bool operator==(ThrustDevice const&, ThrustDevice const&) = default;
};

namespace test_net_model {

TEST_CASE("the parameters of a file are made on the stream of the call that loads them", "[thrust][net]") {
    using D = rowan::ThrustDevice<Numbered>;
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const ids = layer::data<std::int64_t, D>("words", {UNK});
    auto const rows = layer::selected_rows<float, D>({4, 1}, {9, 2}, {0, 1}, "rows");
    auto const table = layer::parameter<float, D>({5, 2}, {0, 1}, "table");
    auto const predict = layer::add(layer::embedding(ids, rows), layer::embedding(ids, table));
    Parameters parameters;
    for (auto const* const v : {&*rows, &*table}) {
        rowan::Value first;
        v->initialize(first, 3, D{1});
        parameters.set(v->name(), std::move(first));
    }
    File const file("rowan_streams_");
    rowan::save_model(predict, parameters, file.path);
    auto const check = [&](Parameters const& loaded, int stream) {
        auto const& dense = loaded.get<float, D>("table");
        auto const& some = loaded.get_rows<float, D>("rows");
        CHECK(dense.device().stream == stream);
        CHECK((some.device().stream == stream && some.rows().device().stream == stream));
        CHECK(device::same_bits(dense, rowan::to_host(parameters.get<float, D>("table"))));
        CHECK(device::same_bits(some, rowan::to_host(parameters.get_rows<float, D>("rows"))));
    };
    using Ops = rowan::registry<rowan::lookup_table_op, rowan::add_op>;
    using Types = rowan::dtypes<float>;
    check(parameters, 1);
    check(rowan::load_model(predict, file.path), 0);
    check(rowan::load_model(D{2}, predict, file.path), 2);
    check(rowan::load_model<Ops, Types, D>(file.path).parameters, 0);
    check(rowan::load_model<Ops, Types>(D{3}, file.path, {.map = true}).parameters, 3);
    Tensor<float> const want = rowan::to_host(rowan::infer(predict, {{"words", Tensor<std::int64_t>{4, 1}}}, parameters).value());
    auto const there = rowan::load_model<Ops>(D{3}, file.path);
    CHECK(device::same_bits(rowan::infer(there.predict, {{"words", Tensor<std::int64_t>{4, 1}}}, there.parameters, D{5}).value(), want));
}

#endif

}  // namespace test_net_model
