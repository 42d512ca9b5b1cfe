// expect: rowan::sgd: a gradient is a SelectedRows or a Tensor
#include <rowan/sparse/sgd.hpp>

#include <vector>

using numbers = std::vector<float>;

void step(rowan::Tensor<float>& param, numbers const& grad) { rowan::sgd(param, grad, 0.5); }
