// expect: rowan::adam: its states are yours: each begins as Tensor<T>::zeros.param.shape..., and stands between param and the gradient
#include <rowan/sparse/adam.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) { rowan::adam(param, grad); }
