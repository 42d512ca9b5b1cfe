// rowan/graph/detail/gradient_maker.hpp: GradientMaker, which adds gradient operators in reverse topological order.
#pragma once

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/sum.hpp>
#include <rowan/op/table/to_dense.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Whether there are gradients and all are row-sparse, in which case their sum is row-sparse, too.
inline bool all_row_sparse(std::span<Variable* const> gradients) {
    return !gradients.empty() &&
           std::ranges::all_of(gradients, [](Variable const* v) { return v->spec().type == VarType::SELECTED_ROWS; });
}

/// Collects the gradients of variables. Those that are filled, summed or made dense have elements of T.
template <class T, class Device>
class GradientMaker {
public:
    /// New operators are added to `scope`; `target` describes, in messages, what is differentiated.
    GradientMaker(Scope& scope, std::string target) : scope_(scope), target_(std::move(target)) {}

    /// Requests the gradient of a variable.
    void want(Variable const& v) { wanted_.insert(&v); }
    bool wants(Variable const& v) const { return wanted_.contains(&v); }

    /// Requests the gradients of all variables that depend on requested ones, except integral and bool variables, which
    /// are not differentiable.
    void spread(std::span<Operator* const> order);

    void add(Variable const& v, Variable& gradient) { parts_[&v].push_back(&gradient); }

    Variable& fill(Variable& like, double value);

    /// The sum of the gradients collected for a variable, or nullptr if there are none.
    Variable* gradient(Variable const& v);

    /// The gradients collected for a variable, not summed.
    std::vector<Variable*> parts(Variable const& v) const;

    /// Adds the gradient operators of an operator. All readers of its results must have been differentiated before.
    /// errors   GraphError if it has no gradient for a requested input
    void differentiate(Operator& op);

private:
    // Zeros for the gradient of `like`: a filled tensor if it is dense with elements of T, else an empty value.
    Variable& zeros(Variable& like);

    // The gradient of an operator's result as a tensor, if it is row-sparse: the result is a table.
    Variable& dense(Variable const& result, Variable& gradient);

    // Whether a gradient flows to the elements of input i.
    bool wants_input(Operator const& op, std::size_t i) const {
        return wanted_.contains(op.inputs[i]) && (op.kernel->level_inputs >> std::min<std::size_t>(i, 31) & 1) == 0;
    }

    // For each rule, whether it computes a requested gradient or a value that another needed rule reads.
    std::vector<bool> needed_rules(Operator const& op, std::span<grad_kernel const> rules) const;

    Scope& scope_;
    std::string target_;
    std::unordered_set<Variable const*> wanted_;
    std::unordered_map<Variable const*, std::vector<Variable*>> parts_;
};

template <class T, class Device>
void GradientMaker<T, Device>::spread(std::span<Operator* const> order) {
    for (Operator const* op : order) {
        bool reaches = false;
        for (std::size_t i = 0; i < op->inputs.size(); ++i) reaches = reaches || wants_input(*op, i);
        if (!reaches) continue;
        for (Variable const* v : op->outputs) {
            if (!is_integral(v->spec().dtype)) wanted_.insert(v);
        }
    }
}

template <class T, class Device>
Variable& GradientMaker<T, Device>::fill(Variable& like, double value) {
    return *scope_.new_op<full_like_op, Device, T>({&like}, {value}).outputs[0];
}

template <class T, class Device>
Variable* GradientMaker<T, Device>::gradient(Variable const& v) {
    auto const found = parts_.find(&v);
    if (found == parts_.end()) return nullptr;
    auto& parts = found->second;
    if (parts.size() > 1) {
        bool const arrays = v.spec().type == VarType::TENSOR_ARRAY;
        parts = {
            (arrays ? scope_.new_op(whole_kernel<array_sum_op>::value, parts) : scope_.new_op<sum_op, Device, T>(parts))
                .outputs[0]};
    }
    return parts[0];
}

template <class T, class Device>
std::vector<Variable*> GradientMaker<T, Device>::parts(Variable const& v) const {
    auto const found = parts_.find(&v);
    return found == parts_.end() ? std::vector<Variable*>() : found->second;
}

template <class T, class Device>
void GradientMaker<T, Device>::differentiate(Operator& op) {
    std::vector<Variable*> out_grads;
    for (Variable* const v : op.outputs) out_grads.push_back(gradient(*v));
    if (std::ranges::all_of(out_grads, [](Variable const* g) { return g == nullptr; })) return;
    std::size_t const slots_in = op.kernel->inputs.size(), slots_out = op.kernel->outputs.size();
    std::vector<Variable*> in_grads(op.inputs.size());
    std::unordered_map<std::size_t, Variable*> between;  // values passed from a rule to later ones
    auto const rules = gradient_rules(op);
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
            throw GraphError(std::string("operator ")
                                 .append(op.kernel->name)
                                 .append(" has no gradient for its input ")
                                 .append(describe(*op.inputs[i]))
                                 .append(", on which ")
                                 .append(target_)
                                 .append(" depends"));
        }
        parts_[op.inputs[i]].push_back(in_grads[i]);
    }
}

template <class T, class Device>
Variable& GradientMaker<T, Device>::zeros(Variable& like) {
    VarSpec const& spec = like.spec();
    if (spec.type == VarType::LOD_TENSOR && spec.dtype == dtype<T>::wire) return fill(like, 0.0);
    return *scope_.new_op(whole_kernel<nothing_op>::value, {&like}).outputs[0];
}

template <class T, class Device>
Variable& GradientMaker<T, Device>::dense(Variable const& result, Variable& gradient) {
    VarSpec const& spec = gradient.spec();
    if (spec.type != VarType::SELECTED_ROWS || result.spec().type == VarType::SELECTED_ROWS) return gradient;
    if (spec.dtype != dtype<T>::wire)
        throw GraphError(std::string("the gradient of ")
                             .append(describe(result))
                             .append(", a table that an operator computes, must have elements of ")
                             .append(dtype<T>::name));
    return *scope_.new_op<to_dense_op, Device, T>({&gradient}).outputs[0];
}

template <class T, class Device>
std::vector<bool> GradientMaker<T, Device>::needed_rules(Operator const& op, std::span<grad_kernel const> rules) const {
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

ROWAN_TEMPLATE(class GradientMaker<float, Cpu>)
ROWAN_TEMPLATE(class GradientMaker<double, Cpu>)

}  // namespace rowan::inline v0::detail
