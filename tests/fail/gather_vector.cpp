// expect: rowan::gather: the table comes first, and it is a Tensor: Tensor<T>::borrow.values, .rows, width..
#include <rowan/sparse/gather.hpp>

#include <vector>

using numbers = std::vector<float>;

auto look_up(numbers const& table) { return rowan::gather(table, {0, 1}); }
