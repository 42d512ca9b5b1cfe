// expect: rowan::update_rows: the rule must take a span of const sums of the gradient, then a span for param and each state
#include <rowan/sparse/update_rows.hpp>

using sums = std::span<rowan::bfloat16 const>;  // bfloat16 is summed in float

void step(rowan::SelectedRows<rowan::bfloat16> const& grad, rowan::Tensor<float>& param) {
    rowan::update_rows(grad, [](sums, std::span<float>) {}, param);
}
