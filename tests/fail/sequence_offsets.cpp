// expect: rowan::LoDTensor: the offsets of each level are in braces: LoDTensor.value, Lod..0, 2, 3...
#include <rowan/sequence/lod_tensor.hpp>

auto batch(rowan::Tensor<float> const& value) { return rowan::LoDTensor<float>(value, {0, 2, 3}); }
