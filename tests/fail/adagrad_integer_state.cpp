// expect: rowan: an optimizer needs fractions, and integers have none: use scatter_add
#include <rowan/sparse/rowwise_adagrad.hpp>

#ifdef ROWAN_VALID_TWIN
using number = double;
#else
using number = std::int32_t;
#endif

void step(rowan::Tensor<float>& param, rowan::Tensor<number>& moment, rowan::SelectedRows<float> const& grad) {
    rowan::rowwise_adagrad(param, moment, grad);
}
