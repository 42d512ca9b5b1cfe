// expect: rowan::Tensor: the numbers are in one list: Tensor<T>::from_values..rows, width., numbers.
#include <rowan/core/tensor.hpp>

#include <vector>

using lists = std::vector<std::vector<float>>;

auto tensor(lists const& rows) { return rowan::Tensor<float>(rows); }
