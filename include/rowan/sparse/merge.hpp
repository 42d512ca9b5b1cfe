// rowan/sparse/merge.hpp: merge, the sum of duplicate rows.
#pragma once

#include <rowan/detail/rows.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

/// Writes the rows of a plan, ascending and unique, and the sums of their values to `out`, reusing the memory of `out`
/// if it suffices. Contributions to a row are summed in input order in blocks of 64, the block sums in blocks of 64,
/// and so on: bit-identical for any number of threads. Sums are computed in dtype<T>::sum and narrowed once. `value`
/// may be out.value().
/// shapes   plan of n rows, value [n, ...] -> out with the distinct rows of the plan
/// errors   ShapeError if value does not have n rows
/// cost     O(n * width): every contribution read once, every sum written once
template <class T>
void merge_into(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, SelectedRows<T>& out) {
    static_cast<void>(thread_count(exec));  // validates exec.threads
    SelectedRows<T>::check_value(value, plan.size());
    auto const source = value.share();  // value may be out.value()
    detail::RowSums<T> sums(exec, plan, source);
    std::size_t const width = value.row_size();
    auto room = detail::SelectedRowsAccess::room(out, plan.height(), plan.rows().size(), value.shape());
    T* const to = room.value().data();
    bool const stream = room.value().size() * sizeof(T) >= detail::stream_from;
    sums.run([](std::size_t) {},
             [=](std::size_t k, detail::sum_t<T> const* sum) {
                 if constexpr (std::is_same_v<T, detail::sum_t<T>>) {
                     if (stream) return detail::stream_copy(to + k * width, sum, width * sizeof(T));
                 }
                 detail::copy_lanes<detail::sum_t<T>>(width, sum, to + k * width);
             });
    detail::SelectedRowsAccess::move_in(out, room, plan.rows());
}

/// The same for a gradient; a merged gradient is copied.
template <class T>
void merge_into(Cpu exec, SelectedRows<T> const& g, SelectedRows<T>& out) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    merge_into(exec, RowPlan<>(exec, g), g.value(), out);
}

/// The rows of `g`, ascending and unique, with duplicates summed in the order of merge_into. Idempotent:
/// merge(merge(g)) == merge(g).
/// shapes   SelectedRows of n rows -> SelectedRows with the distinct rows, of the same height and row shape
/// errors   ShapeError if g.value() does not have n rows
/// cost     a sort of the rows, one allocation for the result, and merge_into
template <class T>
SelectedRows<T> merge(Cpu exec, SelectedRows<T> const& g) {
    SelectedRows<T> out;
    merge_into(exec, g, out);
    return out;
}

template <class T>
SelectedRows<T> merge(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value) {
    SelectedRows<T> out;
    merge_into(exec, plan, value, out);
    return out;
}

template <class T, class Device>
SelectedRows<T, Device> merge(SelectedRows<T, Device> const& g) {
    return merge(Device{}, g);
}

template <class T, class Device>
SelectedRows<T, Device> merge(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return merge(Device{}, plan, value);
}

template <class T, class Device>
void merge_into(SelectedRows<T, Device> const& g, SelectedRows<T, Device>& out) {
    merge_into(Device{}, g, out);
}

template <class T, class Device>
void merge_into(RowPlan<Device> const& plan, Tensor<T, Device> const& value, SelectedRows<T, Device>& out) {
    merge_into(Device{}, plan, value, out);
}

ROWAN_TEMPLATE(void merge_into(Cpu, RowPlan<> const&, Tensor<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(void merge_into(Cpu, SelectedRows<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu, SelectedRows<float> const&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(void merge_into(Cpu, RowPlan<> const&, Tensor<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(void merge_into(Cpu, SelectedRows<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu, SelectedRows<double> const&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu, RowPlan<> const&, Tensor<double> const&))

}  // namespace rowan::inline v0
