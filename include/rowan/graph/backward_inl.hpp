// rowan/graph/backward_inl.hpp: definitions of rowan/graph/backward.hpp.
#pragma once

#include <rowan/graph/backward.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/gradient_maker.hpp>
#include <rowan/graph/detail/trace.hpp>

#include <array>
#include <unordered_set>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<ParameterGradient> append_gradients(GradientKernels const& kernels,
                                                                                 Variable& cost, Scope& scope) {
    auto const order = trace(std::array{&cost});
    GradientMaker maker(kernels, scope, describe(cost));
    std::unordered_set<Variable const*> moving;  // such as a moving mean
    for (Operator const* op : order) each_next(*op, [&](Variable const& v, Variable const&) { moving.insert(&v); });
    for (Operator const* op : order) {
        for (Variable const* v : op->inputs) {
            if (v->role() == Role::parameter && !moving.contains(v)) maker.want(*v);
        }
    }
    maker.spread(order);
    if (!maker.wants(cost))
        throw GraphError(describe(cost).append(" does not depend on a parameter: there is nothing to train"));
    ScopeRollback added(scope);
    maker.add(cost, maker.fill(cost, 1.0));
    for (auto op = order.rbegin(); op != order.rend(); ++op) maker.differentiate(**op);
    std::vector<ParameterGradient> gradients;
    std::unordered_set<Variable const*> seen;
    for (Operator const* op : order) {
        for (Variable* const v : op->inputs) {
            if (v->role() != Role::parameter || !seen.insert(v).second) continue;
            if (Variable* const g = maker.gradient(*v)) gradients.push_back({v, g});
        }
    }
    added.keep();
    return gradients;
}

}  // namespace rowan::inline v0::detail

#endif
