// expect: rowan::lamb: options have names: ...., grad, ..learning_rate = 0.1..
#include <rowan/sparse/lamb.hpp>

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& m, rowan::Tensor<float>& v, rowan::SelectedRows<float> const& grad) {
    rowan::lamb(param, m, v, grad, 0.1);
}
