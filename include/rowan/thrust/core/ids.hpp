// rowan/thrust/core/ids.hpp: Ids<ThrustDevice<System>>, row numbers in the memory of a device or of the host.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/thrust/core/synchronize.hpp>
#include <rowan/thrust/core/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <utility>

namespace rowan::inline v0 {

/// A read-only view of row numbers of any shape, int32 or int64: a Tensor of the device, or what Ids of the host take, which is copied
/// to the device by the call that is given it. Bad ids of the host are refused at once.
/// requires   as a parameter only: it refers to the caller's memory, for a braced list to the end of the expression
template <class System>
class Ids<ThrustDevice<System>> {
public:
    using Device = ThrustDevice<System>;
    using shape_type = Ids<Cpu>::shape_type;

    Ids() = default;  ///< none
    /// `{2, 0, 2}`, which lie on the host until a call copies them.
    Ids(std::initializer_list<std::int64_t> ids) : host_(ids) {}
    template <id_type I>
    Ids(Tensor<I, Cpu> const& ids) : host_(ids) {}
    template <std::ranges::contiguous_range R>
    requires std::constructible_from<Ids<Cpu>, R const&> Ids(R const& ids) : host_(ids) {}

    /// Ids of the tensor's shape, in the memory of the device.
    /// errors   none
    /// cost     O(1)
    template <id_type I>
    Ids(Tensor<I, Device> const& ids) : on_device_(true), size_(ids.size()), shape_(ids.shape()) {
        if constexpr (sizeof(I) == 8) {
            wide_ = ids.data();
        } else {
            narrow_ = ids.data();
        }
    }

    std::size_t size() const noexcept { return on_device_ ? size_ : host_.size(); }
    /// Flat, but for a tensor's.
    shape_type const& shape() const noexcept { return on_device_ ? shape_ : host_.shape(); }

    /// The ids where they are in the memory of the host, else none.
    Ids<Cpu> const& host() const noexcept { return host_; }
    bool on_device() const noexcept { return on_device_; }  ///< in the device's memory, or in the host's?

    /// Calls f with a pointer to the ids in the memory of the device, int32 or int64.
    /// errors   what f throws
    /// cost     that of f
    template <class F>
    decltype(auto) visit(F&& f) const {
        if (narrow_ != nullptr) return f(narrow_);
        return f(wide_);
    }

    /// Where the ids lie, to see whether a call would write over them.
    /// errors   none
    /// cost     O(1)
    std::span<std::byte const> bytes() const {
        if (!on_device_) return host_.bytes();
        return visit([this](auto const* list) { return std::as_bytes(std::span(list, size_)); });
    }

private:
    Ids<Cpu> host_;
    bool on_device_ = false;
    std::int64_t const* wide_ = nullptr;
    std::int32_t const* narrow_ = nullptr;
    std::size_t size_ = 0;
    shape_type shape_;
};

namespace detail {

/// Looks at ids[k].
template <class I>
struct LookAtId {
    IdCheck check;
    I const* ids;
    ROWAN_HD void operator()(std::size_t k) const { check(k, ids[k]); }
};

/// Ids in the memory of the device. Those of the host were checked and copied there; the others are for `check` to look at.
template <class System>
class DeviceIds {
public:
    using Device = ThrustDevice<System>;

    DeviceIds(Device const& exec, char const* field, Ids<Device> const& ids, std::int64_t bound)
        : check(id_check(exec, field, bound)), ids_(ids) {
        ThrustSystem<System>::check(exec);
        if (ids.on_device()) {
            if (bound == 0) refuse_all(exec);
            return;
        }
        check_ids(Cpu{1}, field, ids.host(), bound);
        ids.host().visit([&]<class I>(std::span<I const> list) {
            if constexpr (sizeof(I) == 8) {
                upload(exec, wide_, list);
            } else {
                upload(exec, narrow_, list);
            }
        });
    }
    DeviceIds(DeviceIds const&) = delete;
    DeviceIds& operator=(DeviceIds const&) = delete;

    /// Calls f with a pointer to them.
    template <class F>
    void visit(F&& f) const {
        if (ids_.size() != 0) ids_.visit(f);
    }
    std::size_t size() const noexcept { return ids_.size(); }
    bool checked() const noexcept { return copied_; }

    IdCheck const check;

private:
    // A table without rows has no place to write to, not even by a call that has failed.
    void refuse_all(Device const& exec) const {
        visit([&]<class I>(I const* list) { launch_always(exec, size(), LookAtId<I>{check, list}); });
        if (size() != 0) synchronize(exec);
    }

    template <class I>
    void upload(Device const& exec, Tensor<I, Device>& to, std::span<I const> list) {
        to = Tensor<I, Device>::from_shape(exec, {list.size()});
        if (!list.empty()) ThrustSystem<System>::from_host(exec, to.data(), list.data(), list.size_bytes());
        ids_ = to;
        copied_ = true;
    }

    Ids<Device> ids_;
    Tensor<std::int64_t, Device> wide_;
    Tensor<std::int32_t, Device> narrow_;
    bool copied_ = false;
};

/// Has ids looked at before anything is written.
template <class System>
void check_on_device(ThrustDevice<System> const& exec, DeviceIds<System> const& ids) {
    if (ids.checked()) return;
    ids.visit([&]<class I>(I const* list) { launch_always(exec, ids.size(), LookAtId<I>{ids.check, list}); });
}

/// to[k] = ids[k], or 0 where that is bad: whoever uses a container of rows on another stream, which does not know of the error, stays
/// within the table.
template <class I>
struct CopyId {
    IdCheck check;
    I const* ids;
    std::int64_t* to;
    ROWAN_HD void operator()(std::size_t k) const { to[k] = check(k, ids[k]) ? std::int64_t{ids[k]} : 0; }
};

}  // namespace detail

}  // namespace rowan::inline v0
