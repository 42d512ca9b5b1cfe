// rowan/layer/parameter_inl.hpp: definitions of rowan/layer/parameter.hpp.
#pragma once

#include <rowan/layer/parameter.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE Scope& outermost_scope() {
    Scope* scope = &default_scope();
    while (scope->parent() != nullptr) scope = scope->parent();
    return *scope;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_known(Dims const& dims) {
    for (std::int64_t const dim : dims) {
        if (dim == UNK) throw ShapeError("a dim of a parameter", "UNK", "known: give the data its width");
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_parameter_name(std::string const& name) {
    if (name.find('@') != std::string::npos)
        throw GraphError({"the parameter \"", name, "\": names with @ are those of states"});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string parameter_name(std::string const& layer, char const* slot) {
    return layer.empty() ? layer : layer + "." + slot;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE LayerRollback::LayerRollback()
    : parameters_(outermost_scope()), operators_(default_scope()) {}

}  // namespace rowan::inline v0::detail

#endif
