// rowan/graph/rnn.hpp: rnn_kernel, the operator that runs a step net over sequences, and its gradient.
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
    /// Adds the operators of the gradient; called when a gradient is requested.
    void (*build_backward)(RnnBlock&);
    /// Calls f(k, device) for k in [0, parts), in parallel if the device has threads.
    void (*for_parts)(void const* device, std::size_t parts, std::function<void(std::size_t, void const*)> const& f);

    /// The number of memories that have a boot state.
    /// errors   none
    /// cost     O(states)
    std::size_t boots() const;
};

/// The values of all steps of a run, which the gradient needs.
struct StepScopes {
    Lod lod;                                ///< the levels of x
    Lod out_lod;                            ///< the levels of the outputs
    detail::Buffer<detail::RnnPart> parts;  ///< the parts of the batch, which may run in parallel
};

namespace detail {

/// The minimum number of sequences of a part, unless the batch is a single part. Parts run in parallel. The partition
/// does not depend on the number of threads, so neither does the order of summation.
inline constexpr std::size_t rnn_part_size = 32;

void run_rnn(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
             std::ptrdiff_t);

// in: the inputs of the forward operator, its scopes, and the gradients of the outputs and of the last states
void run_rnn_grad(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                  std::ptrdiff_t);

std::vector<VarSpec> infer_rnn(std::span<VarSpec const> in, void const* attributes);

std::vector<VarSpec> infer_rnn_grad(std::span<VarSpec const> in, void const* attributes);

inline constexpr std::array<std::string_view, 1> rnn_inputs{"x"};
inline constexpr std::array<std::string_view, 3> rnn_outputs{"last", "out", "scopes"};
inline constexpr std::array<std::string_view, 4> rnn_grad_inputs{"x", "scopes", "out@GRAD", "last@GRAD"};
inline constexpr std::array<std::string_view, 1> rnn_grad_outputs{"x@GRAD"};

// In the step of an outer recurrent layer, the last states and the outputs have rows, and so have the gradients of x
// and of the boot states.
inline bool rnn_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->net.memories.size();
}
inline bool rnn_row_wise(void const* attributes) { return static_cast<RnnBlock const*>(attributes)->net.rows_apart; }
inline bool rnn_grad_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->boots();
}

inline constexpr op_kernel rnn_grad_kernel{
    "rnn_grad",    rnn_grad_inputs, rnn_grad_outputs, 0, false, &rnn_grad_has_rows,
    &rnn_row_wise, &infer_rnn_grad, &run_rnn_grad,    {}};
inline constexpr std::array<grad_slot, 4> rnn_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::output, 2},
                                                    grad_slot{grad_slot::grad_of_output, 1},
                                                    grad_slot{grad_slot::grad_of_output, 0}};
inline constexpr std::array<grad_slot, 1> rnn_writes{grad_slot{grad_slot::grad_of_input, 0}};
inline constexpr std::array<grad_kernel, 1> rnn_rules{grad_kernel{&rnn_grad_kernel, rnn_reads, rnn_writes}};

}  // namespace detail

/// The recurrent operator. Inputs: x, the boot states if any, and the outer variables that the step reads. Results: the
/// states of every sequence after its last step, the outputs of all steps with the levels of x, and the StepScopes.
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
