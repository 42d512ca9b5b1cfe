// rowan/thrust/sparse/retain.hpp: retain on a device.
#pragma once

#include <rowan/sparse/retain.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Whether rows[k] is one of the rows of a plan.
struct IsPlanned {
    std::int64_t const* rows;
    PlanArrays plan;

    ROWAN_HD bool operator()(std::size_t k) const {
        std::int64_t begin = 0, end = *plan.count;
        while (begin < end) {
            std::int64_t const middle = begin + (end - begin) / 2;
            if (plan.rows[middle] == rows[k]) return true;
            if (plan.rows[middle] < rows[k]) {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        return false;
    }
};

/// Sorts the rows wanted.
template <class System>
struct RowFilter<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static Tensor<std::int64_t, Device> kept(Device const& exec, SelectedRows<T, Device> const& g,
                                             Ids<Device> const& rows) {
        check_here(exec, g.rows(), g.value());
        RowPlan<Device> const plan(exec, rows, g.height());
        if (plan.size() == 0) return kept_of(exec, 0, IsPlanned{});
        return kept_of(exec, g.rows().size(), IsPlanned{g.rows().data(), RowPlanAccess::arrays(plan)});
    }
};

}  // namespace rowan::inline v0::detail
