// expect: assignment of read-only location|cannot assign to return value
#include <rowan/sparse/selected_rows.hpp>

void change(rowan::SelectedRows<float>& grad) {
    grad.rows()[0] = 9;  // nobody would check that
}
