// rowan/thrust/detail/on_device.hpp: OnDevice and HostIds, copies of numbers from the host to a device and back.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// A device copy of host numbers, or new device memory; freed in stream order.
template <class T, class System>
class OnDevice<T, ThrustDevice<System>> {
public:
    OnDevice(ThrustDevice<System> const& exec, std::span<T const> host) : block_(exec, host.size()) {
        if (!host.empty()) ThrustSystem<System>::from_host(exec, block_.data(), host.data(), host.size_bytes());
    }
    /// Uninitialised memory for n elements.
    OnDevice(ThrustDevice<System> const& exec, std::size_t n) : block_(exec, n) {}

    T* data() const noexcept { return block_.data(); }

private:
    DeviceStorage<T, System> block_;
};

/// Copies device ids to the host, which synchronizes.
template <class System>
class HostIds<ThrustDevice<System>> {
public:
    using Device = ThrustDevice<System>;

    HostIds(Device const& exec, Ids<Device> const& ids) : ids_(ids.host()) {
        if (!ids.on_device()) return;
        ids.check(exec);
        ids.visit([&]<class I>(I const* list) {
            auto list_copy = Tensor<I>::from_shape(ids.shape());
            read_back(exec, {{list_copy.data(), list, ids.size() * sizeof(I)}});
            copy_ = Tensor<std::int64_t>::from_shape(ids.shape());
            for (std::size_t i = 0; i < ids.size(); ++i) copy_.data()[i] = list_copy.data()[i];
        });
        ids_ = Ids<>(copy_);
    }
    HostIds(HostIds const&) = delete;
    HostIds& operator=(HostIds const&) = delete;

    operator Ids<> const&() const noexcept { return ids_; }

private:
    Tensor<std::int64_t> copy_;
    Ids<> ids_;
};

}  // namespace rowan::inline v0::detail
