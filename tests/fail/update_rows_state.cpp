// expect: rowan::update_rows: the rule must take a span of const sums of the gradient, then a span for param and each state
#include <rowan/sparse/update_rows.hpp>

void step(rowan::SelectedRows<float> const& grad, rowan::Tensor<float>& param, rowan::Tensor<double>& state) {
    auto const rule = [](std::span<float const>, std::span<float>) {};  // there is a state too
    rowan::update_rows(grad, rule, param, state);
}
