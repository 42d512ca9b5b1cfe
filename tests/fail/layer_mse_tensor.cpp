// expect: rowan::layer: a layer takes Vars: declare an input with layer::data<T>.name, dims., and feed the tensor under this name
#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

using labels = rowan::Tensor<float>;

auto use(labels const& y) { return rowan::layer::mse(rowan::layer::data("x", {rowan::UNK, 1}), y); }
