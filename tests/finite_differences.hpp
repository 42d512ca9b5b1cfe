// tests/finite_differences.hpp: feeds and initializes nets, and compares gradients with central differences in double.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A scope that is this thread's default scope during its lifetime.
struct DefaultScope : rowan::Scope {
    rowan::ScopeGuard guard{*this};
};

template <class V>
rowan::Value value(V v) {
    rowan::Value holder;
    holder.set(std::move(v));
    return holder;
}

/// Gives a variable a value.
template <class V>
void feed(rowan::Scope& scope, char const* name, V v) {
    scope.get(name).value() = value(std::move(v));
}

/// A data variable with this value and any number of rows.
template <class T>
rowan::layer::Var<T> fed(char const* name, rowan::LoDTensor<T> v) {
    rowan::Dims dims{rowan::UNK};
    for (std::size_t i = 1; i < v.shape().size(); ++i) dims.push_back(static_cast<std::int64_t>(v.shape()[i]));
    auto const x = rowan::layer::data<T>(name, dims, v.lod().levels());
    x->value() = value(std::move(v));
    return x;
}

/// Initial values for all parameters; `alike`: parameters of equal shape get equal values.
inline void initialize(rowan::Net<> const& net, std::uint64_t seed, bool alike = false) {
    for (rowan::Variable* const v : net.inputs()) {
        if (v->initialize) v->initialize(v->value(), alike ? seed : ++seed);
    }
}

inline rowan::Tensor<double> dense(rowan::Value const& v) {
    if (v.is<rowan::SelectedRows<double>>()) return to_dense(v.get<rowan::SelectedRows<double>>());
    return v.get<rowan::LoDTensor<double>>().value();
}

/// Compares the gradient of every parameter with central differences of cost. Returns the gradients.
inline std::vector<rowan::ParameterGradient> check_net(rowan::Variable& cost) {
    using namespace rowan;
    Scope& scope = cost.scope();
    auto const forward = Net<>::trace_and_build(cost);
    auto const gradients = append_backward<double>(cost);
    std::vector<Variable*> outputs{&cost};
    std::uint64_t seed = 0;
    for (auto const& g : gradients) {
        outputs.push_back(g.gradient);
        if (g.parameter->value().empty()) g.parameter->initialize(g.parameter->value(), ++seed);
    }
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
                return cost.value().get<LoDTensor<double>>().value()(0);
            };
            double const numeric = (loss(before + step) - loss(before - step)) / (2 * step);
            w.data()[k] = before;
            CAPTURE(gradients[p].parameter->name(), k, numeric, found[p].data()[k]);
            CHECK(std::abs(numeric - found[p].data()[k]) <= 1e-8 * (1 + std::abs(numeric)));
        }
    }
    return gradients;
}
inline std::vector<rowan::ParameterGradient> check_net(rowan::layer::Var<double> const& cost) { return check_net(*cost); }

/// The same; only the parameter `sparse` must have a row-sparse gradient.
inline void check_gradients(rowan::layer::Var<double> const& cost, std::string const& sparse = "") {
    for (auto const& g : check_net(cost))
        CHECK(g.gradient->value().is<rowan::SelectedRows<double>>() == (g.parameter->name() == sparse));
}

}  // namespace test
