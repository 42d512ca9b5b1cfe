// expect: rowan: a gradient of a view is a tensor with a row for each name, that of a table in a file also a SelectedRows
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/keyed_table.hpp>

void step(rowan::KeyedTable<float>& table, rowan::SelectedRows<float> const& grad) { rowan::adagrad(table, grad); }
