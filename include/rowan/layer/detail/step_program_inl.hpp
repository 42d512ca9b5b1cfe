// rowan/layer/detail/step_program_inl.hpp: definitions of rowan/layer/detail/step_program.hpp.
#pragma once

#include <rowan/layer/detail/step_program.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION StepProgram::StepProgram(Variable& result) : result_(result) {
    std::unordered_set<Variable const*> within;
    for (Operator* const op : trace(std::array{&result})) {
        bool inside = false;
        for (std::size_t i = 0; i < op->inputs.size(); ++i) {
            Variable* const v = op->inputs[i];
            bool const is_memory = i == 0 && op->kernel->in_step != nullptr;
            if (is_memory && !is_placeholder(*v))
                throw GraphError("layer::add_to: the memory belongs to another recurrent layer");
            if (!is_memory && is_placeholder(*v)) inputs_.insert(v);
            inside = inside || is_placeholder(*v) || within.contains(v);
            if (!is_memory) continue;
            if (std::ranges::find(memories_, v) != memories_.end())
                throw GraphError("layer::add_to is called twice for one memory");
            memories_.push_back(v);
            sums_.push_back(op->outputs[0]);
        }
        if (!inside) continue;
        if (op->kernel->is<rnn_op>())
            throw GraphError("layer::rnn: step_net has a recurrent layer: write the step as a function");
        order_.push_back(op);
        within.insert(op->outputs.begin(), op->outputs.end());
    }
    for (Variable const* memory : memories_) inputs_.erase(memory);
    if (std::ranges::any_of(inputs_, [](Variable const* v) { return v->role() != Role::step_input; }))
        throw GraphError("layer::rnn: step_net reads a memory without layer::add_to");
    if (order_.empty()) throw GraphError("layer::rnn: step_net depends neither on the step's input nor on a memory");
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> StepProgram::memory_specs(VarSpec const& input) const {
    std::unordered_map<Variable const*, VarSpec> specs;
    for (Variable const* v : inputs_) specs.emplace(v, input);
    for (Variable const* v : memories_) specs.emplace(v, v->spec());
    for (std::size_t round = 0; round <= memories_.size(); ++round) {
        for (Operator const* op : order_) {
            std::vector<VarSpec> in;
            for (Variable const* v : op->inputs) in.push_back(specs.contains(v) ? specs.at(v) : v->spec());
            auto const made = op->kernel->infer(in, op->attributes);
            for (std::size_t i = 0; i < made.size(); ++i) specs.insert_or_assign(op->outputs[i], made[i]);
        }
        for (std::size_t m = 0; m < memories_.size(); ++m) specs.at(memories_[m]).dims = specs.at(sums_[m]).dims;
    }
    std::vector<VarSpec> result;
    for (Variable const* v : memories_) {
        VarSpec const& spec = specs.at(v);
        if (spec.dims.size() != 2 || spec.dims[1] == UNK)
            throw ShapeError("layer::rnn: the width of a memory", "UNK",
                             "a width that follows from the width of the step's input");
        result.push_back(spec);
    }
    return result;
}

ROWAN_CALLED_FUNCTION std::pair<Variable*, std::vector<Variable*>> StepProgram::replay(
    Variable& input, std::span<Variable* const> before) const {
    std::unordered_map<Variable const*, Variable*> now;
    for (Variable const* v : inputs_) now.emplace(v, &input);
    for (std::size_t m = 0; m < memories_.size(); ++m) now.emplace(memories_[m], before[m]);
    auto const of = [&](Variable* v) { return now.contains(v) ? now.at(v) : v; };
    for (Operator const* op : order_) {
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
    for (Variable* const v : sums_) after.push_back(of(v));
    return {of(&result_), after};
}

}  // namespace rowan::inline v0::detail

#endif
