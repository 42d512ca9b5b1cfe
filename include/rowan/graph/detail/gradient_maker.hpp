// rowan/graph/detail/gradient_maker.hpp: GradientMaker, which adds gradient operators in reverse topological order.
#pragma once

#include <rowan/graph/detail/gradient_kernels.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Collects the gradients of variables. Those that are filled, summed or made dense have elements of one type.
class GradientMaker {
public:
    /// New operators are added to `scope`; `target` describes, in messages, what is differentiated.
    GradientMaker(GradientKernels const& kernels, Scope& scope, std::string target)
        : kernels_(kernels), scope_(scope), target_(std::move(target)) {}

    /// Requests the gradient of a variable.
    void want(Variable const& v) { wanted_.insert(&v); }
    /// The same, if its elements have the type of the gradients.
    void want_of_type(Variable const& v) {
        if (v.spec().dtype == kernels_.dtype) want(v);
    }
    bool wants(Variable const& v) const { return wanted_.contains(&v); }

    /// Requests the gradients of all variables that depend on requested ones, except integral and bool variables, which
    /// are not differentiable.
    ROWAN_IF_CALLED void spread(std::span<Operator* const> order);

    void add(Variable const& v, Variable& gradient) { parts_[&v].push_back(&gradient); }

    ROWAN_IF_CALLED Variable& fill(Variable& like, double value);

    /// The sum of the gradients collected for a variable, or nullptr if there are none.
    ROWAN_IF_CALLED Variable* gradient(Variable const& v);

    /// The gradients collected for a variable, not summed.
    ROWAN_IF_CALLED std::vector<Variable*> parts(Variable const& v) const;

    /// Adds the gradient operators of an operator. All readers of its results must have been differentiated before.
    /// errors   GraphError if it has no gradient for a requested input
    ROWAN_IF_CALLED void differentiate(Operator& op);

private:
    // Zeros for the gradient of `like`: a filled tensor if it is dense with elements of that type, else an empty value.
    ROWAN_IF_CALLED Variable& zeros(Variable& like);

    // The gradient of an operator's result as a tensor, if it is row-sparse: the result is a table.
    ROWAN_IF_CALLED Variable& dense(Variable const& result, Variable& gradient);

    // Whether a gradient flows to the elements of input i.
    bool wants_input(Operator const& op, std::size_t i) const {
        return wanted_.contains(op.inputs[i]) && (op.kernel->level_inputs >> std::min<std::size_t>(i, 31) & 1) == 0;
    }

    // For each rule, whether it computes a requested gradient or a value that another needed rule reads.
    ROWAN_IF_CALLED std::vector<bool> needed_rules(Operator const& op, std::span<grad_kernel const> rules) const;

    GradientKernels kernels_;
    Scope& scope_;
    std::string target_;
    std::unordered_set<Variable const*> wanted_;
    std::unordered_map<Variable const*, std::vector<Variable*>> parts_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/gradient_maker_inl.hpp>
