// expect: rowan::layer::matmul: options have names: layer::matmul.x, y, ..transpose_y = true..
// flags: -Werror=deprecated-declarations
#include <rowan/layer/matmul.hpp>

auto use(rowan::layer::Var<float> x, rowan::layer::Var<float> y) { return rowan::layer::matmul(x, y, false, true); }
