// rowan/layer/detail/axis_from_first.hpp: axes counted from the first one, which a recurrent net can tell from axis 0.
#pragma once

#include <rowan/layer/var.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

/// The axis counted from the first one, if there is such an axis.
template <class T, class Device>
std::int64_t axis_from_first(layer::Var<T, Device> const& x, std::int64_t axis) {
    auto const rank = static_cast<std::int64_t>(x->spec().dims.size());
    return axis < 0 && axis >= -rank ? axis + rank : axis;
}

/// The same for the axes of a layer's options.
template <class T, class Device, class Options>
Options counted_from_first(layer::Var<T, Device> const& x, Options options) {
    if constexpr (requires { options.axes; }) {
        for (std::int64_t& axis : options.axes) axis = axis_from_first(x, axis);
    } else {
        options.axis = axis_from_first(x, options.axis);
    }
    return options;
}

}  // namespace rowan::inline v0::detail
