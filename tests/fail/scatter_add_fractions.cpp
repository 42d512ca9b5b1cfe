// expect: rowan::scatter_add: only integers can be added to integers
#include <rowan/sparse/scatter_add.hpp>

using number = float;

void count(rowan::Tensor<std::int64_t>& table, rowan::SelectedRows<number> const& rows) {
    rowan::scatter_add(table, rows);
}
