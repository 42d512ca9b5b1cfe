// rowan/thrust/sparse/split.hpp: split on a device.
#pragma once

#include <rowan/sparse/split.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The position of the first of n ascending numbers that is greater than x, or n.
template <class I>
ROWAN_HD std::size_t first_above(I const* list, std::size_t n, I x) {
    std::size_t begin = 0;
    while (begin < n) {
        std::size_t const middle = begin + (n - begin) / 2;
        if (x < list[middle]) {
            n = middle;
        } else {
            begin = middle + 1;
        }
    }
    return n;
}

/// Writes the pairs to sort: the part of each row, and its position.
struct FindPart {
    std::int64_t const* rows;
    std::int64_t const* ends;
    std::size_t parts;
    std::uint32_t* part;
    std::int64_t* positions;

    ROWAN_HD void operator()(std::size_t k) const {
        part[k] = static_cast<std::uint32_t>(first_above(ends, parts, rows[k]));
        positions[k] = static_cast<std::int64_t>(k);
    }
};

/// The number of rows in parts 0 to k, given the sorted part numbers.
struct CountParts {
    std::uint32_t const* part;
    std::size_t n;
    std::int64_t* counts;

    ROWAN_HD void operator()(std::size_t k) const {
        counts[k] = static_cast<std::int64_t>(first_above(part, n, static_cast<std::uint32_t>(k)));
    }
};

/// Makes rows relative to the beginning of their part.
struct Rebase {
    std::int64_t begin;
    std::int64_t* rows;
    ROWAN_HD void operator()(std::size_t k) const { rows[k] -= begin; }
};

}  // namespace detail

/// As on the host. Synchronizes once to get the number of rows of the parts. Parts are merged() if `g` is.
/// cost     a sort of n pairs on the bits that the number of parts needs, and three kernels per part
template <class T, class System>
std::vector<SelectedRows<T, ThrustDevice<System>>> split(ThrustDevice<System> const& exec,
                                                         SelectedRows<T, ThrustDevice<System>> const& g,
                                                         Ids<> heights) {
    using Device = ThrustDevice<System>;
    using Memory = detail::ThrustSystem<System>;
    SelectedRows<T, Device>::check_value(g.value(), g.rows().size());
    detail::check_here(exec, g.rows(), g.value());
    std::vector<std::int64_t> const ends = detail::section_ends(heights, g.height());
    std::size_t const n = g.rows().size(), parts = ends.size();
    std::vector<std::int64_t> counts(parts, 0);
    Tensor<std::int64_t, Device> positions;
    if (n != 0) {
        positions = Tensor<std::int64_t, Device>::from_shape(exec, {2 * n});
        detail::DeviceStorage<std::uint32_t, System> const part(exec, 2 * n);
        detail::DeviceStorage<std::int64_t, System> const bounds(exec, 2 * parts);
        Memory::from_host(exec, bounds.data(), ends.data(), parts * sizeof(std::int64_t));
        detail::launch_always(exec, n,
                              detail::FindPart{g.rows().data(), bounds.data(), parts, part.data(), positions.data()});
        auto const bits = static_cast<unsigned>(std::bit_width(parts - 1));
        bool const second = Memory::sort_pairs(exec, n, std::max(bits, 1U), part.data(), part.data() + n,
                                               positions.data(), positions.data() + n);
        detail::launch_always(exec, parts,
                              detail::CountParts{part.data() + (second ? n : 0), n, bounds.data() + parts});
        if (second) positions = positions.slice(n, 2 * n);
        Memory::to_host(exec, counts.data(), bounds.data() + parts, parts * sizeof(std::int64_t));
        synchronize(exec);
    }
    std::vector<SelectedRows<T, Device>> result;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < parts; ++k) {
        auto const end = static_cast<std::size_t>(counts[k]);
        auto const at = positions.slice(begin, end);
        auto rows = detail::rows_at(exec, g.rows(), at);
        std::int64_t const first = k == 0 ? 0 : ends[k - 1];
        detail::launch_always(exec, rows.size(), detail::Rebase{first, rows.data()});
        result.push_back(detail::SelectedRowsAccess::adopt(ends[k] - first, std::move(rows),
                                                           detail::rows_at(exec, g.value(), at), g.merged()));
        begin = end;
    }
    return result;
}

}  // namespace rowan::inline v0
