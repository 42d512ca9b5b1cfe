// rowan/train/optimizer_inl.hpp: definitions of rowan/train/optimizer.hpp.
#pragma once

#include <rowan/train/optimizer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/train/detail/update_kinds.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What an optimizer does for parameters of this element type.
/// errors   TypeError if it does not support the type
ROWAN_IF_CALLED OptimizerKind const& kind_for(OptimizerKinds const* kinds, ParameterGradient const& g);
ROWAN_CALLED_FUNCTION ROWAN_RARE OptimizerKind const& kind_for(OptimizerKinds const* kinds,
                                                               ParameterGradient const& g) {
    if (kinds != nullptr) {
        for (OptimizerKind const& kind : kinds->kinds) {
            if (kind.wire == g.parameter->spec().dtype) return kind;
        }
    }
    throw TypeError({"the optimizer: the element type of ", g.parameter->name()}, dtype_text(g.parameter->spec().dtype),
                    kinds == nullptr ? std::string() : kinds->types);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void AnyOptimizer::densify(Scope& scope, ParameterGradient& g) const {
    if (g.gradient->spec().type != VarType::SELECTED_ROWS) return;
    auto const dense = kind_for(kinds_.get(), g).dense;
    if (dense == nullptr) return;
    if (g.parameter->spec().type == VarType::SELECTED_ROWS)
        throw TypeError({"an optimizer that updates all rows: ", g.parameter->name()}, kind_text(g.parameter->spec()),
                        "a LoDTensor");
    g.gradient = dense(scope, *g.gradient);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE ParameterUpdate AnyOptimizer::add(Scope& scope, ParameterGradient const& g) const {
    ScopeRollback added(scope);
    auto update = kind_for(kinds_.get(), g).make(scope, g);
    added.keep();
    return update;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE NamedValues const& AnyOptimizer::values() const {
    static NamedValues const none;
    return kinds_ == nullptr ? none : kinds_->values;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE AnyOptimizer AnyOptimizer::only_for(std::span<std::int32_t const> wires,
                                                                     std::string types) && {
    auto some = std::make_shared<OptimizerKinds>(*kinds_);
    std::erase_if(some->kinds,
                  [&](OptimizerKind const& kind) { return std::ranges::find(wires, kind.wire) == wires.end(); });
    some->types = std::move(types);
    return AnyOptimizer(std::move(some));
}

}  // namespace rowan::inline v0::detail

#endif
