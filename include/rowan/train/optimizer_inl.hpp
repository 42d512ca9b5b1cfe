// rowan/train/optimizer_inl.hpp: definitions of rowan/train/optimizer.hpp.
#pragma once

#include <rowan/train/optimizer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void AnyOptimizer::densify(Scope& scope, ParameterGradient& g) const {
    if (g.gradient->spec().type != VarType::SELECTED_ROWS) return;
    auto const dense = kind_for(g).dense;
    if (dense == nullptr) return;
    if (g.parameter->spec().type == VarType::SELECTED_ROWS)
        throw TypeError(std::string("an optimizer that updates all rows: ").append(g.parameter->name()),
                        kind_text(g.parameter->spec()), "a LoDTensor");
    g.gradient = dense(scope, *g.gradient);
}

ROWAN_CALLED_FUNCTION ParameterUpdate AnyOptimizer::add(Scope& scope, ParameterGradient const& g) const {
    ScopeRollback added(scope);
    auto update = kind_for(g).make(scope, g);
    added.keep();
    return update;
}

ROWAN_CALLED_FUNCTION AnyOptimizer AnyOptimizer::only_for(std::span<std::int32_t const> wires, std::string types) && {
    std::erase_if(kinds_,
                  [&](OptimizerKind const& kind) { return std::ranges::find(wires, kind.wire) == wires.end(); });
    types_ = std::move(types);
    return std::move(*this);
}

ROWAN_CALLED_FUNCTION OptimizerKind const& AnyOptimizer::kind_for(ParameterGradient const& g) const {
    for (OptimizerKind const& kind : kinds_) {
        if (kind.wire == g.parameter->spec().dtype) return kind;
    }
    throw TypeError(std::string("the optimizer: the element type of ").append(g.parameter->name()),
                    dtype_text(g.parameter->spec().dtype), types_);
}

}  // namespace rowan::inline v0::detail

#endif
