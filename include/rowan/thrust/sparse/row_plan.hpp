// rowan/thrust/sparse/row_plan.hpp: RowPlan<ThrustDevice<System>>, a reusable sort for functions that sum duplicates.
#pragma once

#include <rowan/sparse/row_plan.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Writes the pairs to sort: the ids as keys, 0 for a bad id, and their positions, or the numbers of their bags.
template <class I, class Key>
struct MakeKey {
    IdCheck check;
    I const* ids;
    Key* keys;
    std::int64_t* positions;
    std::int64_t const* bags;  // offsets; nullptr: none
    std::size_t count;
    ROWAN_HD void operator()(std::size_t k) const {
        keys[k] = check(k, ids[k]) ? static_cast<Key>(ids[k]) : Key{0};
        positions[k] = static_cast<std::int64_t>(bags == nullptr ? k : find_block(bags, count, k));
    }
};

/// Writes 1 where the row differs from the one before, otherwise 0.
template <class Key>
struct MarkRun {
    Key const* keys;
    std::int64_t* marks;
    ROWAN_HD void operator()(std::size_t k) const { marks[k] = k > 0 && keys[k] != keys[k - 1]; }
};

/// The arrays of a plan of n lookups.
struct PlanArrays {
    std::size_t n;
    std::int64_t* positions;  // [n] the lookups grouped by row, in input order within a row
    std::int64_t* run;        // [n] lookup positions[k] reads rows[run[k]]
    std::int64_t* rows;       // [n], the first `count` are used
    std::int64_t* offsets;    // [n + 1], the first count + 1 are used
    std::int64_t* count;
};

template <class Key>
struct CutRuns {
    Key const* keys;
    PlanArrays plan;
    ROWAN_HD void operator()(std::size_t k) const {
        std::int64_t const run = plan.run[k];
        if (k == 0 || keys[k] != keys[k - 1]) {
            plan.rows[run] = static_cast<std::int64_t>(keys[k]);
            plan.offsets[run] = static_cast<std::int64_t>(k);
        }
        if (k + 1 != plan.n) return;
        plan.offsets[run + 1] = static_cast<std::int64_t>(plan.n);
        *plan.count = run + 1;
    }
};

/// Writes the plan of merged rows.
struct OneRunEach {
    std::int64_t const* rows;
    PlanArrays plan;
    ROWAN_HD void operator()(std::size_t k) const {
        auto const i = static_cast<std::int64_t>(k);
        plan.rows[k] = rows[k];
        plan.positions[k] = plan.run[k] = plan.offsets[k] = i;
        if (k + 1 != plan.n) return;
        plan.offsets[k + 1] = i + 1;
        *plan.count = i + 1;
    }
};

struct RowPlanAccess;

}  // namespace detail

/// Groups lookups by row, as on the host. Making and using a plan is asynchronous; only the number of distinct rows,
/// which rows(), offsets() and merge need, requires a synchronization, once per plan.
template <class System>
class RowPlan<ThrustDevice<System>> {
public:
    using Device = ThrustDevice<System>;

    /// No rows, height 0.
    RowPlan() = default;

    /// errors   ShapeError if height is negative or rows are not a flat list; IndexError as the constructor of
    ///          SelectedRows
    /// cost     an asynchronous radix sort of n pairs on the bits that height needs; 32 bytes per row, and temporary
    ///          memory of 8 bytes per row, 16 if height is greater than 2^32, besides that of the sort
    RowPlan(Device const& exec, Ids<Device> rows, Height height) : RowPlan(exec, "rows", rows, height) {}
    RowPlan(Ids<Device> rows, Height height) : RowPlan(Device{}, rows, height) {}
    template <id_type I>
    RowPlan(Tensor<I, Device> const& rows, Height height) : RowPlan(rows.device(), rows, height) {}

    /// The plan of rows in bags, whose offsets are in host memory, as on the host.
    /// errors   as above; ShapeError and IndexError for bags as on the host
    /// cost     that of a flat list, a copy of the offsets to the device, and a binary search in them for each row
    RowPlan(Device const& exec, Ids<Device> rows, std::span<std::int64_t const> bags, Height height) {
        detail::check_row_bags(bags, rows.size());
        make(exec, "rows", rows, height, bags);
    }
    RowPlan(Ids<Device> rows, std::span<std::int64_t const> bags, Height height)
        : RowPlan(Device{}, rows, bags, height) {}
    template <id_type I>
    RowPlan(Tensor<I, Device> const& rows, std::span<std::int64_t const> bags, Height height)
        : RowPlan(rows.device(), rows, bags, height) {}

    /// The plan of a gradient's rows; merged rows need no sort.
    /// errors   as Tensor::from_shape; IndexError, as the constructor of SelectedRows, if the rows were modified, which
    ///          is not checked for merged rows
    /// cost     an asynchronous radix sort of n pairs, O(n) for merged rows; 32 bytes per row
    template <class T>
    RowPlan(Device const& exec, SelectedRows<T, Device> const& g) {
        detail::check_here(exec, g.rows());
        std::size_t const n = g.rows().size();
        allocate(exec, n, g.height());
        if (n == 0) return;
        if (g.merged()) {
            detail::launch_always(exec, n, detail::OneRunEach{g.rows().data(), arrays()});
            *count_ = static_cast<std::int64_t>(n);
        } else {
            build(exec, detail::id_check(exec, "rows", g.height()), g.rows().data(), nullptr);
        }
    }
    template <class T>
    explicit RowPlan(SelectedRows<T, Device> const& g) : RowPlan(g.device(), g) {}

    RowPlan(RowPlan const&) = default;
    RowPlan(RowPlan&& other) noexcept : count_(nullptr) { swap(other); }
    RowPlan& operator=(RowPlan const& other) { return *this = RowPlan(other); }
    RowPlan& operator=(RowPlan&& other) noexcept {
        RowPlan moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~RowPlan() = default;

    void swap(RowPlan& other) noexcept {
        memory_.swap(other.memory_);
        std::swap(size_, other.size_);
        std::swap(value_rows_, other.value_rows_);
        std::swap(height_, other.height_);
        count_.swap(other.count_);
    }

    /// The number of rows planned, including duplicates.
    std::size_t size() const noexcept { return size_; }
    /// The number of rows of a value: size(), or the number of bags.
    std::size_t value_rows() const noexcept { return value_rows_; }
    std::int64_t height() const noexcept { return height_; }     ///< of the table
    Device device() const noexcept { return memory_.device(); }  ///< the execution of calls that are given none

    /// The lookups grouped by row, in input order within a row. In device memory, as are rows() and offsets().
    Tensor<std::int64_t, Device> positions() const { return memory_.slice(0, size_); }
    /// The distinct rows, ascending. Synchronizes to get their number.
    /// errors   those of synchronize
    /// cost     one synchronization unless the number of rows is known
    Tensor<std::int64_t, Device> rows() const { return memory_.slice(2 * size_, 2 * size_ + count(memory_.device())); }
    /// Contributions [offsets()[k], offsets()[k + 1]) of positions() belong to rows()[k]. Synchronizes to get the
    /// number of rows.
    /// errors   those of synchronize
    /// cost     one synchronization unless the number of rows is known
    Tensor<std::int64_t, Device> offsets() const {
        if (size_ == 0) return {0};
        return memory_.slice(3 * size_, 3 * size_ + count(memory_.device()) + 1);
    }

private:
    friend struct detail::RowPlanAccess;

    RowPlan(Device const& exec, char const* field, Ids<Device> const& rows, std::int64_t height) {
        make(exec, field, rows, height, {});
    }

    // Without bags, positions are those of rows.
    void make(Device const& exec, char const* field, Ids<Device> const& rows, std::int64_t height,
              std::span<std::int64_t const> bags) {
        if (rows.shape().size() != 1) throw ShapeError({field, " rank"}, rows.shape().size(), "1");
        detail::DeviceIds<System> const ids(exec, field, rows, height);
        allocate(exec, rows.size(), height);
        detail::OnDevice<std::int64_t, Device> const offsets(exec, bags);
        if (!bags.empty()) value_rows_ = bags.size() - 1;
        ids.visit([&](auto const* list) { build(exec, ids.check, list, bags.empty() ? nullptr : offsets.data()); });
    }

    void allocate(Device const& exec, std::size_t n, std::int64_t height) {
        height_ = height;
        size_ = value_rows_ = n;
        if (n != 0) memory_ = Tensor<std::int64_t, Device>::from_shape(exec, {4 * n + 2});
    }

    detail::PlanArrays arrays() const {
        auto* const p = const_cast<std::int64_t*>(memory_.data());
        return {.n = size_,
                .positions = p,
                .run = p + size_,
                .rows = p + 2 * size_,
                .offsets = p + 3 * size_,
                .count = p + 4 * size_ + 1};
    }

    template <class I>
    void build(Device const& exec, detail::IdCheck const& check, I const* ids, std::int64_t const* bags) {
        if (height_ - 1 > std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
            sort<std::uint64_t>(exec, check, ids, bags);
        } else {
            sort<std::uint32_t>(exec, check, ids, bags);
        }
    }

    template <class Key, class I>
    void sort(Device const& exec, detail::IdCheck const& check, I const* ids, std::int64_t const* bags) {
        using Sort = detail::ThrustSystem<System>;
        auto const plan = arrays();
        // the positions are sorted between plan.positions and plan.run, which is overwritten later
        detail::DeviceStorage<Key, System> const keys(exec, 2 * size_);
        Key* sorted = keys.data();
        std::int64_t *from = plan.positions, *to = plan.run;
        detail::launch_always(exec, size_, detail::MakeKey<I, Key>{check, ids, sorted, from, bags, value_rows_});
        auto const bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(height_) - 1));
        if (Sort::sort_pairs(exec, size_, std::max(bits, 1U), sorted, sorted + size_, from, to)) {
            sorted += size_;
            Sort::copy(exec, from, to, size_ * sizeof(std::int64_t));
        }
        detail::launch_always(exec, size_, detail::MarkRun<Key>{sorted, plan.run});
        Sort::inclusive_scan(exec, size_, plan.run);
        detail::launch_always(exec, size_, detail::CutRuns<Key>{sorted, plan});
    }

    // The number of distinct rows: known from the start, or fetched once.
    std::size_t count(Device const& exec) const {
        if (size_ == 0) return 0;
        std::int64_t count = count_->load();
        if (count < 0) {
            detail::read_back(exec, {{&count, arrays().count, sizeof count}});
            *count_ = count;
        }
        return static_cast<std::size_t>(count);
    }

    Tensor<std::int64_t, Device> memory_;
    std::size_t size_ = 0;
    std::size_t value_rows_ = 0;
    std::int64_t height_ = 0;
    std::shared_ptr<std::atomic<std::int64_t>> count_ = std::make_shared<std::atomic<std::int64_t>>(-1);
};

namespace detail {

struct RowPlanAccess {
    /// A plan of ids; errors name them `field`.
    template <class System>
    static RowPlan<ThrustDevice<System>> make(ThrustDevice<System> const& exec, char const* field,
                                              Ids<ThrustDevice<System>> const& ids, std::int64_t height) {
        return {exec, field, ids, height};
    }
    template <class System>
    static PlanArrays arrays(RowPlan<ThrustDevice<System>> const& plan) {
        return plan.arrays();
    }
    /// Throws CudaError unless a call on `exec` may use the plan.
    template <class System>
    static void check(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan) {
        plan.memory_.check(exec);
    }
    template <class System>
    static std::size_t count(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan) {
        return plan.count(exec);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
