// expect: rowan: an optimizer needs fractions, and integers have none: use scatter_add
#include <rowan/sparse/sgd.hpp>

#ifdef ROWAN_VALID_TWIN
using number = float;
#else
using number = std::int64_t;
#endif

void step(rowan::Tensor<number>& param, rowan::SelectedRows<float> const& grad) {
    rowan::sgd(param, grad, 0.5);
}
