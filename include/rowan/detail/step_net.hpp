// rowan/detail/step_net.hpp: StepNet, the operators of one step of a recurrent layer and of its backward pass.
#pragma once

#include <rowan/detail/gradient_maker.hpp>
#include <rowan/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A step reads a row of x and the state before it, for every sequence that has the step, and what is outside as a whole. Operators of
/// which no row needs the state run once for all steps; so do those of the backward pass that sum over rows, and those of the former.
struct StepNet {
    Scope* scope = nullptr;                     // of the step's variables
    Variable *x = nullptr, *before = nullptr;   // what a step is given
    Variable *out = nullptr, *after = nullptr;  // what it makes; `after` is the next one's `before`
    std::vector<Variable*> outer;               // what it reads from outside, parameters among them

    std::vector<Operator*> once, each;

    // the backward pass, as far as somebody asked for it
    Variable *out_grad = nullptr, *after_grad = nullptr, *before_grad = nullptr, *x_grad = nullptr;
    std::vector<Operator*> back_each, back_once;
    std::vector<std::vector<Variable*>> outer_grads;  // what reaches each of `outer`

    std::unordered_set<Variable const*> rows;      // have a row for each sequence of the step
    std::unordered_set<Variable const*> per_step;  // belong to a step, not to all of them
    std::unordered_map<Variable const*, std::size_t> number;

    /// Finds the operators and what they read from outside.
    /// errors   GraphError if there is a cycle
    void build() {
        std::array const targets{out, after};
        auto const order = trace(targets, scope);
        rows = {x, before};
        per_step = {before};
        for (Operator* const op : order) {
            for (Variable* const v : op->inputs) {
                if (&v->scope() != scope && std::ranges::find(outer, v) == outer.end()) outer.push_back(v);
            }
            bool const is_once = runs_once(*op);
            (is_once ? once : each).push_back(op);
            add_outputs(*op, is_once);
        }
        name_and_count(order);
    }

    /// Makes the operators of the backward pass. Gradients have elements of T.
    /// errors   GraphError if an operator on the way has no gradient
    template <class T, class Device>
    void build_backward() {
        if (out_grad != nullptr) return;
        try {
            make_backward<T, Device>();
        } catch (...) {
            out_grad = nullptr;
            back_each.clear();
            back_once.clear();
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
        want(*before);
        want(*x);
        for (Variable const* v : outer) want(*v);
        std::vector<Operator*> order = once;
        order.insert(order.end(), each.begin(), each.end());
        maker.spread(order);
        out_grad = &scope->new_var("", out->spec());
        after_grad = &scope->new_var("", after->spec());
        rows.insert({out_grad, after_grad});
        per_step.insert(after_grad);
        maker.add(*out, *out_grad);
        maker.add(*after, *after_grad);

        std::size_t made = scope->operators().size();
        for (auto op = each.rbegin(); op != each.rend(); ++op) maker.differentiate(**op);
        before_grad = maker.gradient(*before);
        for (; made < scope->operators().size(); ++made) add_backward(*scope->operators()[made], false);
        for (auto op = once.rbegin(); op != once.rend(); ++op) maker.differentiate(**op);
        x_grad = maker.gradient(*x);
        for (; made < scope->operators().size(); ++made) add_backward(*scope->operators()[made], true);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        order.insert(order.end(), back_each.begin(), back_each.end());
        order.insert(order.end(), back_once.begin(), back_once.end());
        name_and_count(order);
    }

    // Row i of the results follows from row i of those inputs that have rows, and these are there for all steps.
    bool runs_once(Operator const& op) const {
        if (std::ranges::any_of(op.inputs, [&](Variable const* v) { return per_step.contains(v); })) return false;
        bool const any = std::ranges::any_of(op.inputs, [&](Variable const* v) { return rows.contains(v); });
        return !any || (!op.code->sums_rows && fits_rows(op));
    }
    // Those inputs have rows, and no others, of which the operator takes rows.
    bool fits_rows(Operator const& op) const {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            bool const takes_rows = (op.code->row_inputs >> std::min<std::size_t>(i, 31) & 1) != 0;
            if (rows.contains(op.inputs[i]) != takes_rows) return false;
        }
        return true;
    }

    void add_outputs(Operator const& op, bool is_once) {
        bool const any = std::ranges::any_of(op.inputs, [&](Variable const* v) { return rows.contains(v); });
        for (Variable const* v : op.outputs) {
            if (any && !op.code->sums_rows) rows.insert(v);
            if (!is_once) per_step.insert(v);
        }
    }

    void add_backward(Operator& op, bool after_the_loop) {
        bool const is_once = after_the_loop || (op.code->sums_rows && fits_rows(op));
        (is_once ? back_once : back_each).push_back(&op);
        add_outputs(op, is_once);
    }

    // Names are for messages: what belongs to the net outside gets its name there.
    void name_and_count(std::span<Operator* const> order) {
        for (auto& [v, name] : names_of(order)) {
            if (&v->scope() == scope && v->name().empty()) scope->set_name(*v, std::move(name), false);
        }
        for (auto const& v : scope->variables()) number.try_emplace(v.get(), number.size());
    }
};

}  // namespace rowan::inline v0::detail
