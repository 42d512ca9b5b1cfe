// expect: no matching function for call to .*scatter_add
#include <rowan/thrust/sparse/scatter_add.hpp>
#include <thrust/system/cpp/execution_policy.h>

using on_device = rowan::ThrustDevice<thrust::cpp::tag>;
using device = rowan::Cpu;  // nothing is copied from one memory to another unasked

void add(rowan::Tensor<float, on_device>& table, rowan::Tensor<float, device> const& rows) {
    rowan::scatter_add(table, {0, 1}, rows);
}
