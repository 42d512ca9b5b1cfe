// expect: rowan::update_rows: on a device the rule must take a rowan::RowSpan of const sums of the gradient, then a RowSpan for param and each state
#include <rowan/thrust/sparse/update_rows.hpp>
#include <thrust/system/cpp/execution_policy.h>

#include <span>

using device = rowan::ThrustDevice<thrust::cpp::tag>;
struct rule {
    void operator()(std::span<float const> g, std::span<float> p) const { p[0] -= g[0]; }  // device code has no std::span
};

void step(rowan::SelectedRows<float, device> const& grad, rowan::Tensor<float, device>& param) {
    rowan::update_rows(grad, rule{}, param);
}
