// rowan/compiled/gradients_float.cpp: the compiled library's gradients for float.
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

void add_rules_of_float(CompiledRules& rules) { compile_gradients<float>(rules, compiled_ops{}); }

}  // namespace rowan::inline v0::detail
