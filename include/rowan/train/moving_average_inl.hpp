// rowan/train/moving_average_inl.hpp: definitions of rowan/train/moving_average.hpp.
#pragma once

#include <rowan/train/moving_average.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/train/detail/update_kinds.hpp>

#include <cstdint>
#include <optional>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION NamedValues const& AnyAverage::values() const { return update_.values(); }

ROWAN_CALLED_FUNCTION ParameterUpdate AnyAverage::add(Scope& scope, Variable& parameter) const {
    if (parameter.spec().type != VarType::LOD_TENSOR)
        throw TypeError({"the moving average of ", parameter.name()}, kind_text(parameter.spec()), "a LoDTensor");
    Variable& average = scope.new_var(parameter.name() + "@average", parameter.spec(), Role::state);
    average.bring = parameter.bring;
    average.initialize = [&parameter](Value& value, std::optional<std::uint64_t>, AnyExec) {
        value = parameter.value().copy();
    };
    auto update = update_.add(scope, {&average, &parameter});
    update.states.insert(update.states.begin(), &average);
    update.check();
    return update;
}

}  // namespace rowan::inline v0::detail

#endif
