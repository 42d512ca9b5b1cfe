// rowan/sparse/detail/summed_rows.hpp: SummedRows, adds the sums of duplicate rows to a table and rounds each element once.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/scatter_add.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether a sum that is stored in a T after every term differs from one that is stored once.
template <class T>
inline constexpr bool rounds_terms = !std::is_same_v<T, sum_t<T>> && !std::is_integral_v<T>;

/// How often a row may occur so that scatter_add gives the sum of its contributions in dtype<T>::sum.
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
template <class T>
inline constexpr std::size_t most_serial = rounds_terms<T> ? 1 : any_number;

/// The same for the sum that merge forms, in blocks of 64.
template <class T>
inline constexpr std::size_t most_as_merged = std::is_integral_v<T> ? any_number
                                              : rounds_terms<T>     ? 1
                                                                    : block_size;

/// Whether no row occurs more than `most` times.
/// requires   most at most 64 or any_number; ids in [0, height)
/// cost     for more than `most` ids one byte per row of the table
ROWAN_IF_CALLED bool at_most(Ids<> const& ids, std::int64_t height, std::size_t most);

/// table[row] += the sum of its contributions in the order of merge, narrowed once. The Thrust specialization is in
/// rowan/thrust/sparse/scatter_add.hpp.
template <class D>
struct SummedRows {
    static_assert(has_backend<D>,
                  "rowan: sums of rows on a Thrust device need #include <rowan/thrust/sparse/scatter_add.hpp>");
};

template <>
struct SummedRows<Cpu> {
    /// If no row occurs more than `most` times, adds as scatter_add does, without a sort.
    /// requires   ids in [0, height of the table)
    template <class T, class U>
    static void add(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, std::size_t most) {
        auto const height = static_cast<std::int64_t>(table.shape()[0]);
        if (src.size() == 0 || at_most(ids, height, most))
            return RowPairs<Cpu>::apply(exec, ids, src, table, add_lanes{});
        RowPlan<> const plan(exec, ids, height);
        auto const rows = plan.rows();
        std::size_t const width = src.row_size();
        T* const to = table.data();
        auto const row = [=](std::size_t k) { return to + static_cast<std::size_t>(rows[k]) * width; };
        RowSums<U>(exec, plan, src)
            .run([&](std::size_t k) { prefetch_row<true>(row(k), width * sizeof(T)); },
                 [&](std::size_t k, sum_t<U> const* sum) {
                     for_lanes<compute_t<T, U>>(add_lanes{}, width, sum, row(k));
                 });
    }
};

/// The same for a gradient whose shape fits.
template <class T, class U, device D>
void add_sums(D const& exec, Tensor<T, D>& table, SelectedRows<U, D> const& g, std::size_t most) {
    if (g.merged()) return scatter_add(exec, table, g);
    SummedRows<D>::add(exec, RowPairs<D>::prepare(exec, g), g.value(), table, most);
}

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/summed_rows_inl.hpp>
