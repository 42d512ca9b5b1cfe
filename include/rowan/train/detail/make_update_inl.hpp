// rowan/train/detail/make_update_inl.hpp: definitions of rowan/train/detail/make_update.hpp.
#pragma once

#include <rowan/train/detail/make_update.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/graph/detail/any_table.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION AddedStates add_states(Scope& scope, ParameterGradient const& g, op_kernel const& kernel,
                                             bool row_states, Attributes attributes, UpdatedType const& param,
                                             UpdatedType const& state) {
    ParameterUpdate update{};
    Dims dims = g.parameter->spec().dims;
    if (row_states) dims = {dims[0]};
    bool const some_rows = g.parameter->spec().type == VarType::SELECTED_ROWS;
    if (some_rows) dims[0] = UNK;
    auto no_rows = std::make_shared<std::vector<Value>>(kernel.inputs.size());
    auto const add_empty = [&](UpdatedType const& type, std::size_t i, Dims none) {
        none[0] = 0;
        type.zeros((*no_rows)[i], none, {});
    };
    std::vector<Variable*> inputs{g.parameter};
    for (std::size_t i = 1; i + 1 < kernel.inputs.size(); ++i) {
        std::string name(g.parameter->name());
        name.append("@").append(kernel.name).append(".").append(kernel.inputs[i]);
        Variable& v =
            scope.new_var(name, {.type = VarType::LOD_TENSOR, .dtype = state.dtype, .dims = dims}, Role::state);
        v.bring = state.bring;
        if (role_of(*g.parameter).kind != nullptr) {
            new_role(v).state_of = g.parameter;
            new_role(v).state = {std::string(kernel.inputs[i]), row_states};
        }
        v.initialize = [dims, some_rows, param = g.parameter, zeros = state.zeros](
                           Value& value, std::optional<std::uint64_t>, AnyExec exec) {
            Dims all = dims;  // a row for each of the parameter's
            if (some_rows) all[0] = static_cast<std::int64_t>(param->value().row_values().rows());
            zeros(value, all, exec);
        };
        update.states.push_back(&v);
        inputs.push_back(&v);
        add_empty(state, i, dims);
    }
    inputs.push_back(g.gradient);
    for (std::size_t const i : {std::size_t{0}, inputs.size() - 1}) add_empty(param, i, g.parameter->spec().dims);
    update.op = &scope.new_op(kernel, std::move(inputs), std::move(attributes));
    return {std::move(update), std::move(no_rows)};
}

ROWAN_CALLED_FUNCTION void run_checked(AnyExec exec, Operator const& op, std::span<Value> no_rows) {
    std::vector<Value*> in;
    for (Value& value : no_rows) in.push_back(&value);
    op.kernel->run({.exec = exec, .in = in, .out = {}, .attributes = op.attributes});
}

}  // namespace rowan::inline v0::detail

#endif
