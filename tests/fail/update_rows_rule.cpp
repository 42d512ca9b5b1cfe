// expect: rowan::update_rows: the rule must take a span of const sums of the gradient, then a span for param and each state
#include <rowan/sparse/update_rows.hpp>

using sums = std::span<float>;  // a rule must not change the gradient

void step(rowan::SelectedRows<float> const& grad, rowan::Tensor<float>& param) {
    rowan::update_rows(grad, [](sums g, std::span<float> p) { p[0] -= g[0]; }, param);
}
