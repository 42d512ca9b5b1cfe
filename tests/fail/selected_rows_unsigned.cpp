// expect: no matching function for call to .*SelectedRows|no matching constructor for initialization of .*SelectedRows
#include <rowan/sparse/selected_rows.hpp>

#include <vector>

using id = std::size_t;

rowan::SelectedRows<float> gradient(std::vector<id> const& rows, rowan::Tensor<float> const& value) {
    return rowan::SelectedRows<float>(10, rows, value);
}
