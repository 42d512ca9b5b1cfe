// rowan/compiled/gradients_float.cpp: the compiled library's gradients for float.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_GRADIENTS
#endif
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

void add_rules_of_float(CompiledRules& rules) { compile_gradients<float>(rules, compiled_ops{}); }

}  // namespace rowan::inline v0::detail
