// expect: rowan::Tensor: a shape is in braces: Tensor<T>::zeros..3, 4..
#include <rowan/core/tensor.hpp>

auto const table = rowan::Tensor<float>::zeros(3, 4);
