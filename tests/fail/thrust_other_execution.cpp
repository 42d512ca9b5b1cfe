// expect: no matching function for call to .*gather
#include <rowan/thrust/sparse/gather.hpp>
#include <thrust/system/cpp/execution_policy.h>

using on_device = rowan::ThrustDevice<thrust::cpp::tag>;
using device = rowan::Cpu;  // a call runs where its tensors are

void look_up(rowan::Tensor<float, on_device> const& table) {
    rowan::gather(device{}, table, {0, 1});
}
