// rowan/graph/rnn.hpp: rnn_kernel, the operator that runs a step net over sequences, and its gradient.
#pragma once

#include <rowan/graph/detail/loop_kernels.hpp>
#include <rowan/graph/detail/step_net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The attributes of the `rnn` operator.
struct RnnBlock {
    std::unique_ptr<Scope> scope;  ///< the scope of the step
    detail::StepNet net;           ///< the operators of a step
    std::size_t level = 0;         ///< the level of x whose sequences are iterated over
    bool reverse = false;          ///< whether sequences are processed from the last element to the first
    bool runs_whole = false;       ///< whether a batch runs as one part, see detail::runs_whole
    /// For each memory, whether an input provides its state before the first step, with one row per sequence.
    std::vector<bool> has_boot;
    detail::LoopKernels kernels;  ///< kernels for the element type and device
    /// Calls f(k, exec) for k in [0, parts), in parallel if the device has threads and there is enough work, counted in
    /// multiplications.
    void (*for_parts)(AnyExec exec, std::size_t parts, std::size_t work,
                      std::function<void(std::size_t, AnyExec)> const& f);

    /// The number of memories that have a boot state.
    /// errors   none
    /// cost     O(states)
    ROWAN_IF_CALLED std::size_t boots() const;
};

/// The values of all steps of a run, which the gradient needs.
struct StepScopes;

namespace detail {

/// The number of parts of a batch, which run in parallel: one below 32 sequences, two below 96, then one for each 32, at
/// most 256. It does not depend on the number of threads, so neither does the order of summation.
constexpr std::size_t rnn_parts(std::size_t sequences) {
    constexpr std::size_t some = 32;
    return sequences < some ? 1 : sequences < 3 * some ? 2 : sequences / some < 256 ? sequences / some : 256;
}

// In the step of an outer recurrent layer, the last states and the outputs have rows, and so have the gradients of x,
// of the boot states and of static inputs.
struct rnn_grad_op : whole_op {
    static constexpr std::string_view name = "rnn_grad";
    using inputs = slots<slot::x, slot::scopes, grad_of<slot::out>, grad_of<slot::last>>;
    using outputs = slots<grad_of<slot::x>>;
    ROWAN_IF_CALLED static bool row_output(AttributesRef a, std::size_t i);
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the outputs and of the last states
    ROWAN_IF_CALLED static void run(KernelCall const& call);
};

struct rnn_op : whole_op {
    static constexpr std::string_view name = "rnn";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::last, slot::out, slot::scopes>;
    using grad = grad_rule<rnn_grad_op>;
    static constexpr bool compiled_rules = true;
    ROWAN_IF_CALLED static bool row_output(AttributesRef a, std::size_t i);
    ROWAN_IF_CALLED static RowTraits row_traits(AttributesRef a);
    ROWAN_IF_CALLED static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    ROWAN_IF_CALLED static void run(KernelCall const& call);
    ROWAN_IF_CALLED static void each_read(Operator const& op, OutsideOf const& outside, ReadVisitor const& f);
};

}  // namespace detail

/// The recurrent operator. Inputs: x, the boot states if any, and the outer variables that the step reads. Results: the
/// states of every sequence after its last step, the outputs of all steps with the levels of x, and the StepScopes.
inline constexpr detail::WholeKernel<detail::rnn_op> rnn_kernel{};

ROWAN_TEMPLATE(struct detail::whole_kernel<detail::rnn_op>)

}  // namespace rowan::inline v0

#include <rowan/graph/rnn_inl.hpp>
