// expect: rowan: these element types cannot be combined: their dtype<T>::sum need a common type that converts to each
#include "number.hpp"

#include <rowan/sparse/adagrad.hpp>

using other = number;

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& moment, rowan::SelectedRows<other> const& grad) {
    rowan::adagrad(param, moment, grad);
}
