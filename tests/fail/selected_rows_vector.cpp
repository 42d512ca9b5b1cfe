// expect: rowan::SelectedRows: the value is a Tensor: Tensor<T>::from_values..rows, width., values.
#include <rowan/sparse/selected_rows.hpp>

#include <vector>

using numbers = std::vector<float>;

rowan::SelectedRows<float> grad(numbers const& values) { return {8, {5, 0}, values}; }
