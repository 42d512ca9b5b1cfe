// expect: rowan: this function needs exp.dtype<T>::sum.: declare it in the namespace of that type
#include "number.hpp"

#include <rowan/op/elementwise/sigmoid.hpp>

rowan::Tensor<number> squash(rowan::Tensor<number> const& x) { return rowan::sigmoid(x); }
