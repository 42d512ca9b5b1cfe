// rowan/compiled/operators_float.cpp: the compiled library's operators for float.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#endif
#include <rowan/compiled/operators.hpp>
#include <rowan/op/forward_ops.hpp>

namespace rowan::inline v0::detail {

template <class... Op>
constexpr bool all_are_compiled(registry<Op...>) {
    return ((is_in<Op, compiled_ops> || is_in<Op, compiled_truth_ops> || takes_only_integers<Op>)&&...) &&
           ((is_in<Op, compiled_integer_ops> || !takes_integers<Op>)&&...) &&
           ((is_in<Op, compiled_truth_ops> || !takes_truth_values<Op>)&&...);
}
static_assert(all_are_compiled(forward_ops{}), "rowan: compiled_kernels.hpp lacks an operator of forward_ops");

[[gnu::used]] static Kernels operators_of_float() { return compile_operators<float>(compiled_ops{}); }

}  // namespace rowan::inline v0::detail
