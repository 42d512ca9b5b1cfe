// expect: rowan: this function needs log.dtype<T>::sum.: declare it in the namespace of that type
#include "number.hpp"

#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>

auto loss(rowan::Tensor<number> const& x, rowan::Tensor<std::int64_t> const& label) { return rowan::cross_entropy_of_probabilities(x, label); }
