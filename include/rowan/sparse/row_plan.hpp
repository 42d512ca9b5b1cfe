// rowan/sparse/row_plan.hpp: RowPlan, a reusable sort of lookups by row, for the functions that sum duplicates.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/partition.hpp>
#include <rowan/sparse/detail/radix_sort.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0 {

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
    RowPlan(Cpu exec, Ids<> rows, Height height) {
        if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
        detail::check_ids(exec, "rows", rows, height);
        build(exec, rows, height);
    }
    RowPlan(Ids<> rows, Height height) : RowPlan(Cpu{}, rows, height) {}

    /// The plan of a gradient's rows; a merged gradient needs no sort.
    /// errors   ValueError if exec.threads is negative
    /// cost     as above, O(n) for a merged gradient
    template <class T>
    RowPlan(Cpu exec, SelectedRows<T> const& g) {
        detail::check_exec(exec);
        if (g.merged()) {
            enumerate(g.rows(), g.height());
        } else {
            build(exec, g.rows(), g.height());
        }
    }
    template <class T>
    explicit RowPlan(SelectedRows<T> const& g) : RowPlan(Cpu{}, g) {}

    RowPlan(RowPlan const&) = default;
    RowPlan(RowPlan&& other) noexcept { swap(other); }
    RowPlan& operator=(RowPlan const&) = default;
    RowPlan& operator=(RowPlan&& other) noexcept {
        RowPlan moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~RowPlan() = default;

    /// The number of lookups, including duplicates.
    std::size_t size() const noexcept { return size_; }
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
    /// The positions of the lookups in the gradient, grouped by row, in input order within a row.
    std::span<std::int64_t const> positions() const& noexcept { return {memory_.data() + (size_ - rows_), size_}; }
    detail::KeptSpan<std::int64_t const> positions() && noexcept { return {positions(), memory_.memory()}; }

    void swap(RowPlan& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(rows_, other.rows_);
        std::swap(count_, other.count_);
        std::swap(size_, other.size_);
        std::swap(height_, other.height_);
    }

private:
    struct Wide {  // an entry of the sort if a row and a position do not fit 64 bits together
        std::uint64_t row;
        std::uint64_t position;
    };

    static constexpr std::size_t parallel_from = std::size_t{1} << 15;

    // One block: two arrays for the sort, of which one becomes the positions and the other the rows; then the offsets.
    void build(Cpu exec, Ids<> const& ids, std::int64_t height) {
        std::size_t const n = ids.size();
        int const threads = std::min(thread_count(exec), n < parallel_from ? 1 : std::numeric_limits<int>::max());
        height_ = height;
        if (n == 0) return;
        auto const row_bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(height) - 1));
        auto const position_bits = static_cast<unsigned>(std::bit_width(n - 1));
        bool const packed = row_bits + position_bits <= 64;
        detail::Buffer<Wide> wide(packed ? 0 : 2 * n);
        memory_ = detail::Storage<std::int64_t>(3 * n + 1);
        size_ = n;
        auto* const a = reinterpret_cast<std::uint64_t*>(memory_.data());
        ids.visit([&](auto list) {
            if (packed) {
                auto const row = [=](std::uint64_t e) { return e >> position_bits; };
                auto const position = [=](std::uint64_t e) { return e & ((std::uint64_t{1} << position_bits) - 1); };
                auto const fill = [&](std::size_t i) {
                    return static_cast<std::uint64_t>(list[i]) << position_bits | i;
                };
                std::uint64_t* const sorted = detail::radix_sort(threads, n, row_bits, a, a + n, row, fill);
                rows_ = sorted == a ? n : 0;
                split(threads, sorted, row, position);
            } else {
                auto const row = [](Wide const& e) { return e.row; };
                auto const position = [](Wide const& e) { return e.position; };
                auto const fill = [&](std::size_t i) { return Wide{static_cast<std::uint64_t>(list[i]), i}; };
                split(threads, detail::radix_sort(threads, n, row_bits, wide.data(), wide.data() + n, row, fill), row,
                      position);
            }
        });
    }

    // Divides the sorted entries into runs of equal rows. The entries may be in the memory of the positions.
    template <class Entry, class Row, class Position>
    void split(int threads, Entry const* sorted, Row row, Position position) {
        std::int64_t* const rows = memory_.data() + rows_;
        std::int64_t* const positions = memory_.data() + (size_ - rows_);
        std::int64_t* const offsets = memory_.data() + 2 * size_;
        auto const shares = static_cast<std::size_t>(threads);
        detail::Buffer<std::size_t> heads(shares + 1);
        detail::Buffer<std::uint64_t> before(shares);  // the row before each share: the second loop replaces its entry
        detail::team(threads, [&](std::size_t t) {
            std::size_t const begin = detail::share_begin(size_, t, shares);
            std::size_t const end = detail::share_begin(size_, t + 1, shares);
            before[t] = begin == 0 ? ~row(sorted[0]) : row(sorted[begin - 1]);
            std::uint64_t last = before[t];
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) count += std::exchange(last, row(sorted[i])) != row(sorted[i]);
            heads[t + 1] = count;
        });
        std::partial_sum(heads.begin(), heads.end(), heads.begin());
        detail::team(threads, [&](std::size_t t) {
            std::size_t const end = detail::share_begin(size_, t + 1, shares);
            std::size_t k = heads[t];
            std::uint64_t last = before[t];
            for (std::size_t i = detail::share_begin(size_, t, shares); i < end; ++i) {
                std::uint64_t const r = row(sorted[i]);
                if (r != last) {
                    rows[k] = static_cast<std::int64_t>(r);
                    offsets[k++] = static_cast<std::int64_t>(i);
                }
                last = r;
                positions[i] = static_cast<std::int64_t>(position(sorted[i]));
            }
        });
        count_ = heads.back();
        offsets[count_] = static_cast<std::int64_t>(size_);
    }

    void enumerate(std::span<std::int64_t const> rows, std::int64_t height) {
        memory_ = detail::Storage<std::int64_t>(3 * rows.size() + 1);
        height_ = height;
        size_ = count_ = rows.size();
        std::copy(rows.begin(), rows.end(), memory_.data());
        std::iota(memory_.data() + size_, memory_.data() + 2 * size_, std::int64_t{0});
        std::iota(memory_.data() + 2 * size_, memory_.data() + 3 * size_ + 1, std::int64_t{0});
    }

    detail::Storage<std::int64_t> memory_;
    std::size_t rows_ = 0;  // offset of the rows in memory_: 0 or size_; the positions are in the other half
    std::size_t count_ = 0;
    std::size_t size_ = 0;
    std::int64_t height_ = 0;
};

RowPlan(Ids<>, Height)->RowPlan<>;
RowPlan(Cpu, Ids<>, Height)->RowPlan<>;
template <class T, class Device>
RowPlan(SelectedRows<T, Device>) -> RowPlan<Device>;
template <class T, class Device>
RowPlan(Device, SelectedRows<T, Device>) -> RowPlan<Device>;

}  // namespace rowan::inline v0
