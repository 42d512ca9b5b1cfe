// expect: rowan: a table that is updated must not be const
#include <rowan/io/table_file.hpp>
#include <rowan/sparse/sgd.hpp>

void step(rowan::TableFile<float> const& table, rowan::SelectedRows<float> const& grad) { rowan::sgd(table, grad, 0.1); }
