// expect: rowan: embedding_bag on a Thrust device needs #include <rowan/thrust/op/embedding_bag.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <thrust/system/cpp/execution_policy.h>

using device = rowan::ThrustDevice<thrust::cpp::tag>;

rowan::LoDTensor<float, device> pooled(rowan::Tensor<float, device> const& table, rowan::LoDTensor<std::int64_t, device> const& ids) {
    return rowan::embedding_bag(table.device(), table, ids);
}
