// expect: rowan::tensor_spec<T>: specialize rowan::dtype<T> for this element type
#include <rowan/op/var_spec.hpp>

struct mine {
    short bits;
};

using number = mine;

rowan::VarSpec spec = rowan::tensor_spec<number>({rowan::UNK, 2});
