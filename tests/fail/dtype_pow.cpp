// expect: rowan: this function needs pow.dtype<T>::sum.: declare it in the namespace of that type
#include "number.hpp"

number sqrt(number);

#include <rowan/sparse/ftrl.hpp>

void step(rowan::Tensor<number>& param, rowan::Tensor<number>& squares, rowan::Tensor<number>& linear, rowan::SelectedRows<number> const& grad) {
    rowan::ftrl(param, squares, linear, grad, {});
}
