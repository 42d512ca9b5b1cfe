// tests/thrust/nets.hpp: the same net trained on the host and on a device.
#pragma once

#include "devices.hpp"

#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>
#include <rowan/thrust.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Nets take long to compile, so only one system in the host's memory is tested.
#ifdef __CUDACC__
#include <rowan/thrust/cublas.hpp>
#define ROWAN_NET_DEVICES rowan::Cuda
#else
#include <thrust/system/cpp/execution_policy.h>
#define ROWAN_NET_DEVICES rowan::ThrustDevice<thrust::cpp::tag>
#endif

namespace nets {

namespace layer = rowan::layer;
using rowan::Cpu, rowan::Feeds, rowan::LoDTensor, rowan::Parameters, rowan::Tensor, rowan::UNK;

/// The prediction of a net, and the cost for training.
template <class D>
struct Model {
    layer::Var<float, D> predict, cost;
};

/// Like Feeds, but on another device with tensors of the device.
template <class D>
Feeds on_device(Feeds const& feeds) {
    if constexpr (std::is_same_v<D, Cpu>) {
        return feeds;
    } else {
        Feeds there;
        for (auto const& [name, feed] : feeds) {
            auto const value = feed.value();
            auto const copy = [&, &name = name]<class T>(std::type_identity<T>) {
                if (value.template is<LoDTensor<T>>())
                    there.emplace(name, rowan::to_device(D{}, value.template get<LoDTensor<T>>()));
            };
            copy(std::type_identity<float>{});
            copy(std::type_identity<std::int32_t>{});
            copy(std::type_identity<std::int64_t>{});
        }
        return there;
    }
}

using Values = std::map<std::string, Tensor<float>>;

inline Values values(Parameters const& parameters) {
    Values all;
    for (auto const& [name, value] : parameters) all.emplace(name, value.on_host().get<LoDTensor<float>>().value());
    return all;
}

/// Matrix products differ on a GPU; a system in the host's memory has the host's bits.
template <class D>
void check_same(Tensor<float> const& of_device, Tensor<float> const& of_host) {
#ifdef __CUDACC__
    REQUIRE(of_device.shape() == of_host.shape());
    for (std::size_t i = 0; i < of_host.size(); ++i)
        CHECK(std::abs(of_device.data()[i] - of_host.data()[i]) <= 1e-3f * (1 + std::abs(of_host.data()[i])));
#else
    CHECK(device::same_bits(of_device, of_host));
#endif
}

template <class D>
void check_same(Values const& of_device, Values const& of_host) {
    REQUIRE(of_device.size() == of_host.size());
    for (auto const& [name, value] : of_host) {
        CAPTURE(name);
        REQUIRE(of_device.contains(name));
        check_same<D>(of_device.at(name), value);
    }
}

/// For parameters of float only, to save compile time.
template <class D>
layer::OptimizerOn<D> ada_grad() {
    return {layer::AdaGrad{.learning_rate = 0.1}, rowan::dtypes<float>{}};
}

struct Result {
    std::vector<double> costs;
    Values parameters;
    Tensor<float> predicted;
};

template <class D>
void check_same(Result const& of_device, Result const& of_host) {
    REQUIRE(of_device.costs.size() == of_host.costs.size());
    for (std::size_t i = 0; i < of_host.costs.size(); ++i)
        check_same<D>(Tensor<float>{static_cast<float>(of_device.costs[i])}, Tensor<float>{static_cast<float>(of_host.costs[i])});
    check_same<D>(of_device.parameters, of_host.parameters);
    check_same<D>(of_device.predicted, of_host.predicted);
}

/// Builds a net in a new scope, trains it and runs it; `build` is a function template of the device.
template <class D, class Build>
Result train(Build const& build, std::vector<Feeds> const& batches, Feeds const& asked, rowan::TrainOptionsOn<D> options,
             bool feeds_on_device = false) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    Model<D> const model = build(std::type_identity<D>{});
    Result result;
    options.on_batch = [&](rowan::BatchReport const& r) { result.costs.push_back(r.cost); };
    std::vector<Feeds> mine;
    for (auto const& batch : batches) mine.push_back(feeds_on_device ? on_device<D>(batch) : batch);
    auto const parameters = rowan::train(model.cost, [&](std::int64_t) -> auto const& { return mine; }, options);
    result.parameters = values(parameters);
    result.predicted = rowan::to_host(rowan::infer(model.predict, asked, parameters).value());
    return result;
}

/// Ids in [0, height) for sequences of these lengths, with many duplicates.
inline LoDTensor<std::int64_t> words(std::vector<std::int64_t> const& lengths, std::int64_t height, unsigned seed) {
    auto const lod = rowan::Lod::from_lengths({lengths});
    auto const ids = device::some_ids(static_cast<std::size_t>(lod.rows()), height, 30, seed);
    auto value = Tensor<std::int64_t>::from_shape({ids.size()});
    std::copy(ids.begin(), ids.end(), value.data());
    return {std::move(value), lod};
}

inline Tensor<std::int64_t> labels(std::size_t n, std::int64_t classes, unsigned seed) {
    return words({static_cast<std::int64_t>(n)}, classes, seed).value();
}

}  // namespace nets
