// expect: rowan::scatter_add: src is a Tensor: Tensor<T>::borrow.values, .rows, width..
#include <rowan/sparse/scatter_add.hpp>

#include <vector>

using numbers = std::vector<float>;

void add(rowan::Tensor<float>& table, numbers const& values) { rowan::scatter_add(table, {0, 1}, values); }
