// rowan/sequence/reorder.hpp: reorder, which permutes sequences into the order of a StepMap.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <cstddef>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Result j is row or first-level sequence from(j) of x; `from` is a permutation.
template <class T, class D, class From>
LoDTensor<T, D> permuted(D const& exec, LoDTensor<T, D> const& x, std::size_t sequences, From const& from) {
    x.check();
    if (x.size() != sequences)
        throw ShapeError("x.size()", x.size(), {sequences, ", the number of sequences of the map"});
    return take_sequences(exec, x, sequences, from);
}

}  // namespace detail

/// Permutes the rows of x into the order of a map: result j is row map.order()[j]. If x has levels, permutes its
/// first-level sequences.
/// shapes   x of map.sequences() rows or first-level sequences -> as many
/// errors   ShapeError if x has another number of them
/// cost     O(rows): one read and one write of every row
template <class T, device D>
LoDTensor<T, D> reorder(D const& exec, LoDTensor<T, D> const& x, StepMap<D> const& map) {
    return detail::permuted(exec, x, map.sequences(),
                            [&](std::size_t j) { return static_cast<std::size_t>(map.sequence(j)); });
}

template <class T, device D>
Tensor<T, D> reorder(D const& exec, Tensor<T, D> const& x, StepMap<D> const& map) {
    return reorder(exec, LoDTensor<T, D>(x.share()), map);
}

/// The adjoint and inverse of reorder: permutes from the map's order to that of the batch.
/// shapes   out_grad of map.sequences() rows or first-level sequences -> as many
/// errors   as reorder
/// cost     as reorder, and 8 bytes per sequence
template <class T, device D>
LoDTensor<T, D> reorder_grad(D const& exec, LoDTensor<T, D> const& out_grad, StepMap<D> const& map) {
    std::vector<std::size_t> position(map.sequences());
    for (std::size_t j = 0; j < position.size(); ++j) position[static_cast<std::size_t>(map.sequence(j))] = j;
    return detail::permuted(exec, out_grad, map.sequences(), [&](std::size_t s) { return position[s]; });
}

template <class T, device D>
Tensor<T, D> reorder_grad(D const& exec, Tensor<T, D> const& out_grad, StepMap<D> const& map) {
    return reorder_grad(exec, LoDTensor<T, D>(out_grad.share()), map);
}

template <template <class, class> class X, class T, class Device>  // a Tensor or a LoDTensor
X<T, Device> reorder(X<T, Device> const& x, StepMap<Device> const& map) {
    return reorder(x.device(), x, map);
}
template <template <class, class> class X, class T, class Device>
X<T, Device> reorder_grad(X<T, Device> const& out_grad, StepMap<Device> const& map) {
    return reorder_grad(out_grad.device(), out_grad, map);
}

ROWAN_TEMPLATE(LoDTensor<float> reorder(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<float> reorder(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<float> reorder_grad(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<float> reorder_grad(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<double> reorder(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<double> reorder(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(LoDTensor<double> reorder_grad(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&))
ROWAN_TEMPLATE(Tensor<double> reorder_grad(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&))

}  // namespace rowan::inline v0
