// rowan/op/reduce/reduce.hpp: reduce_mean, reduce_max, reduce_min and reduce_prod along some axes.
#pragma once

#include <rowan/op/detail/axis_folds.hpp>
#include <rowan/op/detail/reduce_op.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

ROWAN_REDUCE_OP(reduce_mean, axis_means)
ROWAN_REDUCE_OP(reduce_max, axis_extremes<true>)

ROWAN_REDUCE_OP(reduce_min, axis_extremes<false>)
ROWAN_REDUCE_OP(reduce_prod, axis_products)

}  // namespace rowan::inline v0
