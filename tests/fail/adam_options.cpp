// expect: rowan::adam: options have names: ...., grad, ..learning_rate = 0.1..
#include <rowan/sparse/adam.hpp>

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& m, rowan::Tensor<float>& v, rowan::SelectedRows<float> const& grad) {
    rowan::adam(param, m, v, grad, 0.1);
}
