// expect: rowan: sequence_reverse on a Thrust device needs #include <rowan/thrust/sequence/sequence_reverse.hpp>
#include <rowan/sequence/sequence_reverse.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <thrust/system/cpp/execution_policy.h>

using device = rowan::ThrustDevice<thrust::cpp::tag>;

rowan::LoDTensor<float, device> reversed(rowan::LoDTensor<float, device> const& x) { return rowan::sequence_reverse(x); }
