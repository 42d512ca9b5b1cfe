// expect: rowan: this function needs sqrt.dtype<T>::sum.: declare it beside that type
#include "number.hpp"

#ifdef ROWAN_VALID_TWIN
number sqrt(number);
#endif

#include <rowan/sparse/adagrad.hpp>

void step(rowan::Tensor<number>& param, rowan::Tensor<number>& moment, rowan::SelectedRows<number> const& grad) {
    rowan::adagrad(param, moment, grad, {});
}
