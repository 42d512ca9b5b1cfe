// rowan/compiled/operators_double.cpp: the compiled library's operators for double.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#define ROWAN_UNTYPED_FUNCTIONS_ELSEWHERE  // in operators_float.cpp
#endif
#include <rowan/compiled/functions.hpp>
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

[[gnu::used]] static Kernels operators_of_double() { return compile_operators<double>(compiled_ops{}); }

[[gnu::used]] static void functions_of_double(Cpu exec, Tensor<double> const& x) { call_functions(exec, x); }

}  // namespace rowan::inline v0::detail
