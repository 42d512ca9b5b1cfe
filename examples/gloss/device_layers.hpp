// gloss/device_layers.hpp: the functions of layers.hpp for other devices, built from rowan's operators.
#pragma once

#include "layers.hpp"

#include <rowan/rowan.hpp>
#include <rowan/thrust.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gloss {

using rowan::ThrustDevice;
template <class System>
using Floats = Tensor<float, ThrustDevice<System>>;

template <class System>
Floats<System> on_device(ThrustDevice<System> const& device, Tensor<float> const& x) {
    return rowan::to_device(device, x);
}
template <class System>
Tensor<float> on_host(Floats<System> const& x) {
    return rowan::to_host(x);
}
template <class System>
Floats<System> zeros_like(ThrustDevice<System> const& device, Floats<System> const& x) {
    return Floats<System>::zeros(device, x.shape());
}

template <class System>
void rows_of(ThrustDevice<System> const& device, Floats<System> const& table, std::vector<std::int32_t> const& ids, Floats<System>& out) {
    out = rowan::gather(device, table, ids);
}

template <class System>
rowan::LoDTensor<float, ThrustDevice<System>> bags(Floats<System> const& in, std::span<std::size_t const> offsets) {
    return {in.share(), rowan::Lod{std::vector<std::int64_t>(offsets.begin(), offsets.end())}};
}
template <class System>
void mean_of_rows(ThrustDevice<System> const& device, Floats<System> const& in, std::span<std::size_t const> offsets, Floats<System>& out) {
    auto pooled = rowan::sequence_pool(device, bags(in, offsets), rowan::Pooling::mean);
    out = std::move(pooled.value());
}
template <class System>
void mean_of_rows_grad(ThrustDevice<System> const& device, Floats<System> const& in, Floats<System> const& grad_out,
                       std::span<std::size_t const> offsets, Floats<System>& grad_in) {
    auto grads = rowan::sequence_pool_grad(device, bags(in, offsets), grad_out, rowan::Pooling::mean);
    grad_in = std::move(grads.value());
}

template <class System>
void fc(ThrustDevice<System> const& device, Floats<System> const& in, Floats<System> const& weight, Floats<System> const& bias, Floats<System>& out) {
    auto const product = rowan::matmul(device, in, weight, false, true);
    out = rowan::add(device, product, rowan::expand_rows(device, bias, product));
}
template <class System>
void fc_grad(ThrustDevice<System> const& device, Floats<System> const& in, Floats<System> const& weight, Floats<System> const& grad_out,
             Floats<System>& grad_in, Floats<System>& grad_weight, Floats<System>& grad_bias) {
    grad_in = rowan::matmul(device, grad_out, weight);
    grad_weight = rowan::matmul(device, grad_out, in, true);
    grad_bias = rowan::reduce_sum(device, grad_out, {.axes = {0}});
}

/// Waits for the loss.
template <class System>
double softmax_cross_entropy_grad(ThrustDevice<System> const& device, Floats<System>& scores, std::span<std::int32_t const> labels) {
    auto host = Tensor<std::int32_t>::from_shape({labels.size()});
    std::copy(labels.begin(), labels.end(), host.data());
    auto const label = rowan::to_device(device, host);
    auto const [loss, softmax] = rowan::cross_entropy(device, scores, label);
    scores = rowan::cross_entropy_grad(device, softmax, label, Floats<System>::full(device, {1}, 1.0f));
    return static_cast<double>(rowan::to_host(device, loss)(0)) * static_cast<double>(labels.size());
}

}  // namespace gloss
