// rowan/graph/backward.hpp: append_backward, the operators that compute gradients.
#pragma once

#include <rowan/graph/detail/gradient_maker.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <array>
#include <unordered_set>
#include <vector>

namespace rowan::inline v0 {

/// A parameter and the variable that its gradient is written to.
struct ParameterGradient {
    Variable* parameter;  ///< the parameter
    Variable* gradient;   ///< its gradient, in the scope passed to append_backward
};

/// Adds to `scope` the operators that compute the gradients of all parameters that `cost` depends on, and returns the
/// gradient variables. `scope` must be the scope of `cost` or an inner scope of it. A variable that is read more than
/// once gets the sum of its gradients; gradients of lookup tables stay row-sparse, unless an operator computes the
/// table and its gradient reads all rows, as that of transpose. Only gradients that a parameter needs are computed.
/// Parameters that an operator replaces after each step, such as moving means, have no gradient.
/// errors   GraphError if `cost` does not depend on a parameter, or an operator on the path has no gradient; the scope
///          then is as before
/// cost     one pass over the net; for each operator on the path at most one new operator per gradient rule, plus zeros
///          and sums
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost, Scope& scope) {
    auto const order = detail::trace(std::array{&cost});
    detail::GradientMaker<T, Device> maker(scope, detail::describe(cost));
    std::unordered_set<Variable const*> moving;  // such as a moving mean
    for (Operator const* op : order)
        detail::each_next(*op, [&](Variable const& v, Variable const&) { moving.insert(&v); });
    for (Operator const* op : order) {
        for (Variable const* v : op->inputs) {
            if (v->role() == Role::parameter && !moving.contains(v)) maker.want(*v);
        }
    }
    maker.spread(order);
    if (!maker.wants(cost))
        throw GraphError(detail::describe(cost).append(" does not depend on a parameter: there is nothing to train"));
    detail::ScopeRollback added(scope);
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
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost) {
    return append_backward<T, Device>(cost, cost.scope());
}

ROWAN_TEMPLATE(std::vector<ParameterGradient> append_backward<float, Cpu>(Variable&, Scope&))
ROWAN_TEMPLATE(std::vector<ParameterGradient> append_backward<double, Cpu>(Variable&, Scope&))

}  // namespace rowan::inline v0
