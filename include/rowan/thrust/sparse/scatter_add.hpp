// rowan/thrust/sparse/scatter_add.hpp: scatter_add on a device.
#pragma once

#include <rowan/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

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

}  // namespace rowan::inline v0::detail
