// expect: rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type
#include <rowan/sparse/selected_rows.hpp>

struct mine {
    short bits;
};

#ifdef ROWAN_VALID_TWIN
using number = float;
#else
using number = mine;
#endif

rowan::SelectedRows<number> gradient;
