// expect: rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type
#include <rowan/sparse/selected_rows.hpp>

struct mine {
    short bits;
};

using number = mine;

rowan::SelectedRows<number> gradient;
