// rowan/detail/on_device.hpp: new tensors and uploaded numbers, for code that is written once for all devices.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <concepts>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

template <class D>
inline constexpr bool is_cpu = std::same_as<D, Cpu>;

/// Does a recurrent net run a batch on this device as a whole? On the host it runs in parts, for threads; a device whose products have the
/// host's bits keeps to these, for the order of sums. Others gain nothing by them: its header specialises this.
template <class D>
inline constexpr bool runs_whole = false;

/// A tensor that is not initialised, made by a call on `exec`.
template <class T, class D>
Tensor<T, D> new_tensor(D const& exec, typename Tensor<T, D>::shape_type const& shape) {
    if constexpr (is_cpu<D>) {
        return Tensor<T>::from_shape(shape);
    } else {
        return Tensor<T, D>::from_shape(exec, shape);
    }
}

template <class T, class D>
Tensor<T, D> new_zeros(D const& exec, typename Tensor<T, D>::shape_type const& shape) {
    if constexpr (is_cpu<D>) {
        return Tensor<T>::zeros(shape);
    } else {
        return Tensor<T, D>::zeros(exec, shape);
    }
}

/// What the host has computed, where the device wants it.
template <class T, class D>
Tensor<T, D> placed(D const& exec, Tensor<T> host) {
    if constexpr (is_cpu<D>) {
        return host;
    } else {
        return Tensor<T, D>(exec, host);
    }
}

/// How a call that was given no execution runs: where the tensor was made.
template <class T, class D>
D exec_of(Tensor<T, D> const& tensor) {
    if constexpr (is_cpu<D>) {
        return Cpu{};
    } else {
        return tensor.device();
    }
}

/// Numbers that the host has computed, where a call on the device reads them, while it is enqueued.
template <class T, class D>
class OnDevice;

template <class T>
class OnDevice<T, Cpu> {
public:
    OnDevice(Cpu, std::span<T const> host) : data_(host.data()) {}
    T const* data() const noexcept { return data_; }

private:
    T const* data_;
};

/// How the host does its part of a call on `exec`.
template <class D>
Cpu host_exec(D const& exec) {
    if constexpr (is_cpu<D>) {
        return exec;
    } else {
        static_cast<void>(exec);
        return Cpu{};
    }
}

/// Numbers that the host must know, such as lengths, wherever they are.
template <class D>
class HostIds;

template <>
class HostIds<Cpu> {
public:
    HostIds(Cpu, Ids<> ids) : ids_(ids) {}
    operator Ids<> const&() const noexcept { return ids_; }

private:
    Ids<> ids_;
};

}  // namespace rowan::inline v0::detail
