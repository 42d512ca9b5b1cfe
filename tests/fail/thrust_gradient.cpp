// expect: no matching function for call to .*adagrad
#include <rowan/sparse/adagrad.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>
#include <thrust/system/cpp/execution_policy.h>

using on_device = rowan::ThrustDevice<thrust::cpp::tag>;
using device = rowan::Cpu;  // the gradient would have to be copied

void step(rowan::Tensor<float, on_device>& param, rowan::Tensor<float, on_device>& moment, rowan::SelectedRows<float, device> const& grad) {
    rowan::adagrad(param, moment, grad);
}
