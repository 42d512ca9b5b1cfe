// rowan/layer/sum_rows.hpp: layer::sum_rows, the sum of all rows.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sum_rows.hpp>

namespace rowan::inline v0::layer {

/// The sum of all rows of a batch, see rowan::sum_rows. For the sum of each sequence, see layer::sequence_pool.
/// shapes   x [n, ...] -> [...]
/// errors   ShapeError if x has rank 0
/// cost     as rowan::sum_rows, when the net runs
template <class T, class Device>
Var<T, Device> sum_rows(Var<T, Device> const& x) {
    return apply<sum_rows_op>({}, x);
}

}  // namespace rowan::inline v0::layer
