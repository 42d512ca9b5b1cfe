// expect: rowan: a table that is updated must not be const or a temporary
#include <rowan/sparse/sgd.hpp>

void step(rowan::Tensor<float>& table, rowan::SelectedRows<float> const& grad) { rowan::sgd(table.slice(0, 2), grad, 0.5); }
