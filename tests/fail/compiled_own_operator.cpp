// expect: rowan: the compiled library has no kernel of this operator for these element types and this device
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/layer/data.hpp>
#include <rowan/layer/operators.hpp>

void use() { static_cast<void>(rowan::layer::relu(rowan::layer::data<rowan::bfloat16>("x", {1, 2}))); }
