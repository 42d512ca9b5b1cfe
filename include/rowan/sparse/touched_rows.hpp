// rowan/sparse/touched_rows.hpp: TouchedRows, the set of rows of a table that changed since the last checkpoint.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rowan::inline v0 {

/// A set of rows of a table, stored as one bit per row of the table.
///
///     TouchedRows touched(table.shape(0));
///     touched.add(gradient.rows());                       in every step
///     delta.add("table", touched.of(table));              the new values of the rows, for a delta checkpoint
///     delta.add("table moment", touched.of(moment));
///     touched.clear();
class TouchedRows {
public:
    /// The empty set, for a table of this height.
    /// errors   ShapeError if height is negative
    /// cost     O(height / 64)
    ROWAN_IF_CALLED explicit TouchedRows(Height height);

    /// The rows whose bits differ, for tables whose changes were not recorded.
    /// shapes   before [h, ...], after of the same shape
    /// errors   ShapeError if shapes differ or the rank is 0
    /// cost     both tables are read once, on several threads
    template <class T>
    static TouchedRows between(Tensor<T> const& before, Tensor<T> const& after) {
        detail::check_rows("before", before);
        if (before.shape() != after.shape()) {
            throw ShapeError("after.shape()", detail::shape_text(after.shape()), detail::shape_text(before.shape()));
        }
        TouchedRows touched(before.shape()[0]);
        std::size_t const rows = before.shape()[0], bytes = before.row_size() * sizeof(T);
        if (bytes == 0) return touched;
        auto const* const a = reinterpret_cast<std::byte const*>(before.data());
        auto const* const b = reinterpret_cast<std::byte const*>(after.data());
        std::size_t const words = std::max<std::size_t>(1, (std::size_t{1} << 20) / bytes / 64);
        parallel_for(Cpu{}, touched.bits_.size(), words, [&](std::size_t first, std::size_t last) {
            for (std::size_t row = 64 * first; row < std::min(rows, 64 * last); ++row) {
                if (std::memcmp(a + row * bytes, b + row * bytes, bytes) != 0) touched.bits_[row / 64] |= bit(row);
            }
        });
        return touched;
    }

    TouchedRows(TouchedRows const&) = default;
    TouchedRows(TouchedRows&& other) noexcept;
    TouchedRows& operator=(TouchedRows const& other);
    TouchedRows& operator=(TouchedRows&& other) noexcept;
    ~TouchedRows() = default;

    std::int64_t height() const noexcept { return height_; }  ///< the height of the table

    /// Changes the height to that of a table that has grown, as a KeyedTable does.
    /// errors   ShapeError if it is less than before; std::bad_alloc; the set is unchanged
    /// cost     amortised O(new rows / 64)
    ROWAN_IF_CALLED void grow(Height height);
    /// Removes the rows from `height` on, if there are any.
    /// errors   none
    /// cost     O(1)
    ROWAN_IF_CALLED void shrink(Height height) noexcept;

    /// Adds rows, in any order; duplicates are allowed.
    /// errors   IndexError if a row is not in [0, height)
    /// cost     two passes over the rows
    ROWAN_IF_CALLED void add(Ids<> rows);

    /// Adds rows that are in the memory of any device, in any order; blocks until they are copied.
    /// errors   IndexError if a row is not in [0, height); those of to_host
    /// cost     one blocking copy to the host, and two passes over the rows
    template <id_type I, class Device>
    void add(Tensor<I, Device> const& rows) {
        add(Ids<>(to_host(rows)));
    }

    /// The rows of the set, ascending.
    /// errors   std::bad_alloc
    /// cost     O(height / 64 + rows)
    ROWAN_IF_CALLED std::vector<std::int64_t> rows() const;

    /// The current values of these rows of a table.
    /// shapes   table [height, ...]
    /// errors   ShapeError if the table has another height
    /// cost     O(height / 64), and one read and one write of the rows
    template <class T, class Device>
    SelectedRows<T, Device> of(Tensor<T, Device> const& table) const {
        detail::check_height("table", table, height_);
        auto const ids = rows();
        return {height_, ids, gather(table, ids)};
    }

    ROWAN_IF_CALLED void clear() noexcept;  ///< removes all rows

private:
    static std::uint64_t bit(std::size_t row) { return std::uint64_t{1} << row % 64; }

    std::int64_t height_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace rowan::inline v0

#include <rowan/sparse/touched_rows_inl.hpp>
