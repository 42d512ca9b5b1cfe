// expect: rowan: an optimizer needs a parameter of a floating-point type: for integers use scatter_add
#include <rowan/sparse/adagrad.hpp>

using number = std::int32_t;

void step(rowan::Tensor<number>& param, rowan::Tensor<number>& moment, rowan::SelectedRows<number> const& grad) {
    rowan::adagrad(param, moment, grad, {.learning_rate = 0.5});
}
