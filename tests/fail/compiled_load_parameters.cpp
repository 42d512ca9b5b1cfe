// expect: rowan: the compiled library loads values of float and of double. For others, #include <rowan/own_operator.hpp>
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/core/bfloat16.hpp>
#include <rowan/io/model.hpp>

void use() { static_cast<void>(rowan::load_parameters<rowan::bfloat16>("parameters.rowan")); }
