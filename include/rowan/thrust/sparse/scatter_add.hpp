// rowan/thrust/sparse/scatter_add.hpp: scatter_add on a device.
#pragma once

#include <rowan/sparse/detail/summed_rows.hpp>
#include <rowan/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Plans the rows.
template <class System>
struct RowPairs<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    static RowPlan<Device> prepare(Device const& exec, Ids<Device> const& ids, std::int64_t height) {
        return RowPlanAccess::make(exec, "ids", ids, height);
    }
    template <class U>
    static RowPlan<Device> prepare(Device const& exec, SelectedRows<U, Device> const& g) {
        return {exec, g};
    }

    template <class T, class U, class Formula>
    static void apply(Device const& exec, RowPlan<Device> const& plan, Tensor<U, Device> const& src,
                      Tensor<T, Device>& table, Formula const& formula) {
        DeviceRule<LaneRule<Formula>>::planned(exec, plan, src, LaneRule<Formula>{formula}, table);
    }
};

/// Always adds the sums of rows.
template <class System>
struct SummedRows<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T, class U>
    static void add(Device const& exec, RowPlan<Device> const& plan, Tensor<U, Device> const& src,
                    Tensor<T, Device>& table, std::size_t) {
        RowPairs<Device>::apply(exec, plan, src, table, add_lanes{});
    }
};

}  // namespace rowan::inline v0::detail
