// rowan/detail/step_net.hpp: StepNet, the operators of one step of a recurrent layer and of its backward pass.
#pragma once

#include <rowan/detail/gradient_maker.hpp>
#include <rowan/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Where a step finds the value of a variable.
struct Place {
    enum Kind : unsigned char {
        outside,  // among what the step reads as a whole
        whole,    // one for all steps
        rows,  // a row for each sequence that has the step: of one step, or of all, those of one step after the other
        of_a_step  // one for each step
    };
    Kind kind;
    std::size_t number;
};

struct StepOp {
    Operator const* op;
    std::vector<Place> in, out;
};

/// Operators that run once before the loop over the steps, in each step, and once after the loop.
struct Phases {
    std::vector<StepOp> before, each, after;
};

/// A step reads a part of x and the states before it, for every sequence that has the step, and what is outside as a whole. What it makes
/// row by row without the states, or without being needed for the next states, runs once for all steps. So do, in the backward pass, the
/// operators that sum over rows.
struct StepNet {
    struct Memory {
        Variable *before, *after;  // `after` is the next step's `before`
        Variable *after_grad = nullptr, *before_grad = nullptr;
    };

    Scope* scope = nullptr;                 // of the step's variables
    Variable *x = nullptr, *out = nullptr;  // what a step is given and makes
    std::vector<Memory> memories;
    std::vector<Variable*> outer;  // what it reads from outside, parameters among them
    bool rows_apart = true;        // is nothing computed from several sequences of a step?
    Phases forward;

    // the backward pass, as far as somebody asked for it
    Variable *out_grad = nullptr, *x_grad = nullptr;
    Phases backward;
    std::vector<std::vector<Variable*>> outer_grads;  // what reaches each of `outer`

    /// Finds the operators and what they read from outside.
    /// errors   GraphError if there is a cycle
    void build() {
        std::vector<Variable*> targets{out};
        for (Memory const& m : memories) targets.push_back(m.after);
        auto const order = trace(targets, scope);
        for (Operator* const op : order) {
            for (Variable* const v : op->inputs) {
                if (&v->scope() != scope && std::ranges::find(outer, v) == outer.end()) outer.push_back(v);
            }
        }
        std::unordered_set<Variable const*> loop, needed;
        rows_.insert(x);
        for (Memory const& m : memories) {
            rows_.insert(m.before);
            loop.insert(m.before);
            needed.insert(m.after);
        }
        forward = phases(order, std::move(loop), std::move(needed), {}, false);
        rows_apart = std::ranges::all_of(order, [&](Operator const* op) { return keeps_rows_apart(*op); });
        name_and_count(order);
        forward_places = number_.size();
    }

    bool has_rows(Variable const& v) const { return rows_.contains(&v); }

    /// The place of a variable of the step or outside of it.
    Place place(Variable const& v) const {
        if (&v.scope() != scope)
            return {Place::outside, static_cast<std::size_t>(std::ranges::find(outer, &v) - outer.begin())};
        return {rows_.contains(&v)        ? Place::rows
                : of_a_step_.contains(&v) ? Place::of_a_step
                                          : Place::whole,
                number_.at(&v)};
    }
    std::size_t places() const { return number_.size(); }
    std::size_t forward_places = 0;  // what is numbered from here on belongs to the backward pass

    /// Makes the operators of the backward pass. Gradients have elements of T.
    /// errors   GraphError if an operator on the way has no gradient
    template <class T, class Device>
    void build_backward() {
        if (out_grad != nullptr) return;
        try {
            make_backward<T, Device>();
        } catch (...) {
            out_grad = nullptr;
            outer_grads.clear();
            throw;
        }
    }

private:
    template <class T, class Device>
    void make_backward() {
        GradientMaker<T, Device> maker(*scope, "the result of a step");
        auto const want = [&](Variable const& v) {
            if (v.spec().dtype == dtype<T>::wire) maker.want(v);
        };
        want(*x);
        for (Memory const& m : memories) want(*m.before);
        for (Variable const* v : outer) want(*v);
        maker.spread(order_);
        std::unordered_set<Variable const*> loop, needed;
        out_grad = &scope->new_var("", out->spec());
        rows_.insert(out_grad);
        maker.add(*out, *out_grad);
        for (Memory& m : memories) {
            m.after_grad = &scope->new_var("", m.after->spec());
            rows_.insert(m.after_grad);
            loop.insert(m.after_grad);
            maker.add(*m.after, *m.after_grad);
        }
        std::size_t const first = scope->operators().size();
        for (Operator* const op : order_ | std::views::reverse) maker.differentiate(*op);
        for (Memory& m : memories) {
            m.before_grad = maker.gradient(*m.before);
            if (m.before_grad != nullptr) needed.insert(m.before_grad);
        }
        x_grad = maker.gradient(*x);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        std::vector<Operator*> made;
        for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
        std::unordered_set<Variable const*> stepwise;  // gradients of what belongs to a step belong to it, too
        for (Variable const* v : of_a_step_) {
            for (Variable const* g : maker.parts(*const_cast<Variable*>(v))) add_summands(*g, stepwise);
        }
        backward = phases(made, std::move(loop), std::move(needed), stepwise, true);
        auto order = order_;
        order.insert(order.end(), made.begin(), made.end());
        name_and_count(order);
    }

    static void add_summands(Variable const& g, std::unordered_set<Variable const*>& all) {
        all.insert(&g);
        for (Operator const* op : g.writers()) {
            if (op->code->name != sum_op::name) continue;
            for (Variable const* v : op->inputs) add_summands(*v, all);
        }
    }

    // `loop`: what is not there before the loop. `needed`: what the next step needs. `stepwise`: what is wanted step by step.
    Phases phases(std::span<Operator* const> order, std::unordered_set<Variable const*> loop,
                  std::unordered_set<Variable const*> needed, std::unordered_set<Variable const*> const& stepwise,
                  bool may_sum) {
        std::vector<Operator*> rest;
        Phases result;
        auto const in_loop = [&](Operator const& op) {
            return std::ranges::any_of(op.inputs,
                                       [&](Variable const* v) { return loop.contains(v) || of_a_step_.contains(v); }) ||
                   std::ranges::any_of(op.outputs, [&](Variable const* v) { return stepwise.contains(v); });
        };
        for (Operator* const op : order) {
            bool const any = reads_rows(*op);
            bool const once = !in_loop(*op) && (!any || fits(*op, may_sum));
            for (std::size_t i = 0; i < op->outputs.size(); ++i) {
                Variable const* const v = op->outputs[i];
                if (any && op->code->row_output(op->attributes.get(), i)) rows_.insert(v);
                if (!once) loop.insert(v);
            }
            if (once) {
                result.before.push_back({op, {}, {}});
            } else {
                rest.push_back(op);
            }
        }
        std::unordered_set<Operator const*> each;
        std::unordered_set<Variable const*> read;  // within the loop
        for (Operator* const op : rest | std::views::reverse) {
            auto const is = [&](auto const& set) {
                return std::ranges::any_of(op->outputs, [&](Variable const* v) { return set.contains(v); });
            };
            bool const reads_of_a_step = std::ranges::any_of(
                op->inputs, [&](Variable const* v) { return loop.contains(v) && !rows_.contains(v); });
            if (!is(needed) && !is(read) && !is(stepwise) && !reads_of_a_step && fits(*op, may_sum)) continue;
            each.insert(op);
            read.insert(op->inputs.begin(), op->inputs.end());
        }
        for (Operator* const op : rest) {
            bool const stays = each.contains(op);
            (stays ? result.each : result.after).push_back({op, {}, {}});
            if (!stays) continue;
            for (Variable const* v : op->outputs) {
                if (!rows_.contains(v)) of_a_step_.insert(v);
            }
        }
        return result;
    }

    bool reads_rows(Operator const& op) const {
        return std::ranges::any_of(op.inputs, [&](Variable const* v) { return rows_.contains(v); });
    }

    bool keeps_rows_apart(Operator const& op) const {
        return !reads_rows(op) || (op.code->row_inputs != 0 ? fits(op, false) : op.code->row_wise(op.attributes.get()));
    }

    // Does it compute rows from rows, or sums over them, so that it may do so for all steps at once?
    bool fits(Operator const& op, bool may_sum) const {
        if (op.code->sums_rows && !may_sum) return false;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            bool const takes_rows = (op.code->row_inputs >> std::min<std::size_t>(i, 31) & 1) != 0;
            if (rows_.contains(op.inputs[i]) != takes_rows || of_a_step_.contains(op.inputs[i])) return false;
        }
        return reads_rows(op);
    }

    // Names are for messages.
    void name_and_count(std::span<Operator* const> order) {
        order_.assign(order.begin(), order.end());
        name_inner_variables(order, *scope);
        for (auto const& v : scope->variables()) number_.try_emplace(v.get(), number_.size());
        for (Phases* phases : {&forward, &backward}) {
            for (auto* ops : {&phases->before, &phases->each, &phases->after}) {
                for (StepOp& op : *ops) {
                    auto const find = [&](std::vector<Variable*> const& variables, std::vector<Place>& places) {
                        places.clear();
                        for (Variable const* v : variables) places.push_back(place(*v));
                    };
                    find(op.op->inputs, op.in);
                    find(op.op->outputs, op.out);
                }
            }
        }
    }

    std::vector<Operator*> order_;
    std::unordered_set<Variable const*> rows_;       // have a row for each sequence of the step
    std::unordered_set<Variable const*> of_a_step_;  // have none, and differ from step to step
    std::unordered_map<Variable const*, std::size_t> number_;
};

}  // namespace rowan::inline v0::detail
