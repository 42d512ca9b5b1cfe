// expect: rowan::adam: its two states are yours: each begins as Tensor<T>::zeros.param.shape...
#include <rowan/sparse/adam.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) { rowan::adam(param, grad); }
