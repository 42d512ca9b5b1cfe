// rowan/graph/detail/step_net_inl.hpp: definitions of rowan/graph/detail/step_net.hpp.
#pragma once

#include <rowan/graph/detail/step_net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/gradient_maker.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/static_input.hpp>

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

struct StepNet::Set : std::unordered_set<Variable const*> {};

struct StepNet::Known {
    std::vector<Operator*> marks;  // of the static inputs
    std::vector<Operator*> order;  // all others
    Set rows;                      // with a row for each sequence of the step
    Set of_a_step;                 // without such rows, and different for each step
    std::unordered_map<Variable const*, std::size_t> number;
    std::unordered_map<Variable const*, std::size_t> outer_number;  // of `outer`, and of the values of static inputs
    std::unordered_set<std::size_t> static_outer;                   // of `outer`, those read by sequences
};

ROWAN_CALLED_FUNCTION bool StepNet::has_rows(Variable const& v) const { return known_->rows.contains(&v); }
ROWAN_CALLED_FUNCTION bool StepNet::is_static(std::size_t k) const { return known_->static_outer.contains(k); }
ROWAN_CALLED_FUNCTION std::size_t StepNet::places() const { return known_->number.size(); }

ROWAN_CALLED_FUNCTION std::size_t StepNet::outer_of(Variable const& v) const {
    auto const found = known_->outer_number.find(&v);
    return found == known_->outer_number.end() ? outer.size() : found->second;
}

ROWAN_CALLED_FUNCTION bool StepNet::has_known_width(Variable const& v) { return v.spec().dims.product_from(1) != UNK; }

ROWAN_CALLED_FUNCTION void StepNet::build_backward(GradientKernels const& kernels) {
    if (out_grad != nullptr) return;
    try {
        make_backward(kernels);
    } catch (...) {
        out_grad = nullptr;
        outer_grads.clear();
        throw;
    }
}

ROWAN_CALLED_FUNCTION void StepNet::make_backward(GradientKernels const& kernels) {
    GradientMaker maker(kernels, *scope, "the result of a step");
    maker.want_of_type(*x);
    for (Memory const& m : memories) maker.want_of_type(*m.before);
    for (Variable const* v : outer) maker.want_of_type(*v);
    for (Static const& s : statics) maker.want_of_type(*s.value);
    maker.spread(known_->order);
    out_grad = new_gradient(*out);
    maker.add(*out, *out_grad);
    for (Memory& m : memories) {
        m.after_grad = new_gradient(*m.after);
        maker.add(*m.after, *m.after_grad);
    }
    std::size_t const first = scope->operators().size();
    for (std::size_t i = known_->order.size(); i-- > 0;) maker.differentiate(*known_->order[i]);
    for (Memory& m : memories) m.before_grad = maker.gradient(*m.before);
    for (Static& s : statics) s.grad = maker.gradient(*s.value);
    x_grad = maker.gradient(*x);
    for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
    Set stepwise;  // gradients of per-step values are per-step values, too
    for (Variable const* v : known_->of_a_step) {
        for (Variable const* g : maker.parts(*v)) add_summands(*g, stepwise);
    }
    finish_backward(first, stepwise);
}

ROWAN_CALLED_FUNCTION void StepNet::build() {
    known_ = std::make_unique<Known>();
    std::vector<Variable*> targets{out};
    for (Memory const& m : memories) targets.push_back(m.after);
    auto order = trace(targets, scope);
    for (Operator* const op : order) {
        for (Variable* const v : op->inputs) {
            if (&v->scope() != scope && known_->outer_number.try_emplace(v, outer.size()).second) outer.push_back(v);
        }
        if (!op->kernel->is<static_input_op>()) continue;
        if (&op->inputs[0]->scope() == scope)
            throw GraphError("layer::rnn: a static input is a variable of the step itself");
        known_->marks.push_back(op);
        std::size_t const from = known_->outer_number.at(op->inputs[0]);
        statics.push_back({op->outputs[0], from});
        known_->outer_number.emplace(op->outputs[0], from);
        known_->static_outer.insert(from);
    }
    std::erase_if(order, [](Operator const* op) { return op->kernel->is<static_input_op>(); });
    Set loop, needed;
    known_->rows.insert(x);
    for (Memory const& m : memories) {
        known_->rows.insert(m.before);
        loop.insert(m.before);
        needed.insert(m.after);
    }
    for (Static const& s : statics) {
        known_->rows.insert(s.value);
        loop.insert(s.value);
    }
    forward = phases(order, loop, needed, Set(), false);
    rows_apart = std::ranges::all_of(order, [&](Operator const* op) { return keeps_rows_apart(*op); });
    name_and_count(order);
    forward_places = known_->number.size();
}

ROWAN_CALLED_FUNCTION bool StepNet::has_unknown_width() const {
    return !has_known_width(*out) || std::ranges::any_of(memories, [](Memory const& m) {
        return !has_known_width(*m.before) || !has_known_width(*m.after);
    });
}

ROWAN_CALLED_FUNCTION Place StepNet::place(Variable const& v) const {
    if (&v.scope() != scope) return {Place::outside, known_->outer_number.at(&v)};
    return {known_->rows.contains(&v)        ? Place::rows
            : known_->of_a_step.contains(&v) ? Place::of_a_step
                                             : Place::whole,
            known_->number.at(&v)};
}

ROWAN_CALLED_FUNCTION Variable* StepNet::new_gradient(Variable const& of) {
    Variable& made = scope->new_var("", of.spec());
    known_->rows.insert(&made);
    return &made;
}

ROWAN_CALLED_FUNCTION void StepNet::finish_backward(std::size_t first, Set const& stepwise) {
    Set loop, needed;
    for (Memory const& m : memories) {
        loop.insert(m.after_grad);
        if (m.before_grad != nullptr) needed.insert(m.before_grad);
    }
    for (Static const& s : statics) {
        loop.insert(s.value);
        if (s.grad != nullptr) needed.insert(s.grad);
    }
    std::vector<Operator*> made;
    for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
    backward = phases(made, loop, needed, stepwise, true);
    auto order = known_->order;
    order.insert(order.end(), made.begin(), made.end());
    name_and_count(order);
}

ROWAN_CALLED_FUNCTION void StepNet::add_summands(Variable const& g, Set& all) {
    all.insert(&g);
    for (Operator const* op : g.writers()) {
        if (!op->kernel->is<sum_op>()) continue;
        for (Variable const* v : op->inputs) add_summands(*v, all);
    }
}

ROWAN_CALLED_FUNCTION Phases StepNet::phases(std::span<Operator* const> order, Set& loop, Set const& needed,
                                             Set const& stepwise, bool may_sum) {
    std::vector<Operator*> rest;
    Phases result;
    auto const in_loop = [&](Operator const& op) {
        return std::ranges::any_of(
                   op.inputs, [&](Variable const* v) { return loop.contains(v) || known_->of_a_step.contains(v); }) ||
               std::ranges::any_of(op.outputs, [&](Variable const* v) { return stepwise.contains(v); });
    };
    for (Operator* const op : order) {
        bool const any = reads_rows(*op);
        bool const once = !in_loop(*op) && (!any || fits(*op, may_sum));
        for (std::size_t i = 0; i < op->outputs.size(); ++i) {
            Variable const* const v = op->outputs[i];
            bool const fixed = !v->spec().dims.empty() && v->spec().dims[0] != UNK;  // as of a gradient of a weight
            if (any && !fixed && !sums_rows(*op) && op->kernel->row_output(op->attributes, i)) known_->rows.insert(v);
            if (!once) loop.insert(v);
        }
        if (once) {
            result.before.push_back({op, {}, {}});
        } else {
            rest.push_back(op);
        }
    }
    std::unordered_set<Operator const*> each;
    Set read;  // by operators that stay in the loop
    for (Operator* const op : rest | std::views::reverse) {
        auto const is = [&](auto const& set) {
            return std::ranges::any_of(op->outputs, [&](Variable const* v) { return set.contains(v); });
        };
        bool const reads_of_a_step = std::ranges::any_of(
            op->inputs, [&](Variable const* v) { return loop.contains(v) && !known_->rows.contains(v); });
        if (!is(needed) && !is(read) && !is(stepwise) && !reads_of_a_step && !reads_static(*op) && fits(*op, may_sum))
            continue;
        each.insert(op);
        read.insert(op->inputs.begin(), op->inputs.end());
    }
    for (Operator* const op : rest) {
        bool const stays = each.contains(op);
        (stays ? result.each : result.after).push_back({op, {}, {}});
        if (!stays) continue;
        for (Variable const* v : op->outputs) {
            if (!known_->rows.contains(v)) known_->of_a_step.insert(v);
        }
    }
    return result;
}

ROWAN_CALLED_FUNCTION bool StepNet::reads_rows(Operator const& op) const {
    return std::ranges::any_of(op.inputs, [&](Variable const* v) { return known_->rows.contains(v); });
}

ROWAN_CALLED_FUNCTION bool StepNet::reads_static(Operator const& op) const {
    return std::ranges::any_of(
        op.inputs, [&](Variable const* v) { return &v->scope() == scope && known_->outer_number.contains(v); });
}

ROWAN_CALLED_FUNCTION bool StepNet::keeps_rows_apart(Operator const& op) const {
    return !reads_rows(op) || (row_inputs(op) != 0 ? fits(op, false) : op.kernel->row_traits(op.attributes).row_wise);
}

ROWAN_CALLED_FUNCTION bool StepNet::fits(Operator const& op, bool may_sum) const {
    if (!may_sum && sums_rows(op)) return false;
    unsigned const rows = row_inputs(op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        bool const takes_rows = (rows >> std::min<std::size_t>(i, 31) & 1) != 0;
        if (known_->rows.contains(op.inputs[i]) != takes_rows || known_->of_a_step.contains(op.inputs[i])) return false;
    }
    return reads_rows(op);
}

ROWAN_CALLED_FUNCTION void StepNet::name_and_count(std::span<Operator* const> order) {
    known_->order.assign(order.begin(), order.end());
    auto named = known_->marks;
    named.insert(named.end(), order.begin(), order.end());
    auto names = name_inner_variables(named, *scope, outer);
    if (outer_names.empty()) outer_names = std::move(names);
    for (auto const& v : scope->variables()) known_->number.try_emplace(v.get(), known_->number.size());
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

}  // namespace rowan::inline v0::detail

#endif
