// rowan/graph/while_loop.hpp: while_kernel, the operator of a loop with a condition, and its gradient.
#pragma once

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/graph/detail/loop_kernels.hpp>
#include <rowan/graph/detail/loop_net.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
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
    bool (*holds)(void const* device, Value const& condition);
    /// Adds the operators of the gradient; called when a gradient is requested.
    void (*build_backward)(WhileBlock&);
};

/// For each iteration of a run, the values that the gradient needs.
struct LoopScopes {
    detail::Buffer<detail::Buffer<Value>> iterations;  ///< the values of each iteration
    std::size_t count = 0;                             ///< the number of iterations that ran
};

namespace detail {

void run_while(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
               std::ptrdiff_t);

// in: the inputs of the forward operator, its scopes, and the gradients of the final states
void run_while_grad(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                    std::ptrdiff_t);

std::vector<VarSpec> infer_while(std::span<VarSpec const>, void const* attributes);

std::vector<VarSpec> infer_while_grad(std::span<VarSpec const> in, void const* attributes);

inline constexpr std::array<std::string_view, 1> while_inputs{"state"}, while_grad_outputs{"state@GRAD"};
inline constexpr std::array<std::string_view, 2> while_outputs{"last", "scopes"};
inline constexpr std::array<std::string_view, 3> while_grad_inputs{"state", "scopes", "last@GRAD"};
inline constexpr op_kernel while_grad_kernel =
    whole_op("while_loop_grad", while_grad_inputs, while_grad_outputs, &infer_while_grad, &run_while_grad, {});
inline constexpr std::array while_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::output, 1},
                                        grad_slot{grad_slot::grad_of_output, 0}};
inline constexpr std::array while_writes{grad_slot{grad_slot::grad_of_input, 0}};
inline constexpr std::array while_rules{grad_kernel{&while_grad_kernel, while_reads, while_writes}};

}  // namespace detail

/// The loop operator. Inputs: the initial states, and the outer variables that an iteration reads. Results: the final
/// states, and the LoopScopes that the gradient needs.
inline constexpr op_kernel while_kernel =
    detail::whole_op("while_loop", detail::while_inputs, detail::while_outputs, &detail::infer_while,
                     &detail::run_while, detail::while_rules);

}  // namespace rowan::inline v0

#include <rowan/graph/while_loop_inl.hpp>
