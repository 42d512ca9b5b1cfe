// expect: rowan::SelectedRows: the rows come before the value: SelectedRows<T>.height, rows, value.
#include <rowan/sparse/selected_rows.hpp>

#include <vector>

rowan::SelectedRows<float> grad(rowan::Tensor<float> const& value, std::vector<std::int64_t> const& rows) { return {8, value, rows}; }
