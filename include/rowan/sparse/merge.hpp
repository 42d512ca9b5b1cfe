// rowan/sparse/merge.hpp: merge, the sum of duplicate rows.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Writes the rows of a plan and their sums to a SelectedRows.
template <class D>
struct RowMerge {
    static_assert(has_backend<D>, "rowan: merge on a Thrust device needs #include <rowan/thrust/sparse/merge.hpp>");
};

template <>
struct RowMerge<Cpu> {
    template <class T>
    static void into(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, SelectedRows<T>& out) {
        using S = sum_t<T>;
        auto const source = value.share();  // value may be out.value()
        RowSums<T> sums(exec, plan, source);
        std::size_t const width = value.row_size();
        auto room = SelectedRowsAccess::room(out, plan.height(), plan.rows().size(), value.shape());
        T* const to = room.value().data();
        bool const stream = room.value().size() * sizeof(T) >= stream_from;
        sums.run([](std::size_t) {},
                 [=](std::size_t k, S const* sum) {
                     if constexpr (std::is_same_v<T, S>) {
                         if (stream) return stream_copy(to + k * width, sum, width * sizeof(T));
                     }
                     copy_lanes<S>(width, sum, to + k * width);
                 });
        SelectedRowsAccess::move_in(out, room, plan.rows());
    }
};

}  // namespace detail

/// Writes the rows of a plan, ascending and unique, and the sums of their values to `out`. Contributions to a row are
/// summed in input order in blocks of 64, the block sums in blocks of 64, and so on: bit-identical for any number of
/// threads and on all devices. Sums are computed in dtype<T>::sum and narrowed once. `value` may be out.value(). On the
/// host, the memory of `out` is reused if it suffices. A Thrust device synchronizes once to get the number of distinct
/// rows, unless the plan already has it.
/// shapes   plan of n rows, value [n, ...] -> out with the distinct rows of the plan
/// errors   ShapeError if value does not have n rows
/// cost     O(n * width): every contribution read once, every sum written once
template <class T, device D>
void merge_into(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value,
                SelectedRows<T, D>& out) {
    detail::check_exec(exec);
    SelectedRows<T, D>::check_value(value, plan.value_rows());
    detail::RowMerge<D>::into(exec, plan, value, out);
}

/// Writes the rows of a gradient, ascending and unique, and the sums of their values to `out`; a merged gradient is
/// copied. The memory of `out` is reused if it suffices.
/// shapes   g of n rows -> out with the distinct rows of g
/// errors   ShapeError if g.value() does not have n rows
/// cost     a sort of the rows, and O(n * width)
template <class T, device D>
void merge_into(D const& exec, SelectedRows<T, D> const& g, SelectedRows<T, D>& out) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    merge_into(exec, RowPlan<D>(exec, g), g.value(), out);
}

/// The rows of `g`, ascending and unique, with duplicates summed in the order of merge_into. Idempotent:
/// merge(merge(g)) == merge(g).
/// shapes   SelectedRows of n rows -> SelectedRows with the distinct rows, of the same height and row shape
/// errors   ShapeError if g.value() does not have n rows
/// cost     a sort of the rows, one allocation for the result, and merge_into
template <class T, device D>
SelectedRows<T, D> merge(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D> out;
    merge_into(exec, g, out);
    return out;
}

template <class T, device D>
SelectedRows<T, D> merge(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value) {
    SelectedRows<T, D> out;
    merge_into(exec, plan, value, out);
    return out;
}

template <class T, class Device>
SelectedRows<T, Device> merge(SelectedRows<T, Device> const& g) {
    return merge(g.device(), g);
}

template <class T, class Device>
SelectedRows<T, Device> merge(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return merge(plan.device(), plan, value);
}

template <class T, class Device>
void merge_into(SelectedRows<T, Device> const& g, SelectedRows<T, Device>& out) {
    merge_into(g.device(), g, out);
}

template <class T, class Device>
void merge_into(RowPlan<Device> const& plan, Tensor<T, Device> const& value, SelectedRows<T, Device>& out) {
    merge_into(plan.device(), plan, value, out);
}

ROWAN_TEMPLATE(void merge_into(Cpu const&, RowPlan<> const&, Tensor<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, SelectedRows<float> const&, SelectedRows<float>&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(SelectedRows<float> merge(Cpu const&, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, RowPlan<> const&, Tensor<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(void merge_into(Cpu const&, SelectedRows<double> const&, SelectedRows<double>&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(SelectedRows<double> merge(Cpu const&, RowPlan<> const&, Tensor<double> const&))

}  // namespace rowan::inline v0
