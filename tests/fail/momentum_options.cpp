// expect: rowan::momentum: options have names: ...., grad, ..learning_rate = 0.1..
#include <rowan/sparse/momentum.hpp>

void use(rowan::Tensor<float>& param, rowan::Tensor<float>& velocity, rowan::SelectedRows<float> const& grad) {
    rowan::momentum(param, velocity, grad, 0.1, 0.9);
}
