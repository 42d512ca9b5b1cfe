// rowan/graph/detail/device_values.hpp: what nets ask of the device that they run on, beside its operators.
#pragma once

#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// The execution that a type-erased pointer names, or that of a call which names none.
template <class D>
D exec_or_default(void const* device) {
    return device == nullptr ? D{} : *static_cast<D const*>(device);
}

/// Waits for what was enqueued.
/// errors   that of a call before, see ThrustDevice
template <class D>
void wait_for(D const& exec) {
    if constexpr (!is_cpu<D>) synchronize(exec);
}

/// Runs f, which enqueues calls. Where it throws, the error of a call before is thrown in its place: it came first.
template <class D, class F>
void in_order(D const& exec, F const& f) {
    try {
        f();
    } catch (...) {
        wait_for(exec);
        throw;
    }
}

/// The first of the elements of a tensor, which must have one. One in the memory of a device is waited for.
template <class T, class D>
T first_element(D const& exec, Tensor<T, D> const& x) {
    if constexpr (is_cpu<D>) {
        return x.data()[0];
    } else {
        return to_host(exec, x).data()[0];
    }
}

/// A copy made by a call on `exec`, wherever x was made.
template <class T, class D>
Tensor<T, D> copy_made_by(D const& exec, Tensor<T, D> const& x) {
    if constexpr (is_cpu<D>) {
        return x;
    } else {
        if (!(x.device() == exec)) synchronize(x.device());
        auto copy = new_tensor<T>(exec, x.shape());
        std::int64_t const first = 0;
        OnDevice<std::int64_t, D> const index(exec, std::span(&first, 1));
        take_rows(exec, 1, x.size(), x.data(), index.data(), copy.data());
        return copy;
    }
}

/// Brings a tensor from anywhere to the device of a net, whose execution `device` is; what is there already stays as it is, or becomes
/// a copy where the variable is to have its own.
/// errors   TypeError if it is no tensor of T
template <class T, class D>
void bring(Value& value, void const* device, bool own) {
    D const exec = exec_or_default<D>(device);
    if (value.is<LoDTensor<T, D>>()) {
        auto& there = value.get<LoDTensor<T, D>>();
        if (own) value.set(LoDTensor<T, D>(copy_made_by(exec, there.value()), there.lod()));
        return;
    }
    value = value.on_host();
    if constexpr (!is_cpu<D>) {
        auto& host = value.get<LoDTensor<T>>();
        value.set(LoDTensor<T, D>(placed(exec, host.value().share()), host.lod()));
    }
}

ROWAN_TEMPLATE(void bring<float, Cpu>(Value&, void const*, bool))
ROWAN_TEMPLATE(void bring<double, Cpu>(Value&, void const*, bool))
ROWAN_TEMPLATE(void bring<std::int32_t, Cpu>(Value&, void const*, bool))
ROWAN_TEMPLATE(void bring<std::int64_t, Cpu>(Value&, void const*, bool))
ROWAN_TEMPLATE(void bring<bool, Cpu>(Value&, void const*, bool))

}  // namespace rowan::inline v0::detail
