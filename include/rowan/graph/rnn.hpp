// rowan/graph/rnn.hpp: rnn_kernel, the operator that runs a step net over sequences, and its gradient.
#pragma once

#include <rowan/graph/detail/rnn_run.hpp>
#include <rowan/graph/detail/step_net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
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
    std::size_t boots() const { return static_cast<std::size_t>(std::ranges::count(has_boot, true)); }
};

/// The values of all steps of a run, which the gradient needs.
struct StepScopes {
    Lod lod;                                ///< the levels of x
    Lod out_lod;                            ///< the levels of the outputs
    detail::Buffer<detail::RnnPart> parts;  ///< the parts of the batch, which may run in parallel
};

namespace detail {

/// The number of parts of a batch, which run in parallel: one below 32 sequences, two below 96, then one for each 32, at
/// most 256. It does not depend on the number of threads, so neither does the order of summation.
constexpr std::size_t rnn_parts(std::size_t sequences) {
    constexpr std::size_t some = 32;
    return sequences < some ? 1 : std::clamp<std::size_t>(sequences / some, 2, 256);
}

// In the step of an outer recurrent layer, the last states and the outputs have rows, and so have the gradients of x,
// of the boot states and of static inputs.
struct rnn_grad_op : whole_op {
    static constexpr std::string_view name = "rnn_grad";
    using inputs = slots<slot::x, slot::scopes, grad_of<slot::out>, grad_of<slot::last>>;
    using outputs = slots<grad_of<slot::x>>;
    static bool row_output(AttributesRef a, std::size_t i) {
        auto const& block = a.get<RnnBlock>();
        return i <= block.boots() || block.net.is_static(i - block.boots() - 1);
    }
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    // in: the inputs of the forward operator, its scopes, and the gradients of the outputs and of the last states
    static void run(KernelCall const& call);
};

struct rnn_op : whole_op {
    static constexpr std::string_view name = "rnn";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::last, slot::out, slot::scopes>;
    using grad = grad_rule<rnn_grad_op>;
    static bool row_output(AttributesRef a, std::size_t i) { return i <= a.get<RnnBlock>().net.memories.size(); }
    static RowTraits row_traits(AttributesRef a) {
        return {false, a.get<RnnBlock>().net.rows_apart, Linearity::inside};
    }
    static std::vector<VarSpec> infer(Specs in, AttributesRef attributes);
    static void run(KernelCall const& call);
    static void each_read(Operator const& op, OutsideOf const& outside, ReadVisitor const& f);
};

}  // namespace detail

/// The recurrent operator. Inputs: x, the boot states if any, and the outer variables that the step reads. Results: the
/// states of every sequence after its last step, the outputs of all steps with the levels of x, and the StepScopes.
inline constexpr op_kernel const& rnn_kernel = detail::whole_kernel<detail::rnn_op>::value;

}  // namespace rowan::inline v0

#include <rowan/graph/rnn_inl.hpp>
