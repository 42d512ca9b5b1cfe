// tests/layer/check_net.hpp: nets of layers, run on given values and held to central differences.
#pragma once

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/infer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

using namespace rowan;

/// Numbers in (-1, 1) that are no round ones.
inline Tensor<double> values(Tensor<double>::shape_type const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto t = Tensor<double>::from_shape(shape);
    for (double& x : t) x = (static_cast<double>(random.below(2'000'001)) - 1e6) / 1'000'003;
    return t;
}

/// A parameter of doubles with such a value.
inline layer::Var<double> parameter(Dims const& dims, std::uint64_t seed, std::string const& name = "") {
    auto const v = layer::parameter<double>(dims, {-1, 1}, name);
    v->initialize(v->value(), seed);
    return v;
}

template <class V>
void set(Variable& v, V value) {
    v.value().set(std::move(value));
}

/// What a layer of a net without parameters gives.
template <class T>
LoDTensor<T> run(layer::Var<T> const& out, Feeds const& feeds = {}) {
    return infer(out, feeds, Parameters());
}

inline Tensor<double> dense(Value const& v) {
    return v.is<SelectedRows<double>>() ? to_dense(v.get<SelectedRows<double>>()) : v.get<LoDTensor<double>>().value();
}

/// Compares the gradient of every parameter, which all have values as the data has, with central differences of the cost.
inline void check_net(layer::Var<double> const& cost) {
    Scope& scope = cost->scope();
    auto const forward = Net<>::trace_and_build(*cost);
    auto const gradients = append_backward<double>(*cost);
    std::vector<Variable*> outputs{&*cost};
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    Net<>::trace_and_build(outputs).run(scope);
    std::vector<Tensor<double>> found;
    for (auto const& g : gradients) found.push_back(dense(g.gradient->value()));
    for (std::size_t p = 0; p < gradients.size(); ++p) {
        Tensor<double>& w = gradients[p].parameter->value().get<LoDTensor<double>>().value();
        REQUIRE(found[p].shape() == w.shape());
        for (std::size_t k = 0; k < w.size(); ++k) {
            double const before = w.data()[k], step = 1e-5;
            auto const loss = [&](double x) {
                w.data()[k] = x;
                forward.run(scope);
                return cost->value().get<LoDTensor<double>>().value()(0);
            };
            double const numeric = (loss(before + step) - loss(before - step)) / (2 * step);
            w.data()[k] = before;
            CAPTURE(gradients[p].parameter->name(), k, numeric, found[p].data()[k]);
            CHECK(std::abs(numeric - found[p].data()[k]) <= 1e-8 * (1 + std::abs(numeric)));
        }
    }
}

}  // namespace test
