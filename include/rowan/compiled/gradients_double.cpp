// rowan/compiled/gradients_double.cpp: the compiled library's gradients for double.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_GRADIENTS
#define ROWAN_UNTYPED_FUNCTIONS_ELSEWHERE  // in gradients_float.cpp
#endif
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

void add_rules_of_double(CompiledRules& rules) { compile_gradients<double>(rules, compiled_ops{}); }

}  // namespace rowan::inline v0::detail
