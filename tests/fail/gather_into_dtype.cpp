// expect: no matching function for call to .*gather_into
#include <rowan/sparse/gather.hpp>

using number = double;  // rows are copied, not converted

void look_up(rowan::Tensor<float> const& table, rowan::Tensor<number>& out) {
    rowan::gather_into(table, {0, 1}, out);
}
