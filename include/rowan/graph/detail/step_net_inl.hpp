// rowan/graph/detail/step_net_inl.hpp: definitions of rowan/graph/detail/step_net.hpp.
#pragma once

#include <rowan/graph/detail/step_net.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/graph/detail/gradient_maker.hpp>

#include <algorithm>
#include <ranges>

namespace rowan::inline v0::detail {

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
    maker.spread(order_);
    out_grad = new_gradient(*out);
    maker.add(*out, *out_grad);
    for (Memory& m : memories) {
        m.after_grad = new_gradient(*m.after);
        maker.add(*m.after, *m.after_grad);
    }
    std::size_t const first = scope->operators().size();
    for (std::size_t i = order_.size(); i-- > 0;) maker.differentiate(*order_[i]);
    for (Memory& m : memories) m.before_grad = maker.gradient(*m.before);
    for (Static& s : statics) s.grad = maker.gradient(*s.value);
    x_grad = maker.gradient(*x);
    for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
    std::unordered_set<Variable const*> stepwise;  // gradients of per-step values are per-step values, too
    for (Variable const* v : of_a_step_) {
        for (Variable const* g : maker.parts(*v)) add_summands(*g, stepwise);
    }
    finish_backward(first, stepwise);
}

ROWAN_CALLED_FUNCTION void StepNet::build() {
    std::vector<Variable*> targets{out};
    for (Memory const& m : memories) targets.push_back(m.after);
    auto order = trace(targets, scope);
    for (Operator* const op : order) {
        for (Variable* const v : op->inputs) {
            if (&v->scope() != scope && outer_number_.try_emplace(v, outer.size()).second) outer.push_back(v);
        }
        if (!op->kernel->is<static_input_op>()) continue;
        if (&op->inputs[0]->scope() == scope)
            throw GraphError("layer::rnn: a static input is a variable of the step itself");
        marks_.push_back(op);
        std::size_t const from = outer_number_.at(op->inputs[0]);
        statics.push_back({op->outputs[0], from});
        outer_number_.emplace(op->outputs[0], from);
        static_outer_.insert(from);
    }
    std::erase_if(order, [](Operator const* op) { return op->kernel->is<static_input_op>(); });
    std::unordered_set<Variable const*> loop, needed;
    rows_.insert(x);
    for (Memory const& m : memories) {
        rows_.insert(m.before);
        loop.insert(m.before);
        needed.insert(m.after);
    }
    for (Static const& s : statics) {
        rows_.insert(s.value);
        loop.insert(s.value);
    }
    forward = phases(order, std::move(loop), std::move(needed), {}, false);
    rows_apart = std::ranges::all_of(order, [&](Operator const* op) { return keeps_rows_apart(*op); });
    name_and_count(order);
    forward_places = number_.size();
}

ROWAN_FUNCTION bool StepNet::has_unknown_width() const {
    return !has_known_width(*out) || std::ranges::any_of(memories, [](Memory const& m) {
        return !has_known_width(*m.before) || !has_known_width(*m.after);
    });
}

ROWAN_CALLED_FUNCTION Place StepNet::place(Variable const& v) const {
    if (&v.scope() != scope) return {Place::outside, outer_number_.at(&v)};
    return {rows_.contains(&v)        ? Place::rows
            : of_a_step_.contains(&v) ? Place::of_a_step
                                      : Place::whole,
            number_.at(&v)};
}

ROWAN_CALLED_FUNCTION Variable* StepNet::new_gradient(Variable const& of) {
    Variable& made = scope->new_var("", of.spec());
    rows_.insert(&made);
    return &made;
}

ROWAN_CALLED_FUNCTION void StepNet::finish_backward(std::size_t first,
                                                    std::unordered_set<Variable const*> const& stepwise) {
    std::unordered_set<Variable const*> loop, needed;
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
    backward = phases(made, std::move(loop), std::move(needed), stepwise, true);
    auto order = order_;
    order.insert(order.end(), made.begin(), made.end());
    name_and_count(order);
}

ROWAN_CALLED_FUNCTION void StepNet::add_summands(Variable const& g, std::unordered_set<Variable const*>& all) {
    all.insert(&g);
    for (Operator const* op : g.writers()) {
        if (!op->kernel->is<sum_op>()) continue;
        for (Variable const* v : op->inputs) add_summands(*v, all);
    }
}

ROWAN_CALLED_FUNCTION Phases StepNet::phases(std::span<Operator* const> order, std::unordered_set<Variable const*> loop,
                                             std::unordered_set<Variable const*> needed,
                                             std::unordered_set<Variable const*> const& stepwise, bool may_sum) {
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
            bool const fixed = !v->spec().dims.empty() && v->spec().dims[0] != UNK;  // as of a gradient of a weight
            if (any && !fixed && !sums_rows(*op) && op->kernel->row_output(op->attributes, i)) rows_.insert(v);
            if (!once) loop.insert(v);
        }
        if (once) {
            result.before.push_back({op, {}, {}});
        } else {
            rest.push_back(op);
        }
    }
    std::unordered_set<Operator const*> each;
    std::unordered_set<Variable const*> read;  // by operators that stay in the loop
    for (Operator* const op : rest | std::views::reverse) {
        auto const is = [&](auto const& set) {
            return std::ranges::any_of(op->outputs, [&](Variable const* v) { return set.contains(v); });
        };
        bool const reads_of_a_step =
            std::ranges::any_of(op->inputs, [&](Variable const* v) { return loop.contains(v) && !rows_.contains(v); });
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
            if (!rows_.contains(v)) of_a_step_.insert(v);
        }
    }
    return result;
}

ROWAN_CALLED_FUNCTION bool StepNet::reads_rows(Operator const& op) const {
    return std::ranges::any_of(op.inputs, [&](Variable const* v) { return rows_.contains(v); });
}

ROWAN_CALLED_FUNCTION bool StepNet::reads_static(Operator const& op) const {
    return std::ranges::any_of(op.inputs,
                               [&](Variable const* v) { return &v->scope() == scope && outer_number_.contains(v); });
}

ROWAN_FUNCTION bool StepNet::fits(Operator const& op, bool may_sum) const {
    if (!may_sum && sums_rows(op)) return false;
    unsigned const rows = row_inputs(op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        bool const takes_rows = (rows >> std::min<std::size_t>(i, 31) & 1) != 0;
        if (rows_.contains(op.inputs[i]) != takes_rows || of_a_step_.contains(op.inputs[i])) return false;
    }
    return reads_rows(op);
}

ROWAN_CALLED_FUNCTION void StepNet::name_and_count(std::span<Operator* const> order) {
    order_.assign(order.begin(), order.end());
    auto named = marks_;
    named.insert(named.end(), order.begin(), order.end());
    auto names = name_inner_variables(named, *scope, outer);
    if (outer_names.empty()) outer_names = std::move(names);
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

}  // namespace rowan::inline v0::detail

#endif
