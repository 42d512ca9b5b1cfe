// rowan/sparse/row_plan.hpp: RowPlan, a reusable sort of lookups by row, for the functions that sum duplicates.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0 {

namespace detail {

/// Checks the offsets of the bags of n rows.
ROWAN_IF_CALLED void check_row_bags(std::span<std::int64_t const> bags, std::size_t n);
/// The bag of each of n rows.
/// errors   as check_row_bags
ROWAN_IF_CALLED Buffer<std::int64_t> bag_of_rows(std::span<std::int64_t const> bags, std::size_t n);

}  // namespace detail

/// The lookups, grouped by row. A plan can be reused for many values, widths and optimizers.
///
///     rows [4 1 4 0]   ->   rows()      [0 1 4]        the distinct rows, ascending
///                           offsets()   [0 1 2 4]      of rows()[k]: elements offsets()[k] … offsets()[k + 1] - 1
///                           positions() [3 1 0 2]      in input order within a row
template <>
class RowPlan<Cpu> {
public:
    /// A plan without rows, of height 0.
    RowPlan() = default;

    /// The plan of a flat list of rows.
    /// errors   ShapeError if height is negative or rows are not a flat list; IndexError if a row is not in [0, height)
    /// cost     a radix sort of n numbers by the bits of height; one block of 24 bytes per lookup
    ROWAN_IF_CALLED RowPlan(Cpu exec, Ids<> rows, Height height);
    ROWAN_IF_CALLED RowPlan(Ids<> rows, Height height);

    /// The plan of rows in bags, for values with a row for each bag, which contributes to each row in the bag, as often
    /// as the row is there: the gradient of the sums of table rows over bags, without a copy of it for each row.
    ///     auto x = embedding_bag(table, ids);                                    // [bags, width]
    ///     adagrad(RowPlan(ids.value(), ids.lod()[0], height), table, moment, x_grad);
    /// shapes   bag b is rows[bags[b]], …, rows[bags[b + 1] - 1]; positions() are numbers of bags
    /// errors   as above; ShapeError if `bags` is empty; IndexError unless it begins with 0, does not descend, and ends
    ///          with the number of rows
    /// cost     that of a flat list, and one pass
    ROWAN_IF_CALLED RowPlan(Cpu exec, Ids<> rows, std::span<std::int64_t const> bags, Height height);
    ROWAN_IF_CALLED RowPlan(Ids<> rows, std::span<std::int64_t const> bags, Height height);

    /// The plan of a gradient's rows; a merged gradient needs no sort.
    /// errors   ValueError if exec.threads is negative
    /// cost     a radix sort of n numbers by the bits of height, O(n) for a merged gradient; one block of 24 bytes per
    ///          lookup
    template <class T>
    RowPlan(Cpu exec, SelectedRows<T> const& g) {
        detail::check_exec(exec);
        if (g.merged()) {
            enumerate(g.rows(), g.height());
        } else {
            build(exec, g.rows(), g.height(), nullptr, g.rows().size());
        }
    }
    template <class T>
    explicit RowPlan(SelectedRows<T> const& g) : RowPlan(Cpu{}, g) {}

    RowPlan(RowPlan const&) = default;
    RowPlan(RowPlan&& other) noexcept;
    RowPlan& operator=(RowPlan const&) = default;
    RowPlan& operator=(RowPlan&& other) noexcept;
    ~RowPlan() = default;

    /// The number of lookups, including duplicates.
    std::size_t size() const noexcept { return size_; }
    /// The number of rows of a value: size(), or the number of bags.
    std::size_t value_rows() const noexcept { return value_rows_; }
    std::int64_t height() const noexcept { return height_; }  ///< the height of the table
    Cpu device() const noexcept { return {}; }                ///< the execution of calls that are given none
    /// The distinct rows, ascending.
    std::span<std::int64_t const> rows() const& noexcept { return {memory_.data() + rows_, count_}; }
    detail::KeptSpan<std::int64_t const> rows() && noexcept { return {rows(), memory_.memory()}; }
    /// The lookups of rows()[k] are elements [offsets()[k], offsets()[k + 1]) of positions().
    std::span<std::int64_t const> offsets() const& noexcept {
        static constexpr std::int64_t none[1] = {0};
        return size_ == 0 ? std::span<std::int64_t const>(none) : std::span(memory_.data() + 2 * size_, count_ + 1);
    }
    detail::KeptSpan<std::int64_t const> offsets() && noexcept { return {offsets(), memory_.memory()}; }
    /// The positions of the lookups in the gradient, or of their bags, grouped by row, in input order within a row.
    std::span<std::int64_t const> positions() const& noexcept { return {memory_.data() + (size_ - rows_), size_}; }
    detail::KeptSpan<std::int64_t const> positions() && noexcept { return {positions(), memory_.memory()}; }

    void swap(RowPlan& other) noexcept;

private:
    struct Wide {  // an entry of the sort if a row and a position do not fit 64 bits together
        std::uint64_t row;
        std::uint64_t position;
    };

    // `row_of` has the row of a value for each lookup, of which there are value_rows; nullptr: its position.
    ROWAN_IF_CALLED void build(Cpu exec, Ids<> const& ids, std::int64_t height, std::int64_t const* row_of,
                               std::size_t value_rows);

    template <class Entry, class Row, class Position>
    void split(int threads, Entry const* sorted, Row row, Position position);
    struct Sort;
    ROWAN_IF_CALLED void enumerate(std::span<std::int64_t const> rows, std::int64_t height);

    detail::Storage<std::int64_t> memory_;
    std::size_t rows_ = 0;  // offset of the rows in memory_: 0 or size_; the positions are in the other half
    std::size_t count_ = 0;
    std::size_t size_ = 0;
    std::size_t value_rows_ = 0;
    std::int64_t height_ = 0;
};

RowPlan(Ids<>, Height)->RowPlan<>;
RowPlan(Cpu, Ids<>, Height)->RowPlan<>;
RowPlan(Ids<>, std::span<std::int64_t const>, Height)->RowPlan<>;
RowPlan(Cpu, Ids<>, std::span<std::int64_t const>, Height)->RowPlan<>;
template <class T, class Device>
RowPlan(SelectedRows<T, Device>) -> RowPlan<Device>;
template <class T, class Device>
RowPlan(Device, SelectedRows<T, Device>) -> RowPlan<Device>;

}  // namespace rowan::inline v0

#include <rowan/sparse/row_plan_inl.hpp>
