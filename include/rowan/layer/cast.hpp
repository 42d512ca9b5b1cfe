// rowan/layer/cast.hpp: layer::cast, the elements of a value in another type.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/cast.hpp>

namespace rowan::inline v0::layer {

/// The elements of x as `To`, see rowan::cast. The gradient is cast back; integers have none.
///     auto weight = layer::cast<float>(counts);
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, ValueError if a NaN, or a number beyond what they hold, is to become an integer
/// cost     as rowan::cast, when the net runs
template <class To, class From, class Device>
Var<To, Device> cast(Var<From, Device> const& x) {
    return apply<cast_op<To>>({}, x);
}

}  // namespace rowan::inline v0::layer
