// expect: rowan: the compiled library has no values of this type
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/graph/value.hpp>
#include <rowan/sequence/tensor_array.hpp>

void use(rowan::Value& value) { value.set(rowan::TensorArray<rowan::bfloat16>()); }
