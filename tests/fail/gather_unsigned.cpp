// expect: no matching function for call to .*gather|could not convert|no viable conversion
#include <rowan/sparse/gather.hpp>

#include <vector>

using id = std::uint32_t;  // ids are signed everywhere, so that negative ones are detected

rowan::Tensor<float> look_up(rowan::Tensor<float> const& table, std::vector<id> const& ids) {
    return rowan::gather(table, ids);
}
