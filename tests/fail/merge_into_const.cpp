// expect: no matching function for call to .*merge_into
#include <rowan/sparse/merge.hpp>

#ifdef ROWAN_VALID_TWIN
using target = rowan::SelectedRows<float>;
#else
using target = rowan::SelectedRows<float> const;
#endif

void sum(rowan::SelectedRows<float> const& grad, target& out) {
    rowan::merge_into(grad, out);
}
