// tests/op/check_gradients.hpp: gradients of operators against central differences, in double.
#pragma once

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/core/tensor.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace test {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::SelectedRows, rowan::Tensor;

inline Tensor<double> dense(Tensor<double> const& t) { return t; }
inline Tensor<double> dense(LoDTensor<double> const& t) { return t.value(); }
inline Tensor<double> dense(SelectedRows<double> const& g) { return rowan::to_dense(g); }

template <class V>
inline constexpr bool has_numbers = std::is_same_v<V, Tensor<double>> || std::is_same_v<V, LoDTensor<double>>;

/// A gradient for an output, with its shape and levels.
inline Tensor<double> like(Tensor<double> const& t, std::uint64_t seed) { return values(t.shape(), seed); }
inline LoDTensor<double> like(LoDTensor<double> const& t, std::uint64_t seed) { return {values(t.shape(), seed), t.lod()}; }
template <class V>
rowan::no_value like(V const&, std::uint64_t) {
    return {};
}

template <class V, class W>
double dot(V const& value, W const& weight) {
    if constexpr (std::is_same_v<W, rowan::no_value>) {
        return 0;
    } else {
        Tensor<double> const a = dense(value), b = dense(weight);
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
        return sum;
    }
}

/// Whether a rule reads the gradient of this output.
template <class Slot, class... Rule>
constexpr bool reads_grad(rowan::grad_rules<Rule...>) {
    return (Rule::reads::template has<rowan::grad_of<Slot>> || ...);
}

template <class Op, class Slot, class V>
auto weight(V const& out, std::uint64_t seed) {
    if constexpr (reads_grad<Slot>(rowan::grad_rules_of<Op>{})) {
        return like(out, seed);
    } else {
        return rowan::no_value{};
    }
}

template <class Op, class... Slot, class... Out>
auto weights_of(rowan::slots<Slot...>, std::tuple<Out...> const& outputs) {
    return std::apply(
        [](auto const&... out) {
            return std::tuple(weight<Op, Slot>(out, 1000 + rowan::slots<Slot...>::template index<Slot>)...);
        },
        outputs);
}

/// Compares the gradient of an input with differences of the loss.
template <class X, class G, class Loss>
void check_input(X& input, G const& gradient, Loss const& loss, double tolerance) {
    if constexpr (has_numbers<X>) {
        Tensor<double>& x = input;
        auto analytic = Tensor<double>::zeros(x.shape());
        if constexpr (!std::is_same_v<G, rowan::no_value>) analytic = dense(gradient);
        REQUIRE(analytic.shape() == x.shape());
        for (std::size_t k = 0; k < x.size(); ++k) {
            double const before = x.data()[k], step = 1e-5;
            x.data()[k] = before + step;
            double const above = loss();
            x.data()[k] = before - step;
            double const below = loss();
            x.data()[k] = before;
            double const numeric = (above - below) / (2 * step);
            CAPTURE(k, numeric, analytic.data()[k]);
            CHECK(std::abs(numeric - analytic.data()[k]) <= tolerance * (1 + std::abs(numeric)));
        }
    }
}

template <class Inputs, class Grads, class Loss, std::size_t... i>
void check_inputs(Inputs& inputs, Grads const& grads, Loss const& loss, double tolerance, std::index_sequence<i...>) {
    (
        [&] {
            CAPTURE(i);
            check_input(std::get<i>(inputs), std::get<i>(grads), loss, tolerance);
        }(),
        ...);
}

template <class A, class B, std::size_t... i>
double dots(A const& a, B const& b, std::index_sequence<i...>) {
    return (0.0 + ... + dot(std::get<i>(a), std::get<i>(b)));
}

/// Checks the gradients of all floating-point inputs of Op. The loss is a weighted sum of the outputs whose gradients
/// are read; an input without a gradient must not change it.
template <class Op, class... In>
void check_gradients(std::tuple<In...> inputs, rowan::attributes_of<Op> const& attributes = {}, double tolerance = 1e-7) {
    auto const run = [&] {
        return std::apply([&](auto const&... in) { return rowan::detail::run_op<Op>(Cpu{}, attributes, in...); }, inputs);
    };
    auto const outputs = run();
    auto const weights = weights_of<Op>(typename Op::outputs{}, outputs);
    auto const loss = [&] { return dots(run(), weights, std::make_index_sequence<Op::outputs::size>{}); };
    auto const grads = rowan::gradients<Op>(Cpu{}, inputs, outputs, weights, attributes);
    check_inputs(inputs, grads, loss, tolerance, std::index_sequence_for<In...>{});
}

}  // namespace test
