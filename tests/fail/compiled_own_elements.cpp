// expect: the compiled library does not have this function for these element types
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/rowan.hpp>

void use(rowan::Tensor<rowan::bfloat16> const& x) { static_cast<void>(rowan::softmax(x)); }
