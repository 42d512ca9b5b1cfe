// expect: rowan: an optimizer needs a parameter of a floating-point type: for integers use scatter_add
#include <rowan/sparse/sgd.hpp>

using number = std::int64_t;

void step(rowan::Tensor<number>& param, rowan::SelectedRows<float> const& grad) {
    rowan::sgd(param, grad, 0.5);
}
