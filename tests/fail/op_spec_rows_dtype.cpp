// expect: rowan::selected_rows_spec<T>: specialize rowan::dtype<T> for this element type
#include <rowan/op/var_spec.hpp>

struct mine {
    short bits;
};

using number = mine;

rowan::VarSpec spec = rowan::selected_rows_spec<number>({7, 2});
