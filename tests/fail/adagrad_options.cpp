// expect: rowan::adagrad: options have names: ...., grad, ..learning_rate = 0.1..
#include <rowan/sparse/adagrad.hpp>

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& moment, rowan::SelectedRows<float> const& grad) {
    rowan::adagrad(param, moment, grad, 0.1);
}
