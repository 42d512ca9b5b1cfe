// rowan/graph/cond.hpp: cond_kernel, the operator that runs one of two nets, and its gradient.
#pragma once

#include <rowan/graph/detail/loop_kernels.hpp>
#include <rowan/graph/detail/loop_net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The attributes of the `cond` operator.
struct CondBlock {
    /// A net whose results are the states after its only iteration. It reads no states.
    struct Branch {
        std::unique_ptr<Scope> scope;  ///< the scope of the branch
        detail::LoopNet net;           ///< its operators
    };
    std::array<Branch, 2> branches;   ///< for true and for false
    std::int32_t gradient_dtype = 0;  ///< dtype<T>::wire of the gradients
    detail::LoopKernels kernels;      ///< kernels for the element type and device
    /// The value of the condition.
    bool (*holds)(AnyExec exec, Value const& condition);
};

/// The values of the branch that ran, which the gradient needs.
struct CondScopes;

namespace detail {

struct cond_grad_op : whole_op {
    static constexpr std::string_view name = "cond_grad";
    using inputs = slots<slot::x, slot::scopes, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    ROWAN_IF_CALLED static bool row_output(AttributesRef a, std::size_t i);
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the results
    ROWAN_IF_CALLED static void run(KernelCall const& call);
};

struct cond_op : whole_op {
    static constexpr std::string_view name = "cond";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out, slot::scopes>;
    using grad = grad_rule<cond_grad_op>;
    static constexpr bool compiled_rules = true;
    ROWAN_IF_CALLED static bool row_output(AttributesRef a, std::size_t i);
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    ROWAN_IF_CALLED static void run(KernelCall const& call);
};

}  // namespace detail

/// The operator of a condition. Inputs: the condition, a bool, and the outer variables that each branch reads. Results:
/// those of the branch that ran, and the CondScopes that the gradient needs.
inline constexpr detail::WholeKernel<detail::cond_op> cond_kernel{};

ROWAN_TEMPLATE(struct detail::whole_kernel<detail::cond_op>)

}  // namespace rowan::inline v0

#include <rowan/graph/cond_inl.hpp>
