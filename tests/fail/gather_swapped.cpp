// expect: rowan::gather: the table comes first, and it is a Tensor: Tensor<T>::borrow.values, .rows, width..
#include <rowan/sparse/gather.hpp>

#include <vector>

auto look_up(rowan::Tensor<float> const& table, std::vector<int> const& ids) { return rowan::gather(ids, table); }
