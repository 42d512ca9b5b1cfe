// rowan/compiled/operators_float.cpp: the compiled library's operators for float.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#endif
#include <rowan/compiled/operators.hpp>

namespace rowan::inline v0::detail {

[[gnu::used]] static Codes operators_of_float() { return compile_operators<float>(compiled_ops{}); }

}  // namespace rowan::inline v0::detail
