// rowan/thrust/core/ids.hpp: Ids<ThrustDevice<System>>, row numbers in device or host memory.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/thrust/core/synchronize.hpp>
#include <rowan/thrust/core/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace rowan::inline v0 {

/// A read-only view of row numbers of any shape, int32 or int64: a Tensor in device memory, or anything that host Ids
/// accept. A call copies host ids to the device, and throws immediately if one is bad.
/// requires   use as a function parameter only: it refers to the caller's memory; a braced list lives until the end of
///            the expression
template <class System>
class Ids<ThrustDevice<System>> {
public:
    using Device = ThrustDevice<System>;
    using shape_type = Ids<Cpu>::shape_type;

    Ids() = default;  ///< no ids
    /// `{2, 0, 2}`: ids in host memory until a call copies them.
    Ids(std::initializer_list<std::int64_t> ids) : ids_(ids) {}
    template <id_type I>
    Ids(Tensor<I, Cpu> const& ids) : ids_(ids) {}
    template <std::ranges::contiguous_range R>
    requires std::constructible_from<Ids<Cpu>, R const&> Ids(R const& ids) : ids_(ids) {}

    /// Ids in device memory, with the shape of the tensor.
    /// errors   none
    /// cost     O(1)
    template <id_type I>
    Ids(Tensor<I, Device> const& ids)
        : ids_(std::span<I const>(ids.data(), ids.size()), ids.shape()), on_device_(true), place_(ids.place()) {}

    std::size_t size() const noexcept { return ids_.size(); }
    /// The shape of the tensor, or [size()] for other sources.
    shape_type const& shape() const noexcept { return ids_.shape(); }

    /// The ids if they are in host memory, otherwise none.
    Ids<Cpu> host() const { return on_device_ ? Ids<Cpu>() : ids_; }
    bool on_device() const noexcept { return on_device_; }  ///< whether the ids are in device memory

    /// Throws unless a call on `exec` may use the ids. It may always use those in host memory.
    /// errors   as Tensor::check
    /// cost     as Tensor::check
    void check(Device const& exec) const {
        if (!on_device_ || size() == 0) return;
        detail::ThrustSystem<System>::check(exec);
        detail::ThrustSystem<System>::check_place(place_);
    }

    /// Calls f with a pointer to the ids in device memory, int32 or int64; a null pointer for host ids.
    /// errors   what f throws
    /// cost     that of f
    template <class F>
    decltype(auto) visit(F&& f) const {
        return ids_.visit([&](auto list) -> decltype(auto) { return f(on_device_ ? list.data() : nullptr); });
    }

    /// The memory of the ids, to check whether an output overlaps it.
    /// errors   none
    /// cost     O(1)
    std::span<std::byte const> bytes() const { return ids_.bytes(); }

private:
    Ids<Cpu> ids_;  // never read on the host if on_device_
    bool on_device_ = false;
    typename detail::ThrustSystem<System>::Place place_{};
};

namespace detail {

/// Checks ids[k].
template <class I>
struct LookAtId {
    IdCheck check;
    I const* ids;
    ROWAN_HD void operator()(std::size_t k) const { check(k, ids[k]); }
};

/// Ids in device memory. Host ids are checked and copied there; device ids must be checked with `check`.
template <class System>
class DeviceIds {
public:
    using Device = ThrustDevice<System>;

    DeviceIds(Device const& exec, char const* field, Ids<Device> const& ids, std::int64_t bound)
        : check(id_check(exec, field, bound)), ids_(ids) {
        ids.check(exec);
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

    /// Calls f with a pointer to the ids unless there are none.
    template <class F>
    void visit(F&& f) const {
        if (ids_.size() != 0) ids_.visit(f);
    }
    std::size_t size() const noexcept { return ids_.size(); }
    bool checked() const noexcept { return copied_; }

    IdCheck const check;

private:
    // A table without rows has no row that could replace a bad id, so every id throws immediately.
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

/// Checks ids that are not checked yet, before anything is written.
template <class System>
void check_on_device(ThrustDevice<System> const& exec, DeviceIds<System> const& ids) {
    if (ids.checked()) return;
    ids.visit([&]<class I>(I const* list) { launch_always(exec, ids.size(), LookAtId<I>{ids.check, list}); });
}

/// to[k] = ids[k], or 0 for a bad id: the rows stay within the table even if another stream, which does not see the
/// error, uses them.
template <class I>
struct CopyId {
    IdCheck check;
    I const* ids;
    std::int64_t* to;
    ROWAN_HD void operator()(std::size_t k) const { to[k] = check(k, ids[k]) ? std::int64_t{ids[k]} : 0; }
};

}  // namespace detail

}  // namespace rowan::inline v0
