// rowan/train/detail/cost_divisors_inl.hpp: definitions of cost_weight.hpp: the numbers of the parts.
#pragma once

#include <rowan/train/detail/cost_weight.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/trace.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<Variable*> CostWeight::reads() const {
    std::vector<Variable*> all;
    for (CostDivisor const& d : divisors_) {
        for (Counted const& factor : d.factors) all.push_back(factor.variable);
    }
    return all;
}

ROWAN_FUNCTION void CostWeight::append_to(std::vector<double>& all) const {
    if (divisors_.empty()) all.push_back(1);
    for (CostDivisor const& d : divisors_) all.push_back(d.count());
}

ROWAN_FUNCTION double CostWeight::divisor(std::span<double const> weights, std::size_t stride) const {
    if (kind_ == sum) return 1;
    std::vector<double> totals(size());
    for (std::size_t i = 0; i < weights.size(); i += stride) {
        for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += weights[i + k];
    }
    if (kind_ == same) return totals[0];
    for (CostDivisor const& d : divisors_) {
        for (Counted const& f : d.factors) {
            if (totals[0] == 0 && (f.of == Counted::rows || f.of == Counted::elements))
                throw ShapeError(f.variable->name() + ".shape(0)", "0 in all batches of a step", "at least 1");
            if (totals[0] == 0 && f.of == Counted::value)
                throw ValueError(std::string("parts: the sum of ").append(describe(*f.variable)), 0.0,
                                 "a number other than 0, as it divides the cost");
        }
    }
    auto const text = [&](std::size_t k) {
        Operator const& op = *divisors_[k].op;
        return std::string(op.kernel->name).append(" -> ").append(describe(*op.outputs[0]));
    };
    for (std::size_t k = 1; k < totals.size(); ++k) {
        double const tolerance = std::max(divisors_[0].rounding(), divisors_[k].rounding());
        for (std::size_t at = 0; at < weights.size(); at += stride) {
            double const a = weights[at] * totals[k], b = weights[at + k] * totals[0];
            bool const other = std::abs(a - b) > tolerance * std::max(std::abs(a), std::abs(b));
            if (other || (totals[0] == 0 && totals[k] != 0))
                throw ValueError(std::string("parts: the divisor of ")
                                     .append(text(k))
                                     .append(" in part ")
                                     .append(std::to_string(at / stride)),
                                 weights[at + k],
                                 std::string("in proportion to that of ")
                                     .append(text(0))
                                     .append(", a mean that is added to it: else the parts are not one batch"));
        }
    }
    return totals[0];
}

}  // namespace rowan::inline v0::detail

#endif
