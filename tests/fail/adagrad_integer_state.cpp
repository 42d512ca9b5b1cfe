// expect: rowan: an optimizer needs a parameter of a floating-point type: for integers use scatter_add
#include <rowan/sparse/rowwise_adagrad.hpp>

using number = std::int32_t;

void step(rowan::Tensor<float>& param, rowan::Tensor<number>& moment, rowan::SelectedRows<float> const& grad) {
    rowan::rowwise_adagrad(param, moment, grad);
}
