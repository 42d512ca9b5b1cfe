// expect: rowan::layer::gru_unit: options have names: layer::gru_unit.x, before, ..size = 16..
#include <rowan/layer/gru_unit.hpp>

auto use(rowan::layer::Var<float> x, rowan::layer::Var<float> before) { return rowan::layer::gru_unit(x, before, 16); }
