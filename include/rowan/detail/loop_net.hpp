// rowan/detail/loop_net.hpp: LoopNet, the operators of an iteration of a loop and of its backward pass.
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

/// The operators of one iteration, forward and backward, and where their values stand.
class LoopNet {
public:
    struct Place {
        enum Kind : unsigned char { outside, forward, backward };
        Kind kind;
        std::size_t number;
    };
    struct Op {
        Operator const* op;
        std::vector<Place> in, out;
        std::vector<std::size_t> dies;  // forward values that nothing needs after it
        bool in_place = false;
    };
    struct State {
        Variable *before, *after;
        Variable *after_grad = nullptr, *before_grad = nullptr;
        bool moves = false;  // does nothing else need the state after an iteration?
        bool is_dense() const { return before->spec().type == VarType::LOD_TENSOR; }
    };

    Scope* scope = nullptr;
    Variable* condition = nullptr;
    std::vector<State> states;
    std::vector<Variable*> outer;  // what an iteration reads from outside
    std::vector<Op> conditions, body, back;
    std::vector<std::vector<Variable*>> outer_grads;  // what reaches each of `outer`
    bool has_backward = false;

    void build() {
        std::vector<Variable*> targets{condition};
        std::size_t const first = trace(targets, scope).size();
        for (State const& s : states) targets.push_back(s.after);
        order_ = trace(targets, scope);
        for (Operator* const op : order_) {
            for (Variable* const v : op->inputs) add_outer(*v);
        }
        for (Variable* const v : targets) add_outer(*v);
        name_and_count(order_);
        forward_ = number_.size();
        for (std::size_t i = 0; i < order_.size(); ++i)
            (i < first ? conditions : body).push_back(places_of(*order_[i]));
        find_uses();
    }

    /// Gradients have elements of T.
    /// errors   GraphError if an operator on the way has no gradient
    template <class T, class Device>
    void build_backward() {
        if (has_backward) return;
        try {
            make_backward<T, Device>();
        } catch (...) {
            for (State& s : states) s.after_grad = s.before_grad = nullptr;
            outer_grads.clear();
            throw;
        }
    }

    Place place(Variable const& v) const {
        if (&v.scope() != scope)
            return {Place::outside, static_cast<std::size_t>(std::ranges::find(outer, &v) - outer.begin())};
        std::size_t const n = number_.at(&v);
        return n < forward_ ? Place{Place::forward, n} : Place{Place::backward, n - forward_};
    }
    std::size_t forward_places() const { return forward_; }
    std::size_t backward_places() const { return number_.size() - forward_; }

    bool is_sparse(std::size_t k) const { return all_row_sparse(outer_grads[k]); }

private:
    template <class T, class Device>
    void make_backward() {
        GradientMaker<T, Device> maker(*scope, "the state of a loop");
        auto const want = [&](Variable const& v) {
            if (v.spec().dtype == dtype<T>::wire) maker.want(v);
        };
        for (State const& s : states) want(*s.before);
        for (Variable const* v : outer) want(*v);
        maker.spread(order_);
        for (State& s : states) {
            if (!maker.wants(*s.after)) continue;
            s.after_grad = &scope->new_var("", s.after->spec());
            maker.add(*s.after, *s.after_grad);
        }
        std::size_t const first = scope->operators().size();
        for (Operator* const op : order_ | std::views::reverse) maker.differentiate(*op);
        for (State& s : states) s.before_grad = maker.gradient(*s.before);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        std::vector<Operator*> made;
        for (auto const& op : scope->operators().subspan(first)) made.push_back(op.get());
        auto order = order_;
        order.insert(order.end(), made.begin(), made.end());
        name_and_count(order);
        for (Operator const* op : made) back.push_back(places_of(*op));
        has_backward = true;
        find_uses();
    }

    void add_outer(Variable& v) {
        if (&v.scope() != scope && std::ranges::find(outer, &v) == outer.end()) outer.push_back(&v);
    }

    void name_and_count(std::span<Operator* const> order) {
        name_inner_variables(order, *scope);
        for (auto const& v : scope->variables()) number_.try_emplace(v.get(), number_.size());
    }

    Op places_of(Operator const& op) const {
        Op made{&op, {}, {}, {}, false};
        for (Variable const* v : op.inputs) made.in.push_back(place(*v));
        for (Variable const* v : op.outputs) made.out.push_back(place(*v));
        return made;
    }

    // After which operator of an iteration each value goes, and which operators may put their result in the place of what they read.
    void find_uses() {
        auto const keep = [](std::unordered_set<std::size_t>& to, Place const& p, Place::Kind kind) {
            if (p.kind == kind) to.insert(p.number);
        };
        std::unordered_set<std::size_t> kept;        // for the backward pass
        std::unordered_map<std::size_t, int> reads;  // of what the backward pass makes
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
            op.in_place = op.op->code->in_place && first.kind == Place::backward && reads[first.number] == 1 &&
                          !results.contains(first.number);
        }
        for (State& s : states) {
            Place const p = place(*s.after);
            s.moves = p.kind == Place::forward && !kept.contains(p.number) &&
                      std::ranges::count(states, s.after, &State::after) == 1;
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
                op.in_place = op.op->code->in_place && op.in[0].kind == Place::forward &&
                              std::ranges::find(op.dies, op.in[0].number) != op.dies.end() &&
                              std::ranges::count(op.op->inputs, op.op->inputs[0]) == 1;
            }
        }
    }

    std::vector<Operator*> order_;
    std::unordered_map<Variable const*, std::size_t> number_;
    std::size_t forward_ = 0;
};

}  // namespace rowan::inline v0::detail
