// expect: rowan::layer::lstm_unit: options have names: layer::lstm_unit.x, before, ..size = 16..
#include <rowan/layer/lstm_unit.hpp>

auto use(rowan::layer::Var<float> x, rowan::layer::Var<float> before) { return rowan::layer::lstm_unit(x, before, 16); }
