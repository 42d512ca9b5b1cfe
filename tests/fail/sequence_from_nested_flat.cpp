// expect: rowan::LoDTensor::from_nested: takes lists of lists
#include <rowan/sequence/lod_tensor.hpp>

#include <vector>

using lists = std::vector<float>;

rowan::LoDTensor<float> batch(lists const& numbers) {
    return rowan::LoDTensor<float>::from_nested(numbers);
}
