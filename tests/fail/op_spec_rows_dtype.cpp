// expect: rowan::selected_rows_spec<T>: specialize rowan::dtype<T> for this element type
#include <rowan/op/var_spec.hpp>

struct mine {
    short bits;
};

#ifdef ROWAN_VALID_TWIN
using number = rowan::bfloat16;
#else
using number = mine;
#endif

rowan::VarSpec spec = rowan::selected_rows_spec<number>({7, 2});
