// rowan/sparse/row_plan_inl.hpp: definitions of rowan/sparse/row_plan.hpp.
#pragma once

#include <rowan/sparse/row_plan.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/partition.hpp>
#include <rowan/sparse/detail/radix_sort.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION void detail::check_row_bags(std::span<std::int64_t const> bags, std::size_t size) {
    if (bags.empty()) throw ShapeError("bags.size()", "0", "1 or more");
    auto const n = static_cast<std::int64_t>(size);
    for (std::size_t b = 0; b < bags.size(); ++b) {
        std::int64_t const least = b == 0 ? 0 : bags[b - 1], most = b == 0 ? 0 : n;
        if (bags[b] < least) throw IndexError("bags", b, bags[b], {"is less than ", least});
        if (bags[b] > most) throw IndexError("bags", b, bags[b], {"is more than ", most});
    }
    if (bags.back() != n) throw IndexError("bags", bags.size() - 1, bags.back(), {"is not the end, ", n});
}

ROWAN_CALLED_FUNCTION detail::Buffer<std::int64_t> detail::bag_of_rows(std::span<std::int64_t const> bags,
                                                                       std::size_t n) {
    check_row_bags(bags, n);
    Buffer<std::int64_t> bag_of(n);
    for (std::size_t b = 0; b + 1 < bags.size(); ++b)
        std::fill(bag_of.begin() + bags[b], bag_of.begin() + bags[b + 1], static_cast<std::int64_t>(b));
    return bag_of;
}

ROWAN_CALLED_FUNCTION RowPlan<Cpu>::RowPlan(Cpu exec, Ids<> rows, Height height) {
    if (rows.shape().size() != 1) throw ShapeError("rows rank", rows.shape().size(), "1");
    detail::check_ids(exec, "rows", rows, height);
    build(exec, rows, height, nullptr, rows.size());
}

ROWAN_CALLED_FUNCTION RowPlan<Cpu>::RowPlan(Cpu exec, Ids<> rows, std::span<std::int64_t const> bags, Height height) {
    if (rows.shape().size() != 1) throw ShapeError("rows rank", rows.shape().size(), "1");
    auto const bag_of = detail::bag_of_rows(bags, rows.size());
    detail::check_ids(exec, "rows", rows, height);
    build(exec, rows, height, bag_of.data(), bags.size() - 1);
}

ROWAN_CALLED_FUNCTION RowPlan<Cpu>::RowPlan(Ids<> rows, Height height) : RowPlan(Cpu{}, rows, height) {}
ROWAN_CALLED_FUNCTION RowPlan<Cpu>::RowPlan(Ids<> rows, std::span<std::int64_t const> bags, Height height)
    : RowPlan(Cpu{}, rows, bags, height) {}

ROWAN_FUNCTION RowPlan<Cpu>::RowPlan(RowPlan&& other) noexcept { swap(other); }
ROWAN_FUNCTION auto RowPlan<Cpu>::operator=(RowPlan&& other) noexcept -> RowPlan& {
    RowPlan moved(std::move(other));
    swap(moved);
    return *this;
}

ROWAN_FUNCTION void RowPlan<Cpu>::swap(RowPlan& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(rows_, other.rows_);
    std::swap(count_, other.count_);
    std::swap(size_, other.size_);
    std::swap(value_rows_, other.value_rows_);
    std::swap(height_, other.height_);
}

// Divides the sorted entries into runs of equal rows. The entries may be in the memory of the positions.
template <class Entry, class Row, class Position>
void RowPlan<Cpu>::split(int threads, Entry const* sorted, Row row, Position position) {
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

/// The sort of the lookups, in the memory of a plan.
struct RowPlan<Cpu>::Sort {
    RowPlan& plan;
    int threads;
    unsigned row_bits, position_bits;
    std::int64_t const* row_of;
    std::uint64_t* a;  // two arrays
    Wide* wide;        // two arrays, if an entry does not fit 64 bits

    template <class I>
    void operator()(std::span<I const> list) const {
        std::size_t const n = list.size();
        unsigned const bits = position_bits;
        auto const position_of = [row_of = row_of](std::size_t i) {
            return row_of == nullptr ? i : static_cast<std::size_t>(row_of[i]);
        };
        if (row_bits + bits <= 64) {
            auto const row = [=](std::uint64_t e) { return e >> bits; };
            auto const position = [=](std::uint64_t e) { return e & ((std::uint64_t{1} << bits) - 1); };
            auto const fill = [&](std::size_t i) {
                return static_cast<std::uint64_t>(list[i]) << bits | position_of(i);
            };
            std::uint64_t* const sorted = detail::radix_sort(threads, n, row_bits, a, a + n, row, fill);
            plan.rows_ = sorted == a ? n : 0;
            plan.split(threads, sorted, row, position);
        } else {
            auto const row = [](Wide const& e) { return e.row; };
            auto const position = [](Wide const& e) { return e.position; };
            auto const fill = [&](std::size_t i) { return Wide{static_cast<std::uint64_t>(list[i]), position_of(i)}; };
            plan.split(threads, detail::radix_sort(threads, n, row_bits, wide, wide + n, row, fill), row, position);
        }
    }
};

// One block: two arrays for the sort, of which one becomes the positions and the other the rows; then the offsets.
ROWAN_CALLED_FUNCTION void RowPlan<Cpu>::build(Cpu exec, Ids<> const& ids, std::int64_t height,
                                               std::int64_t const* row_of, std::size_t value_rows) {
    constexpr std::size_t parallel_from = std::size_t{1} << 15;
    std::size_t const n = ids.size();
    int const threads = std::min(thread_count(exec), n < parallel_from ? 1 : std::numeric_limits<int>::max());
    height_ = height;
    value_rows_ = value_rows;
    if (n == 0) return;
    auto const row_bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(height) - 1));
    auto const position_bits = static_cast<unsigned>(std::bit_width(std::max(n, value_rows) - 1));
    detail::Buffer<Wide> wide(row_bits + position_bits <= 64 ? 0 : 2 * n);
    memory_ = detail::Storage<std::int64_t>(3 * n + 1);
    size_ = n;
    ids.visit(Sort{*this, threads, row_bits, position_bits, row_of, reinterpret_cast<std::uint64_t*>(memory_.data()),
                   wide.data()});
}

ROWAN_CALLED_FUNCTION void RowPlan<Cpu>::enumerate(std::span<std::int64_t const> rows, std::int64_t height) {
    memory_ = detail::Storage<std::int64_t>(3 * rows.size() + 1);
    height_ = height;
    size_ = value_rows_ = count_ = rows.size();
    std::copy(rows.begin(), rows.end(), memory_.data());
    std::iota(memory_.data() + size_, memory_.data() + 2 * size_, std::int64_t{0});
    std::iota(memory_.data() + 2 * size_, memory_.data() + 3 * size_ + 1, std::int64_t{0});
}

}  // namespace rowan::inline v0

#endif  // ROWAN_DEFINES_FUNCTIONS
