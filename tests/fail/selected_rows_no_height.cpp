// expect: rowan::SelectedRows: the height of the table comes first: SelectedRows<T>.height, rows, value.
#include <rowan/sparse/selected_rows.hpp>

#include <vector>

rowan::SelectedRows<float> grad(std::vector<std::int64_t> const& rows, rowan::Tensor<float> const& value) { return {rows, value}; }
