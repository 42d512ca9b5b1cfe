// rowan/graph/detail/step_net.hpp: StepNet, the operators of one step of a recurrent layer and of its backward pass.
#pragma once

#include <rowan/graph/detail/gradient_maker.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
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
    void build();

    bool has_rows(Variable const& v) const { return rows_.contains(&v); }

    /// The place of a variable of the step or outside of it.
    Place place(Variable const& v) const;
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
        out_grad = new_gradient(*out);
        maker.add(*out, *out_grad);
        for (Memory& m : memories) {
            m.after_grad = new_gradient(*m.after);
            maker.add(*m.after, *m.after_grad);
        }
        std::size_t const first = operators();
        for (std::size_t i = order_.size(); i-- > 0;) maker.differentiate(*order_[i]);
        for (Memory& m : memories) m.before_grad = maker.gradient(*m.before);
        x_grad = maker.gradient(*x);
        for (Variable* const v : outer) outer_grads.push_back(maker.parts(*v));
        std::unordered_set<Variable const*> stepwise;  // gradients of what belongs to a step belong to it, too
        for (Variable const* v : of_a_step_) {
            for (Variable const* g : maker.parts(*const_cast<Variable*>(v))) add_summands(*g, stepwise);
        }
        finish_backward(first, stepwise);
    }

    // A gradient that has a row for each sequence of the step.
    Variable* new_gradient(Variable const& of);

    // How many the scope has.
    std::size_t operators() const;

    // From operator number `first` of the scope on they are those of the backward pass.
    void finish_backward(std::size_t first, std::unordered_set<Variable const*> const& stepwise);

    static void add_summands(Variable const& g, std::unordered_set<Variable const*>& all);

    // `loop`: what is not there before the loop. `needed`: what the next step needs. `stepwise`: what is wanted step by step.
    Phases phases(std::span<Operator* const> order, std::unordered_set<Variable const*> loop,
                  std::unordered_set<Variable const*> needed, std::unordered_set<Variable const*> const& stepwise,
                  bool may_sum);

    bool reads_rows(Operator const& op) const;

    bool keeps_rows_apart(Operator const& op) const {
        return !reads_rows(op) || (op.kernel->row_inputs != 0 ? fits(op, false) : op.kernel->row_wise(op.attributes.get()));
    }

    // Does it compute rows from rows, or sums over them, so that it may do so for all steps at once?
    bool fits(Operator const& op, bool may_sum) const;

    // Names are for messages.
    void name_and_count(std::span<Operator* const> order);

    std::vector<Operator*> order_;
    std::unordered_set<Variable const*> rows_;       // have a row for each sequence of the step
    std::unordered_set<Variable const*> of_a_step_;  // have none, and differ from step to step
    std::unordered_map<Variable const*, std::size_t> number_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/step_net_inl.hpp>
