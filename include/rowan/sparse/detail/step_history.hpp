// rowan/sparse/detail/step_history.hpp: StepHistory, the steps that rows may have missed.
#pragma once

#include <rowan/sparse/detail/coast.hpp>

#include <cstddef>
#include <vector>

namespace rowan::inline v0::detail {

/// The rules of steps, and bounds of groups of them.
template <class Rule>
class StepHistory {
public:
    static constexpr std::size_t group = 16;

    std::size_t size() const { return rules_.size(); }
    Rule const& operator[](std::size_t step) const { return rules_[step]; }

    /// Makes room, so that the next `add` throws nothing.
    void reserve() {
        if (rules_.size() == rules_.capacity()) rules_.reserve(2 * rules_.size() + group);
        bounds_.reserve(rules_.capacity() / group + 1);
        ahead_.reserve(rules_.capacity() / group + 1);
    }
    void add(Rule const& rule, std::size_t states) {
        Coast const coast = coast_of(rule, states);
        // a bound that stays is part of those before it
        for (std::size_t i = ahead_.size(); i-- > 0 && ahead_[i].include(coast);) {
        }
        if (rules_.size() % group == 0) {
            bounds_.push_back(coast);
            ahead_.push_back(coast);
        } else {
            bounds_.back().include(coast);
        }
        if (!rules_.empty() && !same_step(rules_.back(), rule)) same_from_ = rules_.size();
        rules_.push_back(rule);
    }
    void clear() {
        rules_.clear();
        bounds_.clear();
        ahead_.clear();
        same_from_ = 0;
    }

    /// A bound of the steps from this one to the end of the next group, or of all steps from this one on.
    Coast near(std::size_t step) const {
        Coast coast = bounds_[step / group];
        if (step / group + 1 < bounds_.size()) coast.include(bounds_[step / group + 1]);
        return coast;
    }
    Coast const& ahead(std::size_t step) const { return ahead_[step / group]; }
    /// Whether the steps from this one on are all the same.
    bool same_from(std::size_t step) const { return step >= same_from_; }

private:
    std::vector<Rule> rules_;
    std::vector<Coast> bounds_;  // of each group of rules
    std::vector<Coast> ahead_;   // of each group and all later ones
    std::size_t same_from_ = 0;
};

}  // namespace rowan::inline v0::detail
