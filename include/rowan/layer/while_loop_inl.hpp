// rowan/layer/while_loop_inl.hpp: definitions of rowan/layer/while_loop.hpp.
#pragma once

#include <rowan/layer/while_loop.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/while_loop.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE OpenLoop open_loop(Scope& outside, std::span<Variable* const> first,
                                                    layer::WhileOptions const& options) {
    if (options.max_iterations < 0)
        throw ValueError("layer::while_loop: max_iterations", options.max_iterations, "0 or more");
    auto block = std::make_shared<WhileBlock>();
    block->max_iterations = options.max_iterations;
    block->scope = std::make_unique<Scope>(outside);
    auto& net = block->net;
    net.scope = block->scope.get();
    std::vector<Variable*> before;
    for (Variable const* v : first) {
        if (v->spec().type != VarType::LOD_TENSOR && v->spec().type != VarType::TENSOR_ARRAY)
            throw TypeError("layer::while_loop: a state", kind_text(v->spec()), "a tensor or an array");
        std::string const name = std::string("state_").append(std::to_string(net.states.size()));
        before.push_back(&net.scope->new_var(name, v->spec()));
        net.states.push_back({before.back(), nullptr});
    }
    Scope& scope = *block->scope;
    return {outside, std::move(block), scope, std::move(before)};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Operator& close_loop(OpenLoop& open, std::span<Variable* const> first,
                                                      Variable& condition, std::span<Variable* const> states,
                                                      LoopType const& type, bool (*holds)(AnyExec, Value const&)) {
    auto& net = open.block->net;
    net.condition = &condition;
    for (std::size_t k = 0; k < net.states.size(); ++k) {
        net.states[k].after = states[k];
        VarSpec const &after = states[k]->spec(), &before = net.states[k].before->spec();
        std::string const field =
            std::string("layer::while_loop: after an iteration, state ").append(std::to_string(k));
        if (after.type != before.type) throw TypeError(field, kind_text(after), kind_text(before));
        spec::same_dtype(field.c_str(), after, before);
        static_cast<void>(spec::same_dims(field.c_str(), after, before));
        if (after.lod_level != before.lod_level)
            throw ShapeError({field, ".lod().levels()"}, after.lod_level, before.lod_level);
    }
    net.build();
    open.block->gradient_dtype = type.gradients().dtype;
    open.block->kernels = type.kernels;
    open.block->holds = holds;
    std::vector<Variable*> inputs(first.begin(), first.end());
    inputs.insert(inputs.end(), net.outer.begin(), net.outer.end());
    Operator& op = open.outside.new_op(while_kernel, std::move(inputs), open.block);
    op.inner_names = net.outer_names;
    op.build_backward = [&net, gradients = type.gradients] { net.build_backward(gradients()); };
    return op;
}

}  // namespace rowan::inline v0::detail

#endif
