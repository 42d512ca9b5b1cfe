// expect: rowan: an optimizer needs fractions, and integers have none: use scatter_add
#include <rowan/sparse/sgd.hpp>

using number = std::int64_t;

void step(rowan::Tensor<number>& param, rowan::SelectedRows<float> const& grad) {
    rowan::sgd(param, grad, 0.5);
}
