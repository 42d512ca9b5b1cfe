// rowan/layer/detail/recurrence_inl.hpp: definitions of rowan/layer/detail/recurrence.hpp.
#pragma once

#include <rowan/layer/detail/recurrence.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A block with an empty scope within `outside`, for the steps of the sequences of x.
ROWAN_IF_CALLED std::shared_ptr<RnnBlock> new_rnn_block(Scope& outside, VarSpec const& x,
                                                        layer::RnnOptions const& options);
ROWAN_CALLED_FUNCTION ROWAN_RARE std::shared_ptr<RnnBlock> new_rnn_block(Scope& outside, VarSpec const& x,
                                                                         layer::RnnOptions const& options) {
    spec::has_levels("layer::rnn: x", x);
    auto const levels = static_cast<std::ptrdiff_t>(x.lod_level);
    if (options.level < -levels || options.level >= levels)
        throw ValueError("layer::rnn: level", options.level, {"a level of x, whose number of levels is ", levels});
    auto block = std::make_shared<RnnBlock>();
    block->scope = std::make_unique<Scope>(outside);
    block->level = static_cast<std::size_t>(options.level < 0 ? options.level + levels : options.level);
    block->reverse = options.reverse;
    block->net.scope = block->scope.get();
    VarSpec x_t = x;
    x_t.lod_level -= block->level + 1;
    x_t.dims[0] = UNK;
    block->net.x = &block->scope->new_var("x", x_t);
    return block;
}

/// Adds the states before a step to the scope of the block, and the initial states to `inputs`.
ROWAN_IF_CALLED std::vector<Variable*> add_memories(RnnBlock& block, std::span<layer::Memory const> memories,
                                                    VarSpec const& state, std::vector<Variable*>& inputs);
ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<Variable*> add_memories(RnnBlock& block,
                                                                     std::span<layer::Memory const> memories,
                                                                     VarSpec const& state,
                                                                     std::vector<Variable*>& inputs) {
    std::vector<Variable*> before;
    for (layer::Memory const& memory : memories) {
        Variable* const boot = memory.like.get();
        if (boot != nullptr) {
            spec::matrix("layer::rnn: memory", boot->spec());
            if (boot->spec().dtype != state.dtype)
                throw TypeError("layer::rnn: memory.like", kind_text(boot->spec()), kind_text(state));
        }
        if (boot == nullptr ? memory.size < 1 : memory.size != 0)
            throw ValueError("layer::rnn: memory.size", memory.size,
                             boot == nullptr ? "1 or more" : "0 together with memory.like");
        VarSpec spec = state;
        spec.dims = {UNK, boot == nullptr ? memory.size : boot->spec().dims[1]};
        std::string const name = before.empty() ? "before" : "before_" + std::to_string(before.size());
        before.push_back(&block.scope->new_var(name, spec));
        block.has_boot.push_back(boot != nullptr);
        if (boot != nullptr) inputs.push_back(boot);
    }
    return before;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE OpenRecurrence open_recurrence(Scope& outside, Variable& x,
                                                                std::span<layer::Memory const> memories,
                                                                layer::RnnOptions const& options,
                                                                VarSpec const& state) {
    auto block = new_rnn_block(outside, x.spec(), options);
    std::vector<Variable*> inputs{&x};
    auto before = add_memories(*block, memories, state, inputs);
    Scope& step = *block->scope;
    Variable& step_input = *block->net.x;
    return {outside, std::move(block), step, step_input, std::move(inputs), std::move(before)};
}

/// Completes the net of a step with its output and the states after it.
ROWAN_IF_CALLED void end_step(RnnBlock& block, Variable& output, std::span<Variable* const> before,
                              std::span<Variable* const> after);
ROWAN_CALLED_FUNCTION ROWAN_RARE void end_step(RnnBlock& block, Variable& output, std::span<Variable* const> before,
                                               std::span<Variable* const> after) {
    auto& net = block.net;
    if (after.size() != before.size())
        throw ShapeError("layer::rnn: the number of states after a step", after.size(), before.size());
    net.out = &output;
    for (std::size_t m = 0; m < before.size(); ++m) {
        Dims const &first = before[m]->spec().dims, &next = after[m]->spec().dims;
        if (next.size() != 2 || (next[1] != first[1] && next[1] != UNK && first[1] != UNK))
            throw ShapeError({"layer::rnn: the width of the state ", before[m]->name(), " after a step"},
                             next.size() == 2 ? std::to_string(next[1]) : "unknown",
                             first[1] == UNK ? "that of a matrix" : std::to_string(first[1]));
        net.memories.push_back({before[m], after[m]});
    }
    net.build();
    auto const check_rows = [&](Variable const& v) {
        Dims const& dims = v.spec().dims;
        if (net.has_rows(v) && !dims.empty() && dims[0] == UNK) return;
        if (dims.size() > 1 && dims[0] != UNK)
            throw ShapeError("layer::rnn: the number of rows of the output or the state of a step", dims[0],
                             "one for each sequence: a value in the step has a fixed number of rows");
        throw ShapeError("layer::rnn: the output or the state of a step", "the same for all sequences",
                         "a row for each");
    };
    check_rows(output);
    for (Variable const* const v : after) check_rows(*v);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Operator& close_recurrence(OpenRecurrence& open, Variable& output,
                                                            std::span<Variable* const> after, LoopType const& type,
                                                            DeviceParts const& parts) {
    RnnBlock& block = *open.block;
    end_step(block, output, open.before, after);
    block.runs_whole = parts.runs_whole;
    block.kernels = type.kernels;
    block.for_parts = parts.for_parts;
    auto& inputs = open.inputs;
    inputs.insert(inputs.end(), block.net.outer.begin(), block.net.outer.end());
    Operator& op = open.outside.new_op(rnn_kernel, std::move(inputs), open.block);
    op.inner_names = block.net.outer_names;
    op.build_backward = [&net = block.net, gradients = type.gradients] { net.build_backward(gradients()); };
    return op;
}

}  // namespace rowan::inline v0::detail

#endif
