// rowan/thrust/sparse/merge.hpp: merge on a device.
#pragma once

#include <rowan/sparse/merge.hpp>
#include <rowan/thrust/sparse/detail/row_sums.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Stores sums as the rows of a value.
template <class T, class S, int N>
struct StoreSum {
    T* out;
    std::size_t width;
    ROWAN_HD void operator()(std::int64_t run, std::size_t column, Chunk<S, N> const& sum) const {
        Chunk<T, N> narrow;
        for (int e = 0; e < N; ++e) store(sum.x[e], narrow.x + e);
        *reinterpret_cast<Chunk<T, N>*>(out + static_cast<std::size_t>(run) * width + column) = narrow;
    }
};

}  // namespace detail

/// As on the host, bit-identical, except that `out` always gets new memory. Synchronizes once to get the number of
/// distinct rows, which is the size of the result, unless the plan already has it.
template <class T, class System>
void merge_into(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                Tensor<T, ThrustDevice<System>> const& value, SelectedRows<T, ThrustDevice<System>>& out) {
    using Device = ThrustDevice<System>;
    using S = detail::sum_t<T>;
    SelectedRows<T, Device>::check_value(value, plan.size());
    detail::check_here(exec, value);
    std::size_t const count = detail::RowPlanAccess::count(exec, plan);
    auto shape = value.shape();
    shape[0] = count;
    auto sums = Tensor<T, Device>::from_shape(exec, shape);
    auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {count});
    std::size_t const width = value.row_size();
    detail::sum_rows(exec, plan, value, true, detail::StoreSum<T, S, 1>{sums.data(), width},
                     detail::StoreSum<T, S, detail::chunk_size>{sums.data(), width});
    if (count != 0) {
        detail::ThrustSystem<System>::copy(exec, rows.data(), detail::RowPlanAccess::arrays(plan).rows,
                                           count * sizeof(std::int64_t));
    }
    out = detail::SelectedRowsAccess::adopt(plan.height(), std::move(rows), std::move(sums), true);
}

template <class T, class System>
void merge_into(ThrustDevice<System> const& exec, SelectedRows<T, ThrustDevice<System>> const& g,
                SelectedRows<T, ThrustDevice<System>>& out) {
    using Device = ThrustDevice<System>;
    SelectedRows<T, Device>::check_value(g.value(), g.rows().size());
    merge_into(exec, RowPlan<Device>(exec, g), g.value(), out);
}

/// As on the host.
template <class T, class System>
SelectedRows<T, ThrustDevice<System>> merge(ThrustDevice<System> const& exec,
                                            SelectedRows<T, ThrustDevice<System>> const& g) {
    SelectedRows<T, ThrustDevice<System>> out;
    merge_into(exec, g, out);
    return out;
}

/// As on the host, with a plan.
template <class T, class System>
SelectedRows<T, ThrustDevice<System>> merge(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                                            Tensor<T, ThrustDevice<System>> const& value) {
    SelectedRows<T, ThrustDevice<System>> out;
    merge_into(exec, plan, value, out);
    return out;
}

}  // namespace rowan::inline v0
