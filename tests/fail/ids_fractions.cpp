// expect: rowan: ids and rows are integers: convert the numbers, for example to std::vector<std::int64_t>
#include <rowan/sparse/gather.hpp>

#include <vector>

using id = double;  // ids read as floating-point numbers must be converted first

auto look_up(rowan::Tensor<float> const& table, std::vector<id> const& ids) { return rowan::gather(table, ids); }
