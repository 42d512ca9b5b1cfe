// expect: rowan: gather on a Thrust device needs #include <rowan/thrust/sparse/gather.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/thrust/core/ids.hpp>
#include <thrust/system/cpp/execution_policy.h>

using device = rowan::ThrustDevice<thrust::cpp::tag>;

rowan::Tensor<float, device> look_up(rowan::Tensor<float, device> const& table) {
    return rowan::gather(table, {0, 1});
}
