// expect: rowan: the compiled library reads programs of forward_ops for float, or for double, on the host. For others, #include <rowan/own_operator.hpp>
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/core/bfloat16.hpp>
#include <rowan/io/model.hpp>

void use() { static_cast<void>(rowan::load_model<rowan::forward_ops, rowan::dtypes<rowan::bfloat16>>("model.rowan")); }
