// rowan/layer/sum_rows.hpp: layer::sum_rows, the former name of layer::reduce_sum along axis 0.
#pragma once

#include <rowan/layer/reduce_sum.hpp>

namespace rowan::inline v0::layer {

/// As layer::reduce_sum with {.axes = {0}}. A later version removes it.
template <class T, class Device>
[[deprecated("use layer::reduce_sum")]] Var<T, Device> sum_rows(Var<T, Device> const& x) {
    return reduce_sum(x, {.axes = {0}});
}

}  // namespace rowan::inline v0::layer
