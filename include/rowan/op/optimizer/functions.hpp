// rowan/op/optimizer/functions.hpp: gradients scaled down to a maximum norm.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/optimizer/declared.hpp>

#include <tuple>
#include <vector>

namespace rowan::inline v0 {

/// Scales x to the Euclidean norm max_norm if its norm is greater. If the norm is not finite, the elements of the
/// result are NaN or 0 by IEEE arithmetic. Right for all finite x of float, double and 16-bit types; of user-defined
/// types where the squared norm is a normal number. Pascanu et al. 2013, On the difficulty of training recurrent neural
/// networks.
/// shapes   x [n, ...] -> the same
/// errors   ValueError if max_norm is negative or not finite; ShapeError if x has rank 0
/// cost     two reads of x and one write of the result, and the same again if the squared norm is 0 or does not fit
///          dtype<T>::sum, or if the factor does not; an x that needs no scaling is returned as an alias; waits for the
///          device, because the host needs the norm
template <class T, device D>
Tensor<T, D> clip_by_norm(D const& exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::clip_by_norm: x must have a floating-point type: convert it");
    return detail::run_of<clip_by_norm_op, Tensor<T, D>>(exec, x, options);
}

/// Scales a row-sparse gradient to the Euclidean norm max_norm if its norm is greater (Pascanu et al. 2013): merges g,
/// then scales, as clip_by_norm for a tensor. The result represents the clipped dense gradient; it is
/// merged, so an optimizer does not sort its rows again.
/// shapes   g of n rows -> one row for each distinct row id
/// errors   ValueError if max_norm is negative or not finite; ShapeError if g.value() does not have n rows
/// cost     a merge, a read of its rows, and a read and a write if they need scaling; a merged g that needs no scaling
///          is returned as an alias; waits for the device
template <class T, device D>
SelectedRows<T, D> clip_by_norm(D const& exec, SelectedRows<T, D> const& g, ClipByNormOptions const& options = {}) {
    return detail::run_of<clip_by_norm_op, SelectedRows<T, D>>(exec, g, options);
}

/// Scales all gradients, dense and row-sparse, by one factor to the global norm max_norm if their global norm, which is
/// √(Σ norm²), is greater. The squared norms, each computed in dtype<T>::sum, are added in double, scaled where needed:
/// those of the dense gradients in order, then those of the row-sparse ones. Right where clip_by_norm is. Pascanu et
/// al. 2013, On the difficulty of training recurrent neural networks.
/// shapes   any number of gradients of any shapes -> the same; the row-sparse ones are merged
/// errors   as clip_by_norm
/// cost     that of clip_by_norm for each; waits for the device once per gradient
template <class T, device D>
std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> clip_by_global_norm(
    D const& exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
    ClipByNormOptions const& options = {}) {
    return detail::run_of<clip_by_global_norm_op,
                          std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>>>(exec, dense, sparse,
                                                                                                  options);
}

}  // namespace rowan::inline v0
