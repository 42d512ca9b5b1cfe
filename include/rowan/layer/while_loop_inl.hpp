// rowan/layer/while_loop_inl.hpp: definitions of rowan/layer/while_loop.hpp.
#pragma once

#include <rowan/layer/while_loop.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_state(std::size_t k, VarSpec const& after, VarSpec const& before) {
    std::string const field = std::string("layer::while_loop: after an iteration, state ").append(std::to_string(k));
    if (after.type != before.type) throw TypeError(field, kind_text(after), kind_text(before));
    spec::same_dtype(field.c_str(), after, before);
    static_cast<void>(spec::same_dims(field.c_str(), after, before));
    if (after.lod_level != before.lod_level)
        throw ShapeError(field + ".lod().levels()", std::to_string(after.lod_level), std::to_string(before.lod_level));
}

ROWAN_FUNCTION std::shared_ptr<WhileBlock> begin_loop(Scope& outside, std::span<Variable* const> first,
                                                      layer::WhileOptions const& options) {
    if (options.max_iterations < 0)
        throw ValueError("layer::while_loop: max_iterations", options.max_iterations, "0 or more");
    auto block = std::make_shared<WhileBlock>();
    block->max_iterations = options.max_iterations;
    block->scope = std::make_unique<Scope>(outside);
    auto& net = block->net;
    net.scope = block->scope.get();
    for (Variable const* v : first) {
        if (v->spec().type != VarType::LOD_TENSOR && v->spec().type != VarType::TENSOR_ARRAY)
            throw TypeError("layer::while_loop: a state", kind_text(v->spec()), "a tensor or an array");
        std::string const name = std::string("state_").append(std::to_string(net.states.size()));
        net.states.push_back({&net.scope->new_var(name, v->spec()), nullptr});
    }
    return block;
}

}  // namespace rowan::inline v0::detail

#endif
