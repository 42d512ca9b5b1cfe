// rowan/thrust/sparse/lookup_table_grad.hpp: lookup_table_grad on a device.
#pragma once

#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Whether rows[k] is not the padding.
struct IsNotPadding {
    std::int64_t const* rows;
    std::int64_t padding;
    ROWAN_HD bool operator()(std::size_t k) const { return rows[k] != padding; }
};

}  // namespace detail

/// As on the host. With padding_id, synchronizes once to get the number of rows, and throws the IndexError of a bad id
/// itself.
template <class T, class System>
SelectedRows<T, ThrustDevice<System>> lookup_table_grad(ThrustDevice<System> const& exec,
                                                        std::type_identity_t<Ids<ThrustDevice<System>>> ids,
                                                        Tensor<T, ThrustDevice<System>> out_grad, Height height,
                                                        std::optional<std::int64_t> padding_id = std::nullopt) {
    using Device = ThrustDevice<System>;
    detail::check_looked_up(ids.shape(), out_grad, padding_id, height);
    detail::check_here(exec, out_grad);
    detail::DeviceIds<System> const checked(exec, "ids", ids, height);
    auto value = detail::looked_up_rows(ids.shape(), std::move(out_grad));
    auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {ids.size()});
    checked.visit([&]<class I>(I const* list) {
        detail::launch_always(exec, ids.size(), detail::CopyId<I>{checked.check, list, rows.data()});
    });
    if (!padding_id) return detail::SelectedRowsAccess::adopt(height, std::move(rows), std::move(value), false);

    auto const kept = detail::kept_of(exec, ids.size(), detail::IsNotPadding{rows.data(), *padding_id});
    return detail::SelectedRowsAccess::adopt(height, detail::rows_at(exec, rows, kept),
                                             detail::rows_at(exec, value, kept), false);
}

}  // namespace rowan::inline v0
