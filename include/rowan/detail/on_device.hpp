// rowan/detail/on_device.hpp: new tensors and uploads for code that is generic over devices.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether a recurrent net runs a batch on this device as a whole. The host runs it in parts, for threads. Devices
/// whose matrix products are bit-identical to the host's use the same parts, which keeps the order of sums. The headers
/// of other devices, which gain nothing from parts, specialise this.
template <class D>
inline constexpr bool runs_whole = false;

/// An uninitialised tensor, allocated on `exec`.
template <class T, class D>
Tensor<T, D> new_tensor(D const& exec, typename Tensor<T, D>::shape_type const& shape) {
    return Tensor<T, D>::from_shape(exec, shape);
}

/// The bytes of the elements of a tensor in host memory; none for other devices.
template <class T, class D>
std::span<std::byte> host_bytes(Tensor<T, D>&) {
    return {};
}
template <class T>
std::span<std::byte> host_bytes(Tensor<T>& x) {
    return std::as_writable_bytes(std::span(x.data(), x.size()));
}

/// Numbers computed on the host, in memory that device calls enqueued during its lifetime can read. Cpu refers to the
/// host's memory, other devices copy it.
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

/// The `exec` of the host's part of a call on a device.
template <class D>
Cpu host_exec(D const&) {
    return {};
}
inline Cpu host_exec(Cpu const& exec) { return exec; }

/// Validates the execution of a call.
/// errors   ValueError if the number of threads is negative
template <class D>
void check_exec(D const& exec) {
    static_cast<void>(thread_count(host_exec(exec)));
}

/// Throws unless a call on `exec` may use these tensors. It may always use those of Cpu.
/// errors   CudaError if a tensor belongs to another GPU than the current one
template <class D, class... X>
void check_usable([[maybe_unused]] D const& exec, [[maybe_unused]] X const&... tensors) {
    if constexpr (!std::is_same_v<D, Cpu>) (tensors.check(exec), ...);
}

/// Host access to numbers, such as lengths, in the memory of any device.
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
