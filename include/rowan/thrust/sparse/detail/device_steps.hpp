// rowan/thrust/sparse/detail/device_steps.hpp: DeviceSteps, the steps that rows may have missed, in device memory.
#pragma once

#include <rowan/sparse/detail/coast.hpp>
#include <rowan/sparse/detail/deferred_rules.hpp>
#include <rowan/sparse/detail/replay.hpp>
#include <rowan/sparse/detail/step_history.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

/// The number of steps that were made since the last flush. Only the device knows it: a step after a call with a bad id is
/// not made.
struct StepCount {
    std::size_t size;
    std::size_t same_from;  // the steps from this one on are all the same
    std::uint64_t call;     // the number of the last step
};

/// StepHistory in device memory.
template <class Rule>
struct DeviceSteps {
    static constexpr std::size_t group = StepHistory<Rule>::group;

    Rule* rules;
    Coast* bounds;    // of each group of rules
    Coast* ahead_of;  // of each group and all later ones
    StepCount* count;

    ROWAN_HD std::size_t size() const { return count->size; }
    ROWAN_HD Rule const& operator[](std::size_t step) const { return rules[step]; }
    ROWAN_HD Coast near(std::size_t step) const {
        std::size_t const at = step / group;
        Coast coast = bounds[at];
        if ((at + 1) * group < size()) coast.include(bounds[at + 1]);
        return coast;
    }
    ROWAN_HD Coast const& ahead(std::size_t step) const { return ahead_of[step / group]; }
    ROWAN_HD bool same_from(std::size_t step) const { return step >= count->same_from; }
};

/// Adds a step, which EndStep counts. A thread takes `some` groups of steps, from the last one on, until a bound stays: it
/// is part of those before it.
template <class Rule>
struct AddStep {
    static constexpr std::size_t some = 32;

    DeviceSteps<Rule> steps;
    Rule rule;
    Coast coast;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const size = steps.size(), last = size / steps.group, first = k * some;
        if (k == 0) steps.rules[size] = rule;
        for (std::size_t i = first + some; i-- > first;) {
            if (i > last) continue;
            if (i == last && size % steps.group == 0) {
                steps.bounds[i] = steps.ahead_of[i] = coast;
                continue;
            }
            if (i == last) steps.bounds[i].include(coast);
            if (!steps.ahead_of[i].include(coast)) return;
        }
    }
};

struct EndStep {
    StepCount* count;
    std::uint64_t call;
    bool same;  // as the step of the call before, which may not have been made

    ROWAN_HD void operator()(std::size_t) const {
        if (!same || count->call + 1 != call) count->same_from = count->size;
        count->call = call;
        ++count->size;
    }
};

/// Rows of a table: those of a plan, or all.
struct PlannedRows {
    std::int64_t const* rows = nullptr;  // nullptr: row k itself
    std::int64_t const* count = nullptr;

    ROWAN_HD bool has(std::size_t k) const { return count == nullptr || static_cast<std::int64_t>(k) < *count; }
    ROWAN_HD std::size_t operator[](std::size_t k) const {
        return rows == nullptr ? k : static_cast<std::size_t>(rows[k]);
    }
};

/// Says that rows have made all steps.
struct MarkRows {
    std::uint16_t* done;
    PlannedRows rows;
    StepCount const* count;

    ROWAN_HD void operator()(std::size_t k) const {
        if (rows.has(k)) done[rows[k]] = static_cast<std::uint16_t>(count->size);
    }
};
template <class I>
struct RenewRow {
    std::uint16_t* done;
    I const* ids;
    StepCount const* count;

    ROWAN_HD void operator()(std::size_t k) const { done[ids[k]] = static_cast<std::uint16_t>(count->size); }
};
struct ForgetSteps {
    std::uint16_t* done;
    std::size_t height;
    StepCount* count;

    ROWAN_HD void operator()(std::size_t k) const {
        if (k < height) done[k] = 0;
        if (k == 0) *count = {};
    }
};

/// Applies the steps [step, end) to an element of a row.
template <class V, class Rule>
struct ReplayAt {
    DeviceSteps<Rule> const& steps;
    Shrinkage const& least;
    std::size_t step, end, column;

    ROWAN_NO_EXEC_CHECK
    template <class... P>
    ROWAN_HD void operator()(RowSpan<P> const&... row) const {
        LaneReplay<V, 1, Rule, P...> x((row.data() + column)...);
        x.run(steps, least, step, end);
        x.save((row.data() + column)...);
    }
};

/// Brings rows up to date, one thread for each element.
template <class V, class Rule, class... P>
struct ReplayElement {
    DeviceSteps<Rule> steps;
    Shrinkage least;
    std::uint16_t const* done;
    PlannedRows rows;
    FastDivmod width;
    Targets<P...> targets;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k);
        if (!rows.has(i)) return;
        std::size_t const row = rows[i], made = done[row], now = steps.size();
        if (made != now) targets.apply_row(row, ReplayAt<V, Rule>{steps, least, made, now, k - i * width.by});
    }
};

/// of_dense for sums of gradients of type G, which are rounded as those of to_dense.
template <class G, class Formula>
struct of_sums {
    Formula formula;

    ROWAN_NO_EXEC_CHECK
    template <class V, class... P>
    ROWAN_HD_INLINE void operator()(V const& sum, P&... x) const {
        if constexpr (std::is_same_v<sum_t<G>, G>) {
            of_dense<Formula>{formula}(sum, x...);
        } else {
            of_dense<Formula>{formula}(rounded_to<G>(sum), x...);
        }
    }
};

}  // namespace rowan::inline v0::detail
