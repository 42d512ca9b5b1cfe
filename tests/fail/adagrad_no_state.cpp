// expect: rowan::adagrad: its states are yours: each begins as Tensor<T>::zeros.param.shape..., and stands between param and the gradient
#include <rowan/sparse/adagrad.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) { rowan::adagrad(param, grad, {.learning_rate = 0.1}); }
