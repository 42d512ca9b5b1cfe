// rowan/thrust/sparse/gather.hpp: gather on a device.
#pragma once

#include <rowan/sparse/gather.hpp>
#include <rowan/thrust/core/ids.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

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

}  // namespace detail

/// As on the host. A separate pass checks the ids first, so that `out` is unchanged if one is bad.
template <class T, class System>
void gather_into(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& table,
                 std::type_identity_t<Ids<ThrustDevice<System>>> ids, Tensor<T, ThrustDevice<System>>& out) {
    detail::check_rows("table", table);
    auto const shape = detail::gathered_shape(ids.shape(), table.shape());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    detail::check_apart("out", detail::bytes_of(out), "ids", ids.bytes());
    detail::check_apart("out", detail::bytes_of(out), "table", detail::bytes_of(table));
    detail::check_here(exec, table, out);
    detail::DeviceIds<System> const checked(exec, "ids", ids, detail::height_of(table));
    detail::check_on_device(exec, checked);
    checked.visit([&]<class I>(I const* list) {
        detail::copy_device_rows(exec, ids.size(), table.row_size() * sizeof(T), table.data(), out.data(),
                                 detail::CheckedRowAt<I>{checked.check, list}, detail::SameRow{});
    });
}

/// As on the host; the ids are checked while rows are copied.
template <class T, class System>
Tensor<T, ThrustDevice<System>> gather(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& table,
                                       std::type_identity_t<Ids<ThrustDevice<System>>> ids) {
    detail::check_rows("table", table);
    detail::check_here(exec, table);
    detail::DeviceIds<System> const checked(exec, "ids", ids, detail::height_of(table));
    auto out = Tensor<T, ThrustDevice<System>>::from_shape(exec, detail::gathered_shape(ids.shape(), table.shape()));
    if (table.row_size() == 0) detail::check_on_device(exec, checked);
    checked.visit([&]<class I>(I const* list) {
        detail::copy_device_rows(exec, ids.size(), table.row_size() * sizeof(T), table.data(), out.data(),
                                 detail::CheckedRowAt<I>{checked.check, list}, detail::SameRow{}, true);
    });
    return out;
}

}  // namespace rowan::inline v0
