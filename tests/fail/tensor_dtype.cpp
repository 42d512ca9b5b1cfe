// expect: rowan::Tensor<T>: specialize rowan::dtype<T> for this element type
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

using number = mine;

template class rowan::Tensor<number>;
