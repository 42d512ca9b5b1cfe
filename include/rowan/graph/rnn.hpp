// rowan/graph/rnn.hpp: the recurrent operator, a step net run over the steps of sequences, and its gradient.
#pragma once

#include <rowan/graph/detail/rnn_run.hpp>
#include <rowan/graph/detail/step_net.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/sequence/step_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// What a recurrent operator is made of: the attributes of `rnn`.
struct RnnBlock {
    std::unique_ptr<Scope> scope;  ///< of the step
    detail::StepNet net;           ///< what runs for all steps, and what step by step
    std::size_t level = 0;         ///< the level of x whose sequences are walked through
    bool reverse = false;          ///< from their ends to their beginnings
    bool runs_whole = false;       ///< and not in parts, see detail::runs_whole
    std::vector<bool>
        has_boot;  ///< of each memory: an input brings the state before the first step, a row for each sequence
    detail::LoopKernels kernels;  ///< how values of the element types and the device are made
    /// Adds the operators of the gradient, when a gradient is asked for.
    void (*build_backward)(RnnBlock&);
    /// Calls f(k, device) for k in [0, parts), several at a time where the device has threads.
    void (*for_parts)(void const* device, std::size_t parts, std::function<void(std::size_t, void const*)> const& f);

    /// How many memories have one.
    /// errors   none
    /// cost     O(states)
    std::size_t boots() const;
};

/// The values of all steps of a run, which the gradient needs: the scopes of the steps.
struct StepScopes {
    Lod lod;                                ///< of x
    Lod out_lod;                            ///< of the results
    detail::Buffer<detail::RnnPart> parts;  ///< of the sequences, which ran side by side
};

namespace detail {

/// Sequences are dealt out to parts of at least this many, which threads run at the same time. It does not depend on their number: so the
/// same sums are formed by any number of threads.
inline constexpr std::size_t rnn_part_size = 32;

void run_rnn(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
             std::ptrdiff_t);

// in: the inputs of the forward operator, its scopes, and the gradients of the results of all steps and of the last states
void run_rnn_grad(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                  std::ptrdiff_t);

std::vector<VarSpec> infer_rnn(std::span<VarSpec const> in, void const* attributes);

std::vector<VarSpec> infer_rnn_grad(std::span<VarSpec const> in, void const* attributes);

inline constexpr std::array<std::string_view, 1> rnn_inputs{"x"};
inline constexpr std::array<std::string_view, 3> rnn_outputs{"last", "out", "scopes"};
inline constexpr std::array<std::string_view, 4> rnn_grad_inputs{"x", "scopes", "out@GRAD", "last@GRAD"};
inline constexpr std::array<std::string_view, 1> rnn_grad_outputs{"x@GRAD"};

// Within the step of another one: the last states and results are rows, as are the gradients of x and the boot states.
inline bool rnn_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->net.memories.size();
}
inline bool rnn_row_wise(void const* attributes) { return static_cast<RnnBlock const*>(attributes)->net.rows_apart; }
inline bool rnn_grad_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->boots();
}

inline constexpr op_kernel rnn_grad_kernel{"rnn_grad",    rnn_grad_inputs, rnn_grad_outputs, 0, false, &rnn_grad_has_rows,
                                       &rnn_row_wise, &infer_rnn_grad, &run_rnn_grad,    {}};
inline constexpr std::array<grad_slot, 4> rnn_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::output, 2},
                                                    grad_slot{grad_slot::grad_of_output, 1},
                                                    grad_slot{grad_slot::grad_of_output, 0}};
inline constexpr std::array<grad_slot, 1> rnn_writes{grad_slot{grad_slot::grad_of_input, 0}};
inline constexpr std::array<grad_kernel, 1> rnn_rules{grad_kernel{&rnn_grad_kernel, rnn_reads, rnn_writes}};

}  // namespace detail

/// The recurrent operator: inputs are x, the boot states where there are some, and what the step reads from outside; results are the states
/// of every sequence after its last step, the outputs of all steps with the levels of x, and the scopes of the steps.
inline constexpr op_kernel rnn_kernel{"rnn",
                                  detail::rnn_inputs,
                                  detail::rnn_outputs,
                                  0,
                                  false,
                                  &detail::rnn_has_rows,
                                  &detail::rnn_row_wise,
                                  &detail::infer_rnn,
                                  &detail::run_rnn,
                                  detail::rnn_rules};

}  // namespace rowan::inline v0

#include <rowan/graph/rnn_inl.hpp>
