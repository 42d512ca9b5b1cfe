// expect: rowan::layer: a layer takes Vars: declare an input with layer::data<T>.name, dims., and feed the tensor under this name
#include <rowan/layer/fc.hpp>

using rows = rowan::Tensor<float>;

auto use(rows const& x) { return rowan::layer::fc(x, {.output_size = 10}); }
