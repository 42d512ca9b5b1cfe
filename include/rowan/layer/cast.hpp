// rowan/layer/cast.hpp: layer::cast, conversion to another element type.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/elementwise/cast.hpp>

namespace rowan::inline v0::layer {

/// Converts the elements of x to `To`, see rowan::cast. The gradient is converted back; integers have no gradient.
///     auto weight = layer::cast<float>(counts);
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, ValueError if To is an integer type and a floating-point element is NaN or out of its
///          range
/// cost     as rowan::cast, when the net runs
template <class To, class From, class Device>
Var<To, Device> cast(Var<From, Device> const& x) {
    return apply<cast_op<To>>({}, x);
}

}  // namespace rowan::inline v0::layer
