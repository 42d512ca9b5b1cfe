// rowan/layer/sequence_pool.hpp: layer::sequence_pool, one row for each sequence.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_pool.hpp>

#include <concepts>

namespace rowan::inline v0::layer {

/// The sum, mean, … of the rows of each sequence, as rowan::sequence_pool.
/// shapes   x [n, ...] with levels -> [sequences, ...], with one level less
/// errors   ShapeError if x has no levels; when the net runs, as rowan::sequence_pool
/// cost     as rowan::sequence_pool, when the net runs
template <class T, class Device>
Var<T, Device> sequence_pool(Var<T, Device> const& x, SequencePoolOptions const& options = {}) {
    return apply<sequence_pool_op>(options, x);
}
/// The first row of each sequence, as layer::sequence_pool.
template <class T, class Device>
Var<T, Device> sequence_first(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::first});
}
/// The last row of each sequence, as layer::sequence_pool.
template <class T, class Device>
Var<T, Device> sequence_last(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::last});
}

/// A mistake, which does not compile: the pool by position, as rowan::sequence_pool takes it.
template <class T, class Device, std::same_as<Pooling> P>
auto sequence_pool(Var<T, Device> const& x, P) {
    static_assert(!std::same_as<P, Pooling>,
                  "rowan::layer::sequence_pool: options have names: layer::sequence_pool(x, {.pool = Pooling::mean})");
    return x;
}

}  // namespace rowan::inline v0::layer
