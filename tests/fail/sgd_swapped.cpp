// expect: rowan::sgd: the parameter comes before its gradient: sgd.param, grad, learning_rate.
#include <rowan/sparse/sgd.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) { rowan::sgd(grad, param, 0.5); }
