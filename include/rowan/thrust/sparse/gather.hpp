// rowan/thrust/sparse/gather.hpp: gather on a device.
#pragma once

#include <rowan/sparse/gather.hpp>
#include <rowan/thrust/core/ids.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>
#include <rowan/thrust/detail/kept.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// ids[i], or -1 if it is bad.
template <class I>
struct CheckedRowAt {
    IdCheck check;
    I const* ids;
    ROWAN_HD std::int64_t operator()(std::size_t i) const {
        std::int64_t const id = ids[i];
        return check(i, id) ? id : -1;
    }
};

template <class System>
struct RowGather<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T, class... Out>
    static DeviceIds<System> checked(Device const& exec, Tensor<T, Device> const& table, Ids<Device> const& ids,
                                     Out const&... out) {
        check_here(exec, table, out...);
        return {exec, "ids", ids, height_of(table)};
    }

    /// Checks ids in device memory while rows are copied, or in a pass before it unless `out` is new.
    template <class T>
    static void copy(Device const& exec, Tensor<T, Device> const& table, DeviceIds<System> const& ids,
                     Tensor<T, Device>& out, bool is_new) {
        if (!is_new || table.row_size() == 0) check_on_device(exec, ids);
        ids.visit([&]<class I>(I const* list) {
            copy_device_rows(exec, ids.size(), table.row_size() * sizeof(T), table.data(), out.data(),
                             CheckedRowAt<I>{ids.check, list}, SameRow{}, is_new);
        });
    }

    template <class Keep>
    static Tensor<std::int64_t, Device> where(Device const& exec, std::size_t n, Keep const& keep) {
        return kept_of(exec, n, keep);
    }

    template <class T>
    static void take(Device const& exec, Tensor<T, Device> const& from, Tensor<std::int64_t, Device> const& positions,
                     Tensor<T, Device>& to) {
        copy_device_rows(exec, positions.size(), from.row_size() * sizeof(T), from.data(), to.data(),
                         RowAt<std::int64_t>{positions.data()}, SameRow{}, true);
    }
};

}  // namespace rowan::inline v0::detail
