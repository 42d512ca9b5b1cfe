// rowan/thrust/sparse/selected_rows.hpp: SelectedRows in device memory.
#pragma once

#include <rowan/sparse/selected_rows.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/core/ids.hpp>

#include <cstdint>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class System>
struct RowNumbers<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;
    using Rows = Tensor<std::int64_t, Device>;
    using View = Rows const&;
    static View view(Rows const& rows) noexcept { return rows; }
    static Rows kept(Rows const& rows) noexcept { return rows.share(); }

    static Rows checked(Device const& exec, char const* field, Ids<Device> const& ids, std::int64_t height) {
        DeviceIds<System> const checked(exec, field, ids, height);
        auto rows = Rows::from_shape(exec, {ids.size()});
        checked.visit([&]<class I>(I const* list) {
            launch_always(exec, ids.size(), CopyId<I>{checked.check, list, rows.data()});
        });
        return rows;
    }
    static Rows shared(Rows const& rows) { return rows.share(); }
    static bool merged(Rows const&) { return false; }
};

}  // namespace detail

/// Copies a SelectedRows to device memory asynchronously: its row numbers and its value.
/// shapes   x of n rows -> the same
/// errors   those of to_device for a tensor
/// cost     one copy of the row numbers and the elements
template <detail::thrust_device D, class T>
SelectedRows<T, D> to_device(D const& exec, SelectedRows<T> const& x) {
    return detail::SelectedRowsAccess::adopt(x.height(), to_device(exec, detail::SelectedRowsAccess::rows(x)),
                                             to_device(exec, x.value()), x.merged());
}
/// Copies a SelectedRows to host memory: its row numbers and its value.
/// shapes   x of n rows -> the same
/// errors   those of to_host for a tensor
/// cost     one copy of the row numbers and the elements; waits for the work enqueued before
template <detail::thrust_device D, class T>
SelectedRows<T> to_host(D const& exec, SelectedRows<T, D> const& x) {
    detail::check_here(exec, x.rows(), x.value());
    auto rows = Tensor<std::int64_t>::from_shape(x.rows().shape());
    auto value = Tensor<T>::from_shape(x.value().shape());
    detail::read_back(exec, {{rows.data(), x.rows().data(), rows.size() * sizeof(std::int64_t)},
                             {value.data(), x.value().data(), value.size() * sizeof(T)}});
    return detail::SelectedRowsAccess::adopt(x.height(), std::move(rows), std::move(value));
}
template <class T, detail::thrust_device D>
SelectedRows<T> to_host(SelectedRows<T, D> const& x) {
    return to_host(x.device(), x);
}

}  // namespace rowan::inline v0
