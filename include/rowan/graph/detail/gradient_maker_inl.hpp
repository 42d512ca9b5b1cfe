// rowan/graph/detail/gradient_maker_inl.hpp: definitions of rowan/graph/detail/gradient_maker.hpp.
#pragma once

#include <rowan/graph/detail/gradient_maker.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/array_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE void GradientMaker::spread(std::span<Operator* const> order) {
    for (Operator const* op : order) {
        bool reaches = false;
        for (std::size_t i = 0; i < op->inputs.size(); ++i) reaches = reaches || wants_input(*op, i);
        if (!reaches) continue;
        for (Variable const* v : op->outputs) {
            if (!is_integral(v->spec().dtype)) wanted_.insert(v);
        }
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& GradientMaker::fill(Variable& like, double value) {
    return *scope_.new_op(kernels_.fill, {&like}, owned(FullLikeOptions{value})).outputs[0];
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable* GradientMaker::gradient(Variable const& v) {
    auto const found = parts_.find(&v);
    if (found == parts_.end()) return nullptr;
    auto& parts = found->second;
    if (parts.size() > 1) {
        bool const arrays = v.spec().type == VarType::TENSOR_ARRAY;
        parts = {(arrays ? scope_.new_op(whole_kernel<array_sum_op>::value, parts)
                         : scope_.new_op(kernels_.sum, parts, owned(no_attributes{})))
                     .outputs[0]};
    }
    return parts[0];
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<Variable*> GradientMaker::parts(Variable const& v) const {
    auto const found = parts_.find(&v);
    return found == parts_.end() ? std::vector<Variable*>() : found->second;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void GradientMaker::differentiate(Operator& op) {
    std::vector<Variable*> out_grads;
    for (Variable* const v : op.outputs) out_grads.push_back(gradient(*v));
    if (std::ranges::all_of(out_grads, [](Variable const* g) { return g == nullptr; })) return;
    std::size_t const slots_in = op.kernel->inputs.size(), slots_out = op.kernel->outputs.size();
    std::vector<Variable*> in_grads(op.inputs.size());
    std::unordered_map<std::size_t, Variable*> between;  // values passed from a rule to later ones
    auto const [all_rules, row_rules] = op.kernel->gradient();
    auto const rules = row_rules.empty() || row_inputs(op) == 0 ? all_rules : row_rules;
    auto const needed = needed_rules(op, rules);
    for (std::size_t k = 0; k < needed.size(); ++k) {
        if (!needed[k]) continue;
        grad_kernel const& rule = rules[k];
        std::vector<Variable*> reads;
        auto const read = [&](std::span<Variable* const> held) { reads.insert(reads.end(), held.begin(), held.end()); };
        for (grad_slot const& slot : rule.reads) {
            if (slot.kind == grad_slot::between_rules) {
                reads.push_back(between.at(slot.index));
            } else if (slot.kind == grad_slot::grad_of_output) {
                auto const held = in_slot(op.outputs, slots_out, slot.index);
                Variable** const grads = out_grads.data() + (held.data() - op.outputs.data());
                for (std::size_t i = 0; i < held.size(); ++i) {
                    if (grads[i] == nullptr) grads[i] = &zeros(*held[i]);
                    if ((rule.op->sparse_inputs >> (&slot - rule.reads.data()) & 1) == 0)
                        grads[i] = &dense(*held[i], *grads[i]);
                }
                read({grads, held.size()});
            } else if (slot.kind == grad_slot::output) {
                read(in_slot(op.outputs, slots_out, slot.index));
            } else {
                read(in_slot(slot.kind == grad_slot::input ? op.inputs : in_grads, slots_in, slot.index));
            }
        }
        if (op.build_backward) op.build_backward();
        Operator& made = scope_.new_op(*rule.op, std::move(reads), op.attributes);
        for (std::size_t w = 0; w < rule.writes.size(); ++w) {
            auto const held = in_slot(made.outputs, rule.writes.size(), w);
            if (rule.writes[w].kind == grad_slot::grad_of_input) {
                auto const to = in_slot(op.inputs, slots_in, rule.writes[w].index).data() - op.inputs.data();
                std::ranges::copy(held, in_grads.begin() + to);
            } else {
                between[rule.writes[w].index] = held[0];
            }
        }
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (!wants_input(op, i)) continue;
        if (in_grads[i] == nullptr) {
            throw GraphError({"operator ", op.kernel->name, " has no gradient for its input ", describe(*op.inputs[i]),
                              ", on which ", target_, " depends"});
        }
        parts_[op.inputs[i]].push_back(in_grads[i]);
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& GradientMaker::zeros(Variable& like) {
    VarSpec const& spec = like.spec();
    if (spec.type == VarType::LOD_TENSOR && spec.dtype == kernels_.dtype) return fill(like, 0.0);
    return *scope_.new_op(whole_kernel<nothing_op>::value, {&like}).outputs[0];
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& GradientMaker::dense(Variable const& result, Variable& gradient) {
    VarSpec const& spec = gradient.spec();
    if (spec.type != VarType::SELECTED_ROWS || result.spec().type == VarType::SELECTED_ROWS) return gradient;
    if (spec.dtype != kernels_.dtype)
        throw GraphError({"the gradient of ", describe(result),
                          ", a table that an operator computes, must have elements of ", kernels_.name});
    return *scope_.new_op(kernels_.to_dense, {&gradient}, owned(no_attributes{})).outputs[0];
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<bool> GradientMaker::needed_rules(
    Operator const& op, std::span<grad_kernel const> rules) const {
    std::vector<bool> needed(rules.size(), false);
    auto const wanted = [&](grad_slot const& slot) {
        if (slot.kind != grad_slot::grad_of_input) return false;
        auto const held = in_slot(op.inputs, op.kernel->inputs.size(), slot.index);
        return std::ranges::any_of(held, [&](Variable const* v) { return wanted_.contains(v); });
    };
    for (std::size_t k = rules.size(); k-- > 0;) {
        for (grad_slot const& slot : rules[k].writes) {
            if (wanted(slot)) needed[k] = true;
            for (std::size_t later = k + 1; later < rules.size(); ++later) {
                for (grad_slot const& read : rules[later].reads) {
                    if (needed[later] && read.kind == slot.kind && read.index == slot.index) needed[k] = true;
                }
            }
        }
    }
    return needed;
}

}  // namespace rowan::inline v0::detail

#endif
