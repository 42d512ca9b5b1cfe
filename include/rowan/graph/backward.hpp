// rowan/graph/backward.hpp: append_backward, the operators that compute gradients.
#pragma once

#include <rowan/detail/trace.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/fill_like.hpp>
#include <rowan/op/sum.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A parameter and the variable that its gradient is written to.
struct ParameterGradient {
    Variable* parameter;
    Variable* gradient;
};

namespace detail {

/// Makes the gradient operators of a net, from its last operator to its first.
template <class T, class Device>
class Backward {
public:
    Backward(Variable& cost) : cost_(cost), scope_(cost.scope()), order_(trace(std::array{&cost})) {
        for (Operator const* op : order_) {
            for (Variable const* v : op->inputs) {
                if (v->role() == Role::parameter) trained_.insert(v);
            }
            for (Variable const* v : op->inputs) {
                if (trained_.contains(v)) trained_.insert(op->outputs.begin(), op->outputs.end());
            }
        }
    }

    std::vector<ParameterGradient> run() {
        if (!trained_.contains(&cost_))
            throw GraphError(describe(cost_).append(" does not depend on a parameter: there is nothing to train"));
        parts_[&cost_].push_back(&fill(cost_, 1.0));
        for (auto op = order_.rbegin(); op != order_.rend(); ++op) differentiate(**op);
        std::vector<ParameterGradient> gradients;
        std::unordered_set<Variable const*> seen;
        for (Operator const* op : order_) {
            for (Variable* const v : op->inputs) {
                if (v->role() != Role::parameter || !seen.insert(v).second) continue;
                if (Variable* const g = gradient(v)) gradients.push_back({v, g});
            }
        }
        return gradients;
    }

private:
    Variable& fill(Variable& like, double value) {
        return *scope_.new_op<fill_like_op, Device, T>({&like}, {value}).outputs[0];
    }

    /// The sum of all that reaches a variable, or nullptr.
    Variable* gradient(Variable* v) {
        auto const found = parts_.find(v);
        if (found == parts_.end()) return nullptr;
        auto& parts = found->second;
        if (parts.size() > 1) parts = {scope_.new_op<sum_op, Device, T>(parts).outputs[0]};
        return parts[0];
    }

    // Which rules make a gradient that is wanted, or something that such a rule reads.
    std::vector<bool> needed_rules(Operator const& op) const {
        auto const rules = op.code->rules;
        std::vector<bool> needed(rules.size(), false);
        auto const wanted = [&](grad_slot const& slot) {
            if (slot.kind != grad_slot::grad_of_input) return false;
            if (op.code->variadic && slot.index == 0) {
                for (std::size_t i = 0; i + op.code->inputs.size() <= op.inputs.size(); ++i) {
                    if (trained_.contains(op.inputs[i])) return true;
                }
                return false;
            }
            return trained_.contains(op.inputs[position(op, slot.index)]);
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

    // Where an input slot's first variable stands, as the first slot may hold many.
    static std::size_t position(Operator const& op, std::size_t slot) {
        return slot == 0 ? 0 : op.inputs.size() - op.code->inputs.size() + slot;
    }

    void differentiate(Operator& op) {
        std::vector<Variable*> out_grads;
        bool any = false;
        for (Variable* const v : op.outputs) {
            out_grads.push_back(gradient(v));
            any = any || out_grads.back() != nullptr;
        }
        if (!any) return;
        auto const needed = needed_rules(op);
        std::unordered_map<std::size_t, std::vector<Variable*>> input_grads, between;
        for (std::size_t k = 0; k < needed.size(); ++k) {
            if (!needed[k]) continue;
            rule_code const& rule = op.code->rules[k];
            std::vector<Variable*> reads;
            for (grad_slot const& slot : rule.reads) {
                switch (slot.kind) {
                    case grad_slot::input:
                        if (op.code->variadic && slot.index == 0) {
                            reads.insert(reads.end(), op.inputs.begin(),
                                         op.inputs.end() - static_cast<std::ptrdiff_t>(op.code->inputs.size() - 1));
                        } else {
                            reads.push_back(op.inputs[position(op, slot.index)]);
                        }
                        break;
                    case grad_slot::output:
                        reads.push_back(op.outputs[slot.index]);
                        break;
                    case grad_slot::grad_of_output: {
                        std::size_t const many = op.outputs.size() - op.code->outputs.size() + 1;
                        for (std::size_t i = 0; i < (slot.index == 0 ? many : 1); ++i) {
                            std::size_t const at = slot.index == 0 ? i : slot.index + many - 1;
                            if (out_grads[at] == nullptr) out_grads[at] = &fill(*op.outputs[at], 0.0);
                            reads.push_back(out_grads[at]);
                        }
                        break;
                    }
                    case grad_slot::grad_of_input:
                        reads.push_back(input_grads.at(slot.index).at(0));
                        break;
                    case grad_slot::between_rules:
                        reads.push_back(between.at(slot.index).at(0));
                        break;
                }
            }
            Operator& made = scope_.new_op(*rule.op, std::move(reads), op.attributes);
            std::size_t const many = made.outputs.size() - rule.writes.size() + 1;
            for (std::size_t w = 0; w < rule.writes.size(); ++w) {
                auto& to = rule.writes[w].kind == grad_slot::grad_of_input ? input_grads[rule.writes[w].index]
                                                                           : between[rule.writes[w].index];
                for (std::size_t i = 0; i < (w == 0 ? many : 1); ++i)
                    to.push_back(made.outputs[w == 0 ? i : w + many - 1]);
            }
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (!trained_.contains(op.inputs[i])) continue;
            std::size_t const many = op.inputs.size() - op.code->inputs.size() + 1;
            auto const found = input_grads.find(i < many ? 0 : i - many + 1);
            if (found == input_grads.end()) {
                throw GraphError(std::string("operator ")
                                     .append(op.code->name)
                                     .append(" has no gradient for its input ")
                                     .append(describe(*op.inputs[i]))
                                     .append(", on which ")
                                     .append(describe(cost_))
                                     .append(" depends"));
            }
            parts_[op.inputs[i]].push_back(found->second.at(i < many && found->second.size() > 1 ? i : 0));
        }
    }

    Variable& cost_;
    Scope& scope_;
    std::vector<Operator*> order_;
    std::unordered_set<Variable const*> trained_;  // parameters and what depends on them
    std::unordered_map<Variable*, std::vector<Variable*>> parts_;
};

}  // namespace detail

/// Adds to the scope of `cost` the operators that compute the gradients of all parameters that it depends on, and returns where they
/// are written. What is read more than once gets the sum of its gradients; those of tables stay row-sparse. Only what a parameter needs
/// is computed.
/// errors   GraphError if cost does not depend on a parameter, or an operator on the way has no gradient
template <class T = float, class Device = Cpu>
std::vector<ParameterGradient> append_backward(Variable& cost) {
    return detail::Backward<T, Device>(cost).run();
}

}  // namespace rowan::inline v0
