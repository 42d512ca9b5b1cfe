// expect: rowan::LaneRule: gradient, param and states have floating-point types: for a counter of each row use a rule of rows
#include <rowan/sparse/lane_rule.hpp>

#include <cstdint>

using count = std::int32_t;

void step(rowan::Tensor<float>& param, rowan::Tensor<count>& seen, rowan::SelectedRows<float> const& grad) {
    rowan::update_rows(grad, rowan::LaneRule{[](auto const& g, auto& p, auto&) { p = p - g; }}, param, seen);
}
