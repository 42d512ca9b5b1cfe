// rowan/thrust/sparse/sgd.hpp: sgd on a device.
#pragma once

#include <rowan/sparse/sgd.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

namespace rowan::inline v0 {

/// As on the host, except that duplicates are summed first, in the order of merge: bit-identical to sgd with a plan.
template <class P, class G, class System>
void sgd(ThrustDevice<System> const& exec, Tensor<P, ThrustDevice<System>>& param,
         SelectedRows<G, ThrustDevice<System>> const& grad, double learning_rate) {
    detail::check_types<G, P>();
    detail::check_setting<P>("learning_rate", learning_rate);
    update_rows(exec, grad, detail::LaneRule<detail::sgd_formula>{{learning_rate}}, param);
}

}  // namespace rowan::inline v0
