// rowan/graph/detail/loop_net_inl.hpp: definitions of rowan/graph/detail/loop_net.hpp.
#pragma once

#include <rowan/graph/detail/loop_net.hpp>

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

struct LoopNet::Numbers {
    std::unordered_map<Variable const*, std::size_t> all, outer;
    std::size_t forward = 0;  // of those that are not of the backward pass
};

ROWAN_CALLED_FUNCTION std::size_t LoopNet::forward_places() const { return numbers_->forward; }
ROWAN_CALLED_FUNCTION std::size_t LoopNet::backward_places() const {
    return numbers_->all.size() - numbers_->forward;
}

ROWAN_CALLED_FUNCTION bool LoopNet::is_sparse(std::size_t k) const { return all_row_sparse(outer_grads[k]); }

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::build_backward(GradientKernels const& kernels) {
    if (has_backward) return;
    try {
        make_backward(kernels);
    } catch (...) {
        for (State& s : states) s.after_grad = s.before_grad = nullptr;
        outer_grads.clear();
        throw;
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::make_backward(GradientKernels const& kernels) {
    GradientMaker maker(kernels, *scope, "the state of a loop");
    for (State const& s : states) maker.want_of_type(*s.before);
    for (Variable const* v : outer) maker.want_of_type(*v);
    maker.spread(order_);
    for (State& s : states) {
        if (!maker.wants(*s.after)) continue;
        s.after_grad = &scope->new_var("", s.after->spec());
        maker.add(*s.after, *s.after_grad);
    }
    std::size_t const first = scope->operators().size();
    for (std::size_t i = order_.size(); i-- > 0;) maker.differentiate(*order_[i]);
    for (State& s : states) s.before_grad = maker.gradient(*s.before);
    for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
    finish_backward(first);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::build() {
    numbers_ = std::make_unique<Numbers>();
    std::vector<Variable*> targets{condition};
    std::size_t const first = trace(targets, scope).size();
    for (State const& s : states) targets.push_back(s.after);
    order_ = trace(targets, scope);
    for (Operator* const op : order_) {
        if (op->kernel->is<static_input_op>())
            throw GraphError(
                "layer::static_input is called in a loop or a branch: call it before that, in the step of the "
                "recurrent layer");
        for (Variable* const v : op->inputs) add_outer(*v);
    }
    for (Variable* const v : targets) add_outer(*v);
    name_and_count(order_);
    numbers_->forward = numbers_->all.size();
    for (std::size_t i = 0; i < order_.size(); ++i) (i < first ? conditions : body).push_back(places_of(*order_[i]));
    find_uses();
}

ROWAN_CALLED_FUNCTION LoopNet::Place LoopNet::place(Variable const& v) const {
    if (&v.scope() != scope) return {Place::outside, numbers_->outer.at(&v)};
    std::size_t const n = numbers_->all.at(&v);
    return n < numbers_->forward ? Place{Place::forward, n} : Place{Place::backward, n - numbers_->forward};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::finish_backward(std::size_t first) {
    std::vector<Operator*> made;
    for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
    auto order = order_;
    order.insert(order.end(), made.begin(), made.end());
    name_and_count(order);
    for (Operator const* op : made) back.push_back(places_of(*op));
    has_backward = true;
    find_uses();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::add_outer(Variable& v) {
    if (&v.scope() != scope && numbers_->outer.try_emplace(&v, outer.size()).second) outer.push_back(&v);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::name_and_count(std::span<Operator* const> order) {
    auto names = name_inner_variables(order, *scope, outer);
    if (outer_names.empty()) outer_names = std::move(names);
    for (auto const& v : scope->variables()) numbers_->all.try_emplace(v.get(), numbers_->all.size());
}

ROWAN_CALLED_FUNCTION ROWAN_RARE LoopNet::Op LoopNet::places_of(Operator const& op) const {
    Op made{.op = &op, .in = {}, .out = {}, .dies = {}};
    for (Variable const* v : op.inputs) made.in.push_back(place(*v));
    for (Variable const* v : op.outputs) made.out.push_back(place(*v));
    return made;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void LoopNet::find_uses() {
    auto const keep = [](std::unordered_set<std::size_t>& to, Place const& p, Place::Kind kind) {
        if (p.kind == kind) to.insert(p.number);
    };
    std::unordered_set<std::size_t> kept;        // forward values that the backward pass reads
    std::unordered_map<std::size_t, int> reads;  // how often each backward value is read
    for (Op const& op : back) {
        for (Place const& p : op.in) {
            keep(kept, p, Place::forward);
            if (p.kind == Place::backward) ++reads[p.number];
        }
    }
    std::unordered_set<std::size_t> results;
    for (State const& s : states) {
        if (s.after_grad != nullptr && s.before_grad == nullptr) keep(kept, place(*s.before), Place::forward);
        if (s.before_grad != nullptr) keep(results, place(*s.before_grad), Place::backward);
    }
    for (auto const& parts : outer_grads) {
        for (Variable const* v : parts) keep(results, place(*v), Place::backward);
    }
    for (Op& op : back) {
        Place const first = op.in.empty() ? Place{} : op.in[0];
        op.in_place = op.op->kernel->in_place && first.kind == Place::backward && reads[first.number] == 1 &&
                      !results.contains(first.number);
    }
    std::unordered_map<Variable const*, int> uses;  // as the next value of a state
    for (State const& s : states) ++uses[s.after];
    for (State& s : states) {
        Place const p = place(*s.after);
        s.moves = p.kind == Place::forward && !kept.contains(p.number) && uses[s.after] == 1;
    }
    auto live = kept;
    keep(live, place(*condition), Place::forward);
    for (State const& s : states) keep(live, place(*s.after), Place::forward);
    for (auto* ops : {&body, &conditions}) {
        for (Op& op : *ops | std::views::reverse) {
            op.dies.clear();
            for (auto const* places : {&op.out, &op.in}) {
                for (Place const& p : *places) {
                    if (p.kind == Place::forward && live.insert(p.number).second) op.dies.push_back(p.number);
                }
            }
            op.in_place = op.op->kernel->in_place && op.in[0].kind == Place::forward &&
                          std::ranges::find(op.dies, op.in[0].number) != op.dies.end() &&
                          std::ranges::count(op.op->inputs, op.op->inputs[0]) == 1;
        }
    }
}

}  // namespace rowan::inline v0::detail

#endif
