// expect: no matching function for call to .*merge_into
#include <rowan/sparse/merge.hpp>

using target = rowan::SelectedRows<float> const;

void sum(rowan::SelectedRows<float> const& grad, target& out) {
    rowan::merge_into(grad, out);
}
