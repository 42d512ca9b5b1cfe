// rowan/graph/detail/step_net.hpp: StepNet, the operators of one step of a recurrent layer and of its backward pass.
#pragma once

#include <rowan/graph/detail/gradient_kernels.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// Where the value of a variable is stored.
struct Place {
    enum Kind : unsigned char {
        outside,   // an outer variable, which the step reads as a whole
        whole,     // one value for all steps
        rows,      // a row for each sequence that has the step: stored per step, or for all steps in step order
        of_a_step  // one value per step
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

/// The operators of a step. For every sequence that has the step, it reads an element of x and the previous states; it
/// reads outer variables as a whole. Row-wise operators that do not depend on the states, or on which the next states
/// do not depend, run once for all steps. In the backward pass, so do operators that sum over rows.
struct StepNet {
    struct Memory {
        Variable *before, *after;  // `after` of a step is `before` of the next one
        Variable *after_grad = nullptr, *before_grad = nullptr;
    };
    struct Static {
        Variable* value;           // of the sequences that have the step
        std::size_t from;          // the index in `outer`
        Variable* grad = nullptr;  // of the value of a step
    };

    Scope* scope = nullptr;                 // owns the step's variables
    Variable *x = nullptr, *out = nullptr;  // the input and the output of a step
    std::vector<Memory> memories;
    std::vector<Static> statics;
    std::vector<Variable*> outer;          // variables of outer scopes that it reads, including parameters
    std::vector<std::string> outer_names;  // in the net of the step
    bool rows_apart = true;                // no operator combines several sequences of a step
    Phases forward;

    // The backward pass, if it was requested.
    Variable *out_grad = nullptr, *x_grad = nullptr;
    Phases backward;
    std::vector<std::vector<Variable*>> outer_grads;  // the summands of the gradient of each of `outer`

    /// Finds the operators and the outer variables that they read.
    /// errors   GraphError if there is a cycle
    ROWAN_IF_CALLED void build();

    ROWAN_IF_CALLED bool has_rows(Variable const& v) const;

    /// Whether a step reads outer variable k by sequences.
    ROWAN_IF_CALLED bool is_static(std::size_t k) const;

    /// The index in `outer` of what the step reads as `v`, as a whole or by sequences, or outer.size().
    ROWAN_IF_CALLED std::size_t outer_of(Variable const& v) const;

    /// Whether the specs tell the size of a row.
    ROWAN_IF_CALLED static bool has_known_width(Variable const& v);

    /// Whether only a run tells the width of the output or of a state.
    ROWAN_IF_CALLED bool has_unknown_width() const;

    /// The place of a variable of the step or of `outer`.
    ROWAN_IF_CALLED Place place(Variable const& v) const;
    ROWAN_IF_CALLED std::size_t places() const;
    std::size_t forward_places = 0;  // numbers from here on belong to the backward pass

    /// Creates the operators of the backward pass.
    /// errors   GraphError if an operator on the path has no gradient
    ROWAN_IF_CALLED void build_backward(GradientKernels const& kernels);

private:
    struct Set;    // of variables
    struct Known;  // what is known of variables

    ROWAN_IF_CALLED void make_backward(GradientKernels const& kernels);

    // Creates a gradient variable that has a row for each sequence of the step.
    ROWAN_IF_CALLED Variable* new_gradient(Variable const& of);

    // The operators of the scope from index `first` on are those of the backward pass.
    ROWAN_IF_CALLED void finish_backward(std::size_t first, Set const& stepwise);

    ROWAN_IF_CALLED static void add_summands(Variable const& g, Set& all);

    // `loop`: values that are not available before the loop. `needed`: values that the next step needs. `stepwise`:
    // values that must be computed step by step. `may_sum`: whether sums over rows may run for all steps at once.
    ROWAN_IF_CALLED Phases phases(std::span<Operator* const> order, Set& loop, Set const& needed, Set const& stepwise,
                                  bool may_sum);

    ROWAN_IF_CALLED bool reads_rows(Operator const& op) const;
    ROWAN_IF_CALLED bool reads_static(Operator const& op) const;
    ROWAN_IF_CALLED bool keeps_rows_apart(Operator const& op) const;

    // Whether it computes rows from rows, or sums over rows if `may_sum`, and so can run once for all steps.
    ROWAN_IF_CALLED bool fits(Operator const& op, bool may_sum) const;

    // Names variables, for messages, numbers them, and finds the places of all operators' inputs and outputs.
    ROWAN_IF_CALLED void name_and_count(std::span<Operator* const> order);

    std::unique_ptr<Known> known_;  // build makes it
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/step_net_inl.hpp>
