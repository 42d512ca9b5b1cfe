// rowan/thrust/sparse/retain.hpp: retain on a device.
#pragma once

#include <rowan/sparse/retain.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

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

}  // namespace detail

/// As on the host. Synchronizes once to get the number of rows kept. The result is merged() if `g` is.
/// cost     a sort of `rows` on the bits that height needs, O(n log m + kept * width)
template <class T, class System>
SelectedRows<T, ThrustDevice<System>> retain(ThrustDevice<System> const& exec,
                                             SelectedRows<T, ThrustDevice<System>> const& g,
                                             std::type_identity_t<Ids<ThrustDevice<System>>> rows) {
    using Device = ThrustDevice<System>;
    SelectedRows<T, Device>::check_value(g.value(), g.rows().size());
    detail::check_here(exec, g.rows(), g.value());
    RowPlan<Device> const plan(exec, rows, g.height());
    std::size_t const n = plan.size() == 0 ? 0 : g.rows().size();
    auto const kept = detail::kept_of(
        exec, n,
        detail::IsPlanned{g.rows().data(), n == 0 ? detail::PlanArrays{} : detail::RowPlanAccess::arrays(plan)});
    auto kept_rows = detail::rows_at(exec, g.rows(), kept);
    return detail::SelectedRowsAccess::adopt(g.height(), std::move(kept_rows), detail::rows_at(exec, g.value(), kept),
                                             g.merged());
}

}  // namespace rowan::inline v0
