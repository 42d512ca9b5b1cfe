// expect: rowan: a table that is updated must not be const or a temporary
#include <rowan/sparse/scatter_add.hpp>

using table_type = rowan::Tensor<float> const;

void add(table_type& table, rowan::SelectedRows<float> const& rows) {
    rowan::scatter_add(table, rows);
}
