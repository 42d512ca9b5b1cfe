// expect: rowan::layer: options have names, as in layer::sequence_pool.x, ..pool = Pooling::mean..
#include <rowan/layer/operators.hpp>

auto use(rowan::layer::Var<float> x) { return rowan::layer::sequence_pool(x, rowan::Pooling::mean); }
