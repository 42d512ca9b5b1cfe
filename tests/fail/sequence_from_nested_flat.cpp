// expect: rowan::LoDTensor::from_nested: takes lists of lists
#include <rowan/sequence/lod_tensor.hpp>

#include <vector>

#ifdef ROWAN_VALID_TWIN
using lists = std::vector<std::vector<float>>;
#else
using lists = std::vector<float>;
#endif

rowan::LoDTensor<float> batch(lists const& numbers) {
    return rowan::LoDTensor<float>::from_nested(numbers);
}
