// rowan/graph/backward.hpp: append_backward, the operators that compute gradients.
#pragma once

#include <rowan/graph/detail/gradient_kernels.hpp>
#include <rowan/graph/scope.hpp>

#include <vector>

namespace rowan::inline v0 {

/// A parameter and the variable that its gradient is written to.
struct ParameterGradient {
    Variable* parameter;  ///< the parameter
    Variable* gradient;   ///< its gradient, in the scope passed to append_backward
};

namespace detail {
/// append_backward, with the operators of an element type.
ROWAN_IF_CALLED std::vector<ParameterGradient> append_gradients(GradientKernels const& kernels, Variable& cost,
                                                                Scope& scope);
}  // namespace detail

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
    return detail::append_gradients(detail::gradient_kernels<T, Device>(), cost, scope);
}
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost) {
    return append_backward<T, Device>(cost, cost.scope());
}

}  // namespace rowan::inline v0

#include <rowan/graph/backward_inl.hpp>
