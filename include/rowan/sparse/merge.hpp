// rowan/sparse/merge.hpp: merge, duplicates of a row summed into one.
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

/// Gives `out` the rows of a plan, ascending and unique, and the sums of their values, in the memory that `out` has if it suffices.
/// Contributions to a row are summed in input order in blocks of 64, the block sums likewise, and so on: the same bits for any number
/// of threads. Sums are formed in dtype<T>::sum and narrowed once.
/// shapes   plan of n rows, value [n, ...] -> out of as many rows as the plan has different ones
/// errors   ShapeError if value has another number of rows
/// cost     O(n * width): every contribution read once, every sum written once
template <class T>
void merge_into(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, SelectedRows<T>& out) {
    static_cast<void>(thread_count(exec));  // refuses what is not one
    SelectedRows<T>::check_value(value, plan.size());
    auto const source = value.share();  // also if value is out's own
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

/// The same for a gradient; one that is merged already is copied.
template <class T>
void merge_into(Cpu exec, SelectedRows<T> const& g, SelectedRows<T>& out) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    merge_into(exec, RowPlan<>(exec, g), g.value(), out);
}

/// The rows of `g`, ascending and unique, duplicates summed in the order that merge_into describes. merge(merge(g)) == merge(g).
/// shapes   SelectedRows of n rows -> of as many rows as differ, the same height and row shape
/// errors   ShapeError if somebody changed the first dim of g.value()
/// cost     a sort of the rows, the result's allocation, and merge_into
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
