// rowan/graph/detail/loop_net.hpp: LoopNet, the operators of an iteration of a loop and of its backward pass.
#pragma once

#include <rowan/graph/detail/gradient_kernels.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// The operators of one iteration, forward and backward, and the places of their values.
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
        std::vector<std::size_t> dies;  // forward values that are not needed after it
        bool in_place = false;
    };
    struct State {
        Variable *before, *after;
        Variable *after_grad = nullptr, *before_grad = nullptr;
        bool moves = false;  // nothing else needs the state after an iteration, so it is moved
        bool is_dense() const { return before->spec().type == VarType::LOD_TENSOR; }
    };

    Scope* scope = nullptr;
    Variable* condition = nullptr;
    std::vector<State> states;
    std::vector<Variable*> outer;          // variables of outer scopes that an iteration reads
    std::vector<std::string> outer_names;  // in the net of the iteration
    std::vector<Op> conditions, body, back;
    std::vector<std::vector<Variable*>> outer_grads;  // the summands of the gradient of each of `outer`
    bool has_backward = false;

    ROWAN_IF_CALLED void build();

    /// Creates the operators of the backward pass.
    /// errors   GraphError if an operator on the path has no gradient
    ROWAN_IF_CALLED void build_backward(GradientKernels const& kernels);

    ROWAN_IF_CALLED Place place(Variable const& v) const;
    ROWAN_IF_CALLED std::size_t forward_places() const;
    ROWAN_IF_CALLED std::size_t backward_places() const;

    ROWAN_IF_CALLED bool is_sparse(std::size_t k) const;

private:
    ROWAN_IF_CALLED void make_backward(GradientKernels const& kernels);

    // The operators of the scope from index `first` on are those of the backward pass.
    ROWAN_IF_CALLED void finish_backward(std::size_t first);

    ROWAN_IF_CALLED void add_outer(Variable& v);

    ROWAN_IF_CALLED void name_and_count(std::span<Operator* const> order);

    ROWAN_IF_CALLED Op places_of(Operator const& op) const;

    // Finds after which operator each value can be cleared, and which operators may run in place.
    ROWAN_IF_CALLED void find_uses();

    struct Numbers;

    std::vector<Operator*> order_;
    std::unique_ptr<Numbers> numbers_;  // of variables; build makes them
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/loop_net_inl.hpp>
