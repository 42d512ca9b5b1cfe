// rowan/layer/fc_inl.hpp: definitions of rowan/layer/fc.hpp.
#pragma once

#include <rowan/layer/fc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op/infer.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE FcSizes fc_sizes(Variable& x, layer::FcOptions const& options) {
    spec::matrix("layer::fc: x", x.spec());
    std::int64_t const width = x.spec().dims[1];
    std::int64_t const size = options.output_size == 0 ? width : options.output_size;
    if (options.output_size < 0) throw ValueError("output_size", size, "0 or more");
    if (size == UNK) throw ShapeError("layer::fc: output_size", "0", "a size, as the width of x is unknown");
    return {width, size, width == UNK && depends_on_placeholder(x)};
}

}  // namespace rowan::inline v0::detail

#endif
