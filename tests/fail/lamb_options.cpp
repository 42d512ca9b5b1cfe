// expect: rowan::lamb: options have names: lamb.param, moment1, moment2, grad, ..step = 1..
#include <rowan/sparse/lamb.hpp>

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& m, rowan::Tensor<float>& v, rowan::SelectedRows<float> const& grad) {
    rowan::lamb(param, m, v, grad, 0.1);
}
