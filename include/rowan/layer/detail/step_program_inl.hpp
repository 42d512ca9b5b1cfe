// rowan/layer/detail/step_program_inl.hpp: definitions of rowan/layer/detail/step_program.hpp.
#pragma once

#include <rowan/layer/detail/step_program.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/op/infer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct StepParts {
    Variable& result;
    std::vector<Operator*> order = {};
    std::vector<Variable*> memories = {}, sums = {};
    std::unordered_set<Variable const*> inputs = {};
};

ROWAN_CALLED_FUNCTION ROWAN_RARE void destroy(StepParts* parts) noexcept { delete parts; }

ROWAN_CALLED_FUNCTION ROWAN_RARE std::span<Variable* const> StepProgram::memories() const { return parts_->memories; }

ROWAN_CALLED_FUNCTION ROWAN_RARE StepProgram::StepProgram(Variable& result) : parts_(new StepParts{.result = result}) {
    auto& p = *parts_;
    std::unordered_set<Variable const*> within;
    for (Operator* const op : trace(std::array{&result})) {
        bool inside = false;
        for (std::size_t i = 0; i < op->inputs.size(); ++i) {
            Variable* const v = op->inputs[i];
            bool const is_memory = i == 0 && op->kernel->in_step != nullptr;
            if (is_memory && !is_placeholder(*v))
                throw GraphError("layer::add_to: the memory belongs to another recurrent layer");
            if (!is_memory && is_placeholder(*v)) p.inputs.insert(v);
            inside = inside || is_placeholder(*v) || within.contains(v);
            if (!is_memory) continue;
            if (std::ranges::find(p.memories, v) != p.memories.end())
                throw GraphError("layer::add_to is called twice for one memory");
            p.memories.push_back(v);
            p.sums.push_back(op->outputs[0]);
        }
        if (!inside) continue;
        if (op->kernel->is<rnn_op>())
            throw GraphError("layer::rnn: step_net has a recurrent layer: write the step as a function");
        p.order.push_back(op);
        within.insert(op->outputs.begin(), op->outputs.end());
    }
    for (Variable const* memory : p.memories) p.inputs.erase(memory);
    if (std::ranges::any_of(p.inputs, [](Variable const* v) { return v->role() != Role::step_input; }))
        throw GraphError("layer::rnn: step_net reads a memory without layer::add_to");
    if (p.order.empty()) throw GraphError("layer::rnn: step_net depends neither on the step's input nor on a memory");
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<layer::Memory> StepProgram::memories_for(VarSpec input) const {
    spec::has_levels("layer::rnn: input", input);
    input.dims[0] = UNK;
    input.lod_level = 0;
    auto const& p = *parts_;
    std::unordered_map<Variable const*, VarSpec> specs;
    for (Variable const* v : p.inputs) specs.emplace(v, input);
    for (Variable const* v : p.memories) specs.emplace(v, v->spec());
    for (std::size_t round = 0; round <= p.memories.size(); ++round) {
        for (Operator const* op : p.order) {
            std::vector<VarSpec> in;
            for (Variable const* v : op->inputs) in.push_back(specs.contains(v) ? specs.at(v) : v->spec());
            auto const made = op->kernel->infer(in, op->attributes);
            for (std::size_t i = 0; i < made.size(); ++i) specs.insert_or_assign(op->outputs[i], made[i]);
        }
        for (std::size_t m = 0; m < p.memories.size(); ++m) specs.at(p.memories[m]).dims = specs.at(p.sums[m]).dims;
    }
    std::vector<layer::Memory> made;
    for (Variable const* v : p.memories) {
        Dims const& dims = specs.at(v).dims;
        if (dims.size() != 2 || dims[1] == UNK)
            throw ShapeError("layer::rnn: the width of a memory", "UNK",
                             "a width that follows from the width of the step's input");
        made.push_back({.size = dims[1]});
    }
    return made;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::pair<Variable*, std::vector<Variable*>> StepProgram::replay(
    Variable& input, std::span<Variable* const> before) const {
    auto const& p = *parts_;
    std::unordered_map<Variable const*, Variable*> now;
    for (Variable const* v : p.inputs) now.emplace(v, &input);
    for (std::size_t m = 0; m < p.memories.size(); ++m) now.emplace(p.memories[m], before[m]);
    auto const of = [&](Variable* v) { return now.contains(v) ? now.at(v) : v; };
    for (Operator const* op : p.order) {
        std::vector<Variable*> in;
        for (Variable* const v : op->inputs) in.push_back(of(v));
        for (Variable* const v : in) {
            if (!v->set_width) continue;
            v->set_width(*v, in[0]->spec().dims[in[0]->spec().dims.size() - 1]);
            v->set_width = nullptr;
        }
        op_kernel const& kernel = op->kernel->in_step != nullptr ? *op->kernel->in_step : *op->kernel;
        Operator& copy = default_scope().new_op(kernel, std::move(in), op->attributes);
        copy.build_backward = op->build_backward;
        for (std::size_t i = 0; i < copy.outputs.size(); ++i) now.insert_or_assign(op->outputs[i], copy.outputs[i]);
    }
    std::vector<Variable*> after;
    for (Variable* const v : p.sums) after.push_back(of(v));
    return {of(&p.result), after};
}

}  // namespace rowan::inline v0::detail

#endif
