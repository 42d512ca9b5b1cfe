// rowan/sparse/split.hpp: split, divides a gradient by sections of the height, for partitioned tables.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The inclusive prefix sum of the heights: the ends of the sections.
/// errors   ShapeError as split
ROWAN_IF_CALLED std::vector<std::int64_t> section_ends(Ids<> const& heights, std::int64_t height);

/// The positions of the rows before ends[0], then of those before ends[1], and so on, in input order.
ROWAN_IF_CALLED std::vector<Tensor<std::int64_t>> section_positions(std::span<std::int64_t const> rows,
                                                                    std::vector<std::int64_t> const& ends);

/// Finds the rows of a gradient in each section of the height.
template <class D>
struct RowSections {
    static_assert(has_backend<D>, "rowan: split on a Thrust device needs #include <rowan/thrust/sparse/split.hpp>");
};

template <>
struct RowSections<Cpu> {
    /// The positions of the rows before ends[0], then of those before ends[1], and so on, in input order.
    template <class T>
    static std::vector<Tensor<std::int64_t>> positions(Cpu, SelectedRows<T> const& g,
                                                       std::vector<std::int64_t> const& ends) {
        return section_positions(g.rows(), ends);
    }

    /// Makes rows relative to the beginning of their section.
    static void rebase(Cpu, Tensor<std::int64_t>& rows, std::int64_t begin) {
        for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] -= begin;
    }
};

}  // namespace detail

/// One gradient per section. Part k has the rows in [s, s + heights[k]), where s = heights[0] + … + heights[k - 1], as
/// row - s, in input order. A Thrust device synchronizes once to get the number of rows of each part; there the parts
/// are merged() if `g` is.
///
///     split(g, {4, 6})      rows [8 0 4]  ->  height 4, rows [0]   and   height 6, rows [4 0]
///
/// shapes   heights [parts], with sum g.height()
/// errors   ShapeError if heights are not a flat list, a height is negative or their sum is not g.height()
/// cost     O(n * (width + log parts)); on a Thrust device a sort of n pairs on the bits that the number of parts
///          needs, and three kernels per part
template <class T, device D>
std::vector<SelectedRows<T, D>> split(D const& exec, SelectedRows<T, D> const& g, Ids<> heights) {
    using Access = detail::SelectedRowsAccess;
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    std::vector<std::int64_t> const ends = detail::section_ends(heights, g.height());
    detail::check_exec(exec);
    std::vector<SelectedRows<T, D>> parts;
    std::int64_t begin = 0;
    for (auto const& positions : detail::RowSections<D>::positions(exec, g, ends)) {
        std::int64_t const end = ends[parts.size()];
        auto rows = detail::rows_at(exec, Access::rows(g), positions);
        detail::RowSections<D>::rebase(exec, rows, begin);
        auto value = detail::rows_at(exec, g.value(), positions);
        parts.push_back(Access::adopt(end - begin, std::move(rows), std::move(value), g.merged()));
        begin = end;
    }
    return parts;
}

template <class T, class Device>
std::vector<SelectedRows<T, Device>> split(SelectedRows<T, Device> const& g, Ids<> heights) {
    return split(g.device(), g, heights);
}

ROWAN_TEMPLATE(std::vector<SelectedRows<float>> split(Cpu const&, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(std::vector<SelectedRows<double>> split(Cpu const&, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0

#include <rowan/sparse/split_inl.hpp>
