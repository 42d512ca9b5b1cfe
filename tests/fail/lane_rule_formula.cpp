// expect: rowan::LaneRule: the formula is a template over V and takes .V const& g, V& p., then V& for each state
#include <rowan/sparse/lane_rule.hpp>

void step(rowan::Tensor<float>& param, rowan::SelectedRows<float> const& grad) {
    rowan::update_rows(grad, rowan::LaneRule{[](float g, float& p) { p -= g; }}, param);
}
