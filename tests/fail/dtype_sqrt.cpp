// expect: rowan: this function needs sqrt.dtype<T>::sum.: declare it in the namespace of that type
#include "number.hpp"

#include <rowan/sparse/adagrad.hpp>

void step(rowan::Tensor<number>& param, rowan::Tensor<number>& moment, rowan::SelectedRows<number> const& grad) {
    rowan::adagrad(param, moment, grad, {});
}
