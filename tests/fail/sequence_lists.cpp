// expect: rowan::LoDTensor: nested lists go to LoDTensor<T>::from_nested.lists., one list of numbers and its levels to
#include <rowan/sequence/lod_tensor.hpp>

#include <vector>

using lists = std::vector<std::vector<std::int64_t>>;

auto batch(lists const& sentences) { return rowan::LoDTensor<std::int64_t>(sentences); }
