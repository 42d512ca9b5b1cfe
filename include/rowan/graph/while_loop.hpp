// rowan/graph/while_loop.hpp: while_kernel, the operator of a loop with a condition, and its gradient.
#pragma once

#include <rowan/graph/detail/loop_kernels.hpp>
#include <rowan/graph/detail/loop_net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The attributes of the `while_loop` operator.
struct WhileBlock {
    std::unique_ptr<Scope> scope;     ///< the scope of an iteration
    detail::LoopNet net;              ///< condition and body
    std::int64_t max_iterations = 0;  ///< 0: unlimited
    std::int32_t gradient_dtype = 0;  ///< dtype<T>::wire of the gradients
    detail::LoopKernels kernels;      ///< kernels for the element type and device
    /// The value of the condition.
    bool (*holds)(AnyExec exec, Value const& condition);
};

/// For each iteration of a run, the values that the gradient needs.
struct LoopScopes;

namespace detail {

struct while_grad_op : whole_op {
    static constexpr std::string_view name = "while_loop_grad";
    using inputs = slots<slot::state, slot::scopes, grad_of<slot::last>>;
    using outputs = slots<grad_of<slot::state>>;
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the final states
    ROWAN_IF_CALLED static void run(KernelCall const& call);
};

struct while_op : whole_op {
    static constexpr std::string_view name = "while_loop";
    using inputs = slots<slot::state>;
    using outputs = slots<slot::last, slot::scopes>;
    using grad = grad_rule<while_grad_op>;
    static constexpr bool compiled_rules = true;
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    ROWAN_IF_CALLED static void run(KernelCall const& call);
};

}  // namespace detail

/// The loop operator. Inputs: the initial states, and the outer variables that an iteration reads. Results: the final
/// states, and the LoopScopes that the gradient needs.
inline constexpr detail::WholeKernel<detail::while_op> while_kernel{};

ROWAN_TEMPLATE(struct detail::whole_kernel<detail::while_op>)

}  // namespace rowan::inline v0

#include <rowan/graph/while_loop_inl.hpp>
