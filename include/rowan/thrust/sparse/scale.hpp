// rowan/thrust/sparse/scale.hpp: scale on a device.
#pragma once

#include <rowan/sparse/scale.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <utility>

namespace rowan::inline v0 {

/// As on the host, bit-identical.
template <class T, class System, class F>
SelectedRows<T, ThrustDevice<System>> scale(ThrustDevice<System> const& exec,
                                            SelectedRows<T, ThrustDevice<System>> const& g, F factor) {
    using Device = ThrustDevice<System>;
    detail::check_factor<T, F>();
    SelectedRows<T, Device>::check_value(g.value(), g.rows().size());
    detail::check_here(exec, g.rows(), g.value());
    auto value = Tensor<T, Device>::from_shape(exec, g.value().shape());
    detail::ElementLoops<Device>::template zip<detail::sum_t<T>>(exec, value.size(), detail::multiply_by<F>{factor},
                                                                 value.data(), g.value().data());
    return detail::SelectedRowsAccess::adopt(g.height(), detail::copy_of(exec, g.rows()), std::move(value), g.merged());
}

}  // namespace rowan::inline v0
