// expect: rowan::adagrad: its state is yours: auto moment = Tensor<T>::zeros.param.shape....
#include <rowan/sparse/adagrad.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) { rowan::adagrad(param, grad, {.learning_rate = 0.1}); }
