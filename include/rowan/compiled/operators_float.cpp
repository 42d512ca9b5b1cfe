// rowan/compiled/operators_float.cpp: the compiled library's operators for float.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#endif
#include <rowan/compiled/operators.hpp>
#include <rowan/op/forward_ops.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace rowan::inline v0::detail {

template <class... Op>
constexpr bool all_are_compiled(registry<Op...>) {
    return ((is_in<Op, compiled_ops> || is_in<Op, compiled_truth_ops> || takes_only_integers<Op>)&&...) &&
           ((is_in<Op, compiled_integer_ops> || !takes_integers<Op>)&&...) &&
           ((is_in<Op, compiled_truth_ops> || !takes_truth_values<Op>)&&...);
}
static_assert(all_are_compiled(forward_ops{}), "rowan: compiled_kernels.hpp lacks an operator of forward_ops");

[[gnu::used]] static Kernels operators_of_float() { return compile_operators<float>(compiled_ops{}); }

using Infer = decltype(op_kernel::infer);
using RowInputs = decltype(op_kernel::row_inputs);
using RowOutput = decltype(op_kernel::row_output);
using RowWise = decltype(op_kernel::row_wise);

/// Instantiates what the kernels of all element types share, for the operators without kernels for float.
template <class E, class... Op>
std::vector<std::tuple<Infer, RowInputs, RowOutput, RowWise>> compile_untyped_functions(type_list<Op...>) {
    return {{&untyped_functions<Op, is_variadic<Op, Cpu, E>>::infer,
             &untyped_functions<Op, is_variadic<Op, Cpu, E>>::row_inputs,
             &untyped_functions<Op, is_variadic<Op, Cpu, E>>::row_output,
             &untyped_functions<Op, is_variadic<Op, Cpu, E>>::row_wise}...};
}
[[gnu::used]] static auto untyped_functions_of_integers() {
    return compile_untyped_functions<std::int64_t>(compiled_integer_ops{});
}
[[gnu::used]] static auto untyped_functions_of_bool() { return compile_untyped_functions<bool>(compiled_truth_ops{}); }
[[gnu::used]] static auto untyped_functions_of_sources() {
    return compile_untyped_functions<float>(compiled_sources{});
}

}  // namespace rowan::inline v0::detail
