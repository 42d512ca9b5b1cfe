// expect: no matching function for call to .*gather|could not convert|no viable conversion
#include <rowan/sparse/gather.hpp>

#include <vector>

#ifdef ROWAN_VALID_TWIN
using id = std::int32_t;
#else
using id = std::uint32_t;  // ids are signed everywhere, so that a negative one is seen to be one
#endif

rowan::Tensor<float> look_up(rowan::Tensor<float> const& table, std::vector<id> const& ids) {
    return rowan::gather(table, ids);
}
