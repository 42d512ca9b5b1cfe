// rowan/train/detail/check_fits_inl.hpp: definitions of rowan/train/detail/check_fits.hpp.
#pragma once

#include <rowan/train/detail/check_fits.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <cstddef>
#include <sstream>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_fits(Variable const& v, Value const& value) {
    VarSpec const& spec = v.spec();
    if (spec.type != VarType::LOD_TENSOR && spec.type != VarType::SELECTED_ROWS)
        throw TypeError(v.name(), value.kind(), "a value that is no tensor");
    auto const actual = [&] {
        try {
            return value.spec();
        } catch (TypeError const& e) {
            throw TypeError(v.name(), e.actual(), kind_text(spec));
        }
    }();
    if (actual.type != spec.type || actual.dtype != spec.dtype)
        throw TypeError(v.name(), value.kind(), kind_text(spec));
    bool fits = actual.dims.size() == spec.dims.size();
    for (std::size_t i = 0; fits && i < spec.dims.size(); ++i)
        fits = spec.dims[i] == UNK || spec.dims[i] == actual.dims[i];
    if (!fits) {
        std::ostringstream expected;
        expected << spec.dims;
        throw ShapeError(v.name() + ".shape()", shape_text(actual.dims), expected.str());
    }
    if (actual.lod_level != spec.lod_level)
        throw ShapeError(v.name() + ".lod().levels()", std::to_string(actual.lod_level),
                         std::to_string(spec.lod_level));
}

ROWAN_FUNCTION void no_state(std::string const& name, std::int64_t steps) {
    throw GraphError(std::string("options.resume has ")
                         .append(std::to_string(steps))
                         .append(" steps, but not the state \"")
                         .append(name)
                         .append("\": to start anew from its parameters, give them as options.initial"));
}

}  // namespace rowan::inline v0::detail

#endif
