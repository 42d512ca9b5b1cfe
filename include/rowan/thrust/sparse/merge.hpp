// rowan/thrust/sparse/merge.hpp: merge on a device.
#pragma once

#include <rowan/sparse/merge.hpp>
#include <rowan/thrust/sparse/detail/row_sums.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// Stores sums as the rows of a value.
template <class T, class S, int N>
struct StoreSum {
    T* out;
    std::size_t width;
    ROWAN_HD void operator()(std::int64_t run, std::size_t column, Chunk<S, N> const& sum) const {
        store_chunk(sum, out + static_cast<std::size_t>(run) * width + column);
    }
};

/// Writes to new memory.
template <class System>
struct RowMerge<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static void into(Device const& exec, RowPlan<Device> const& plan, Tensor<T, Device> const& value,
                     SelectedRows<T, Device>& out) {
        using S = sum_t<T>;
        check_here(exec, value);
        std::size_t const count = RowPlanAccess::count(exec, plan);
        auto shape = value.shape();
        shape[0] = count;
        auto sums = Tensor<T, Device>::from_shape(exec, shape);
        auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {count});
        std::size_t const width = value.row_size();
        sum_rows(exec, plan, value, true, StoreSum<T, S, 1>{sums.data(), width},
                 StoreSum<T, S, chunk_size>{sums.data(), width});
        if (count != 0) {
            ThrustSystem<System>::copy(exec, rows.data(), RowPlanAccess::arrays(plan).rows,
                                       count * sizeof(std::int64_t));
        }
        out = SelectedRowsAccess::adopt(plan.height(), std::move(rows), std::move(sums), true);
    }
};

}  // namespace rowan::inline v0::detail
