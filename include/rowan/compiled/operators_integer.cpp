// rowan/compiled/operators_integer.cpp: the compiled library's operators for integers and bool and without inputs.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#define ROWAN_UNTYPED_FUNCTIONS_ELSEWHERE  // in operators_float.cpp
#endif
#include <rowan/compiled/functions.hpp>
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

[[gnu::used]] static Kernels operators_of_int64() { return compile_operators<std::int64_t>(compiled_ops{}); }
[[gnu::used]] static Kernels operators_of_int32() { return compile_operators<std::int32_t>(compiled_ops{}); }
[[gnu::used]] static Kernels operators_of_bool() { return compile_operators<bool>(compiled_ops{}); }

[[gnu::used]] static void functions_of_integers(Cpu exec, Tensor<std::int64_t> const& x, Tensor<std::int32_t> const& y,
                                                Tensor<bool> const& z) {
    call_functions(exec, x);
    call_functions(exec, y);
    call_functions(exec, z);
}

void add_rules_of_integers(CompiledRules& rules) {
    compile_gradients<std::int64_t>(rules, compiled_ops{});
    compile_gradients<std::int32_t>(rules, compiled_ops{});
    compile_gradients<bool>(rules, compiled_ops{});
}

template <class... Op>
Kernels compile_sources(registry<Op...>) {
    return {&kernel_of<Op, Cpu>::value...};
}
[[gnu::used]] static Kernels operators_of_no_inputs() { return compile_sources(compiled_sources{}); }

}  // namespace rowan::inline v0::detail
