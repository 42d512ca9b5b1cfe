// rowan/thrust/sparse/scatter_add.hpp: scatter_add on a device.
#pragma once

#include <rowan/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Adds to each row of dst the sum of its rows of src, as a rule of update_rows.
template <class T, class U, class System>
void add_planned(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                 Tensor<T, ThrustDevice<System>>& dst, Tensor<U, ThrustDevice<System>> const& src) {
    static_assert(computes_from<T, U>, "rowan::scatter_add: an integer table takes integer rows only");
    DeviceRule<LaneRule<add_lanes>>::planned(exec, plan, src, LaneRule<add_lanes>{}, dst);
}

}  // namespace detail

/// As on the host, except that duplicates are summed first, in the order of merge, and their sum is added: otherwise
/// threads would wait for each other at a frequent row. Rows without duplicates are bit-identical to the host's.
/// cost     a RowPlan, without a sort for a merged gradient; one read of every row of src, one read and one write of
///          every row of dst touched
template <class T, class U, class System>
void scatter_add(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>>& dst,
                 std::type_identity_t<Ids<ThrustDevice<System>>> ids, Tensor<U, ThrustDevice<System>> const& src) {
    detail::check_rows("dst", dst);
    if (ids.shape().size() != 1) throw ShapeError("ids rank", std::to_string(ids.shape().size()), "1");
    detail::check_height("src", src, static_cast<std::int64_t>(ids.size()));
    detail::check_trailing("src", src, dst.shape());
    detail::check_apart("dst", detail::bytes_of(dst), "ids", ids.bytes());
    detail::check_apart("dst", detail::bytes_of(dst), "src", detail::bytes_of(src));
    auto const plan = detail::RowPlanAccess::make(exec, "ids", ids, detail::height_of(dst));
    detail::add_planned(exec, plan, dst, src);
}

template <class T, class U, class System>
void scatter_add(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>>& dst,
                 SelectedRows<U, ThrustDevice<System>> const& g) {
    SelectedRows<U, ThrustDevice<System>>::check_value(g.value(), g.rows().size());
    detail::check_height("dst", dst, g.height());
    detail::check_trailing("dst", dst, g.value().shape());
    detail::check_apart("dst", detail::bytes_of(dst), "the gradient's value", detail::bytes_of(g.value()));
    detail::add_planned(exec, RowPlan<ThrustDevice<System>>(exec, g), dst, g.value());
}

}  // namespace rowan::inline v0
