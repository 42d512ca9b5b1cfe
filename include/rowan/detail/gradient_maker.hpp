// rowan/detail/gradient_maker.hpp: gradient operators, made from the last operator of a net to its first.
#pragma once

#include <rowan/detail/trace.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/fill_like.hpp>
#include <rowan/op/sum.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What reaches each variable. Gradients and what they are added to have elements of T.
template <class T, class Device>
class GradientMaker {
public:
    /// New operators belong to `scope`; `target` is what is differentiated, for messages.
    GradientMaker(Scope& scope, std::string target) : scope_(scope), target_(std::move(target)) {}

    /// Asks for the gradient of a variable.
    void want(Variable const& v) { wanted_.insert(&v); }
    bool wants(Variable const& v) const { return wanted_.contains(&v); }

    /// Asks for the gradients of all that depends on what is asked for.
    void spread(std::span<Operator* const> order) {
        for (Operator const* op : order) {
            for (Variable const* v : op->inputs) {
                if (wanted_.contains(v)) wanted_.insert(op->outputs.begin(), op->outputs.end());
            }
        }
    }

    void add(Variable& v, Variable& gradient) { parts_[&v].push_back(&gradient); }

    Variable& fill(Variable& like, double value) {
        return *scope_.new_op<fill_like_op, Device, T>({&like}, {value}).outputs[0];
    }

    /// The sum of all that reaches a variable, or nullptr.
    Variable* gradient(Variable& v) {
        auto const found = parts_.find(&v);
        if (found == parts_.end()) return nullptr;
        auto& parts = found->second;
        if (parts.size() > 1) parts = {scope_.new_op<sum_op, Device, T>(parts).outputs[0]};
        return parts[0];
    }

    /// What reaches a variable, not summed.
    std::vector<Variable*> parts(Variable& v) const {
        auto const found = parts_.find(&v);
        return found == parts_.end() ? std::vector<Variable*>() : found->second;
    }

    /// Adds the gradient operators of an operator, all of whose readers must be done.
    /// errors   GraphError if it has no gradient for an input that is asked for
    void differentiate(Operator& op) {
        std::vector<Variable*> out_grads;
        bool any = false;
        for (Variable* const v : op.outputs) {
            out_grads.push_back(gradient(*v));
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
            if (!wanted_.contains(op.inputs[i])) continue;
            std::size_t const many = op.inputs.size() - op.code->inputs.size() + 1;
            auto const found = input_grads.find(i < many ? 0 : i - many + 1);
            if (found == input_grads.end()) {
                throw GraphError(std::string("operator ")
                                     .append(op.code->name)
                                     .append(" has no gradient for its input ")
                                     .append(describe(*op.inputs[i]))
                                     .append(", on which ")
                                     .append(target_)
                                     .append(" depends"));
            }
            parts_[op.inputs[i]].push_back(found->second.at(i < many && found->second.size() > 1 ? i : 0));
        }
    }

private:
    // Which rules make a gradient that is wanted, or something that such a rule reads.
    std::vector<bool> needed_rules(Operator const& op) const {
        auto const rules = op.code->rules;
        std::vector<bool> needed(rules.size(), false);
        auto const wanted = [&](grad_slot const& slot) {
            if (slot.kind != grad_slot::grad_of_input) return false;
            if (op.code->variadic && slot.index == 0) {
                for (std::size_t i = 0; i + op.code->inputs.size() <= op.inputs.size(); ++i) {
                    if (wanted_.contains(op.inputs[i])) return true;
                }
                return false;
            }
            return wanted_.contains(op.inputs[position(op, slot.index)]);
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

    Scope& scope_;
    std::string target_;
    std::unordered_set<Variable const*> wanted_;
    std::unordered_map<Variable*, std::vector<Variable*>> parts_;
};

}  // namespace rowan::inline v0::detail
