// rowan/op/table/sum_rows.hpp: sum_rows, the former name of reduce_sum along axis 0, which a later version removes.
#pragma once

#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/sequence/expand_rows.hpp>

namespace rowan::inline v0 {

/// As reduce_sum with {.axes = {0}}.
template <class T, device D>
[[deprecated("use reduce_sum")]] Tensor<T, D> sum_rows(D const& exec, Tensor<T, D> const& x) {
    return reduce_sum(exec, x, {.axes = {0}});
}
/// As reduce_sum with {.axes = {0}}.
template <class T, class Device>
[[deprecated("use reduce_sum")]] Tensor<T, Device> sum_rows(Tensor<T, Device> const& x) {
    return reduce_sum(x, {.axes = {0}});
}

}  // namespace rowan::inline v0
