// rowan/sparse/detail/closed_form.hpp: ClosedForm, the sums of which all steps that a row has missed are one formula.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/closed_rules.hpp>
#include <rowan/sparse/detail/step_history.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A product of many factors, of any size: part · 2^exponent, part in [1/2, 1).
struct LongProduct {
    double part = 0.5;
    std::int64_t exponent = 1;

    void multiply(double factor) {
        int more = 0;
        part = std::frexp(part * factor, &more);
        exponent += more;
    }

    /// The square root of this divided by an earlier one.
    double root_since(LongProduct const& before) const {
        if (exponent == before.exponent && part == before.part) return 1.0;
        std::int64_t const twos = std::clamp<std::int64_t>(exponent - before.exponent, -4000, 4000);
        int const half = static_cast<int>(twos >= 0 ? twos / 2 : (twos - 1) / 2);
        return std::ldexp(std::sqrt(part / before.part * (twos - 2 * half == 1 ? 2.0 : 1.0)), half);
    }
};

/// For each step of a history, the sums of this one and all later ones.
template <class Rule>
class ClosedForm {
    using Closed = closed_rule<Rule>;
    using Sums = std::array<double, Closed::sums>;
    using Roots = decltype(Closed::roots(std::declval<Rule const&>()));

public:
    /// Makes room for the steps of a history with room for one more, so that the next `add` throws nothing.
    void reserve(StepHistory<Rule> const& history) {
        if (steps_.size() == steps_.capacity()) steps_.reserve(2 * history.size() + history.group);
        gaps_.reserve(steps_.capacity());
        powers_.reserve(steps_.capacity());
    }

    /// Adds the last step of the history.
    void add(StepHistory<Rule> const& history) {
        std::size_t const i = steps_.size();
        ClosedStep const step = Closed::step(history[i]);
        if (!step.known) {
            first_ = i + 1;
        } else if (i > 0 && !Closed::same(history[i - 1], history[i])) {
            first_ = i;
        }
        if (first_ >= i) {  // a new chain of steps
            kept_ = {};
            powers_.clear();
        }
        steps_.push_back({step, {}});
        gaps_.push_back({{}, kept_});
        if (!step.known) return;
        kept_.multiply(step.kept);
        Roots roots = Closed::roots(history[i]);
        if (!powers_.empty()) {
            constexpr double least = std::numeric_limits<double>::min();  // does not turn infinity to NaN, as 0 does
            for (std::size_t k = 0; k != roots.size(); ++k)
                if (roots[k] > 0.0) roots[k] = std::max(roots[k] * powers_.back()[k], least);
        }
        powers_.push_back(roots);
        sum();
    }
    void clear() {
        steps_.clear();
        gaps_.clear();
        powers_.clear();
        kept_ = {};
        first_ = 0;
    }

    /// The first step in [step, end) from which on a formula for all later ones is good; end if there is none.
    std::size_t from(std::size_t step, std::size_t end) const {
        for (step = std::max(step, first_); step < steps_.size(); ++step)
            if (gaps_[step].moves.good) return step;
        return end;
    }

    /// The formula of the steps from this one on, for numbers of type S.
    template <class S>
    auto formula(StepHistory<Rule> const& history, std::size_t step) const {
        Gap const& gap = gaps_[step];
        return Closed::template formula<S>(history[step], gap.moves, powers_[steps_.size() - 1 - step],
                                           Shrink::by<S>(kept_.root_since(gap.kept)));
    }

private:
    struct Step {
        ClosedStep step;
        Sums sums;
    };
    struct Gap {  // from a step to the last one
        typename Closed::Moves moves;
        LongProduct kept;  // of the steps before it
    };

    /// Adds the last step to all sums. From the step on in which a sum stays the same, it stays in all before it.
    void sum() {
        Sums after{};
        for (std::size_t i = steps_.size(); i-- > first_;) {
            ClosedStep const& step = steps_[i].step;
            Sums sums;
            double term = step.term, ratio = step.ratio;
            for (std::size_t k = 0; k != sums.size(); ++k) {
                sums[k] = product(ratio, term + after[k]);
                term = product(term, step.terms);
                ratio = product(ratio, step.ratios);
            }
            if (i + 1 < steps_.size() && sums == steps_[i].sums) break;
            after = steps_[i].sums = sums;
            gaps_[i].moves = Closed::Moves::of(sums);
        }
    }

    std::vector<Step> steps_;
    std::vector<Gap> gaps_;
    std::vector<Roots> powers_;  // of 1, 2, … steps
    LongProduct kept_;           // of all steps
    std::size_t first_ = 0;      // the first step from which on all have one closed form
};

}  // namespace rowan::inline v0::detail
