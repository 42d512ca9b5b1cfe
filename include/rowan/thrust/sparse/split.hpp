// rowan/thrust/sparse/split.hpp: split on a device.
#pragma once

#include <rowan/sparse/split.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

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

/// Sorts the positions by section.
template <class System>
struct RowSections<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static std::vector<Tensor<std::int64_t, Device>> positions(Device const& exec, SelectedRows<T, Device> const& g,
                                                               std::vector<std::int64_t> const& ends) {
        using Memory = ThrustSystem<System>;
        check_here(exec, g.rows(), g.value());
        std::size_t const n = g.rows().size(), parts = ends.size();
        std::vector<std::int64_t> counts(parts, 0);
        Tensor<std::int64_t, Device> sorted;
        if (n != 0) {
            sorted = Tensor<std::int64_t, Device>::from_shape(exec, {2 * n});
            DeviceStorage<std::uint32_t, System> const part(exec, 2 * n);
            DeviceStorage<std::int64_t, System> const bounds(exec, 2 * parts);
            Memory::from_host(exec, bounds.data(), ends.data(), parts * sizeof(std::int64_t));
            launch_always(exec, n, FindPart{g.rows().data(), bounds.data(), parts, part.data(), sorted.data()});
            auto const bits = static_cast<unsigned>(std::bit_width(parts - 1));
            bool const second = Memory::sort_pairs(exec, n, std::max(bits, 1U), part.data(), part.data() + n,
                                                   sorted.data(), sorted.data() + n);
            launch_always(exec, parts, CountParts{part.data() + (second ? n : 0), n, bounds.data() + parts});
            if (second) sorted = sorted.slice(n, 2 * n);
            read_back(exec, {{counts.data(), bounds.data() + parts, parts * sizeof(std::int64_t)}});
        }
        std::vector<Tensor<std::int64_t, Device>> result;
        std::size_t begin = 0;
        for (std::int64_t const count : counts) {
            auto const end = static_cast<std::size_t>(count);
            result.push_back(sorted.slice(begin, end));
            begin = end;
        }
        return result;
    }

    static void rebase(Device const& exec, Tensor<std::int64_t, Device>& rows, std::int64_t begin) {
        launch_always(exec, rows.size(), Rebase{begin, rows.data()});
    }
};

}  // namespace rowan::inline v0::detail
