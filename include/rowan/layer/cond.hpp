// rowan/layer/cond.hpp: layer::cond, layers that run only if a condition is true, and others that run otherwise.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/layer/detail/loop_type.hpp>
#include <rowan/layer/while_loop.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

struct CondBlock;

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class Device>
bool cond_holds(AnyExec exec, Value const& v) {
    return condition_holds<Device>(exec, v, "cond: the condition's size");
}
ROWAN_TEMPLATE(bool cond_holds<Cpu>(AnyExec, Value const&))

/// A condition whose branches are being built.
struct OpenCond {
    Scope& outside;
    std::shared_ptr<CondBlock> block;
    std::array<Scope*, 2> scopes;  // of the branches
};

/// Makes a block within `outside`, with an empty scope for each branch.
ROWAN_IF_CALLED OpenCond open_cond(Scope& outside, Variable& condition);

/// Sets the results of a branch.
ROWAN_IF_CALLED void end_branch(OpenCond& open, std::size_t branch, std::span<Variable* const> results);

/// Adds the operator once the results of both branches are set.
/// errors   TypeError or ShapeError unless both branches have results of the same kinds
ROWAN_IF_CALLED Operator& close_cond(OpenCond& open, Variable& condition, LoopType const& type,
                                     bool (*holds)(AnyExec, Value const&));

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Runs the layers of `then` if the condition is true, else those of `otherwise`, and returns their results. Both are
/// called once, to build their nets, and return a Var or an Array, or a tuple of these. Only the layers of one branch
/// run. The gradients of what only the other one reads are zeros; row-sparse ones have no rows.
///     auto warm = layer::less(layer::data<std::int64_t>("step", {1}), 1000);
///     auto y = layer::cond(warm, [&] { return layer::fc(x, {.output_size = 8}); },
///                          [&] { return layer::tanh(layer::fc(x, {.output_size = 8})); });
/// A branch may return a variable from outside; the result is then an alias of its value, not a copy.
/// In a loop, the condition may depend on the states. In the step of a recurrent layer, there is one condition for all
/// sequences of the step; for one of each row, see layer::if_else. Gradients have the element type of the first result
/// with a non-integer type.
/// shapes   condition [1]; the results as those of the branches, with UNK for dims that differ
/// errors   TypeError or ShapeError if the results differ in kind, element type, rank or levels; when the net runs,
///          ShapeError if the condition does not have exactly one element
/// cost     that of the layers of the branch that runs; on a device, a synchronization
template <class Device, class Then, class Otherwise>
auto cond(Var<bool, Device> const& condition, Then const& then, Otherwise const& otherwise) {
    namespace d = rowan::detail;
    auto open = d::open_cond(default_scope(), *condition);
    d::WithdrawnScope refused[]{{open.scopes[0]}, {open.scopes[1]}};
    auto const build = [&](std::size_t b, auto const& branch) {
        ScopeGuard const guard(*open.scopes[b]);
        auto const results = d::states_of(branch());
        d::end_branch(open, b, d::variables_of(results));
        return results;
    };
    auto const results = build(0, then);
    static_assert(std::is_same_v<decltype(results), decltype(build(1, otherwise)) const>,
                  "rowan::layer::cond: both branches must return as many results, of the same types");
    build(1, otherwise);
    return [&]<class... V>(std::type_identity<std::tuple<V...> const>) {
        static_assert(sizeof...(V) > 0 && (d::loop_state<V>::value && ...),
                      "rowan::layer::cond: a branch returns a layer::Var, a layer::Array or a std::tuple of these");
        using R = typename d::gradient_element<typename d::loop_state<V>::element...>::type;
        Operator const& op = d::close_cond(open, *condition, d::LoopType::of<R, Device>(), &d::cond_holds<Device>);
        for (auto& scope : refused) scope.scope = nullptr;
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(then())>, std::tuple<V...>>) {
            return [&]<std::size_t... k>(std::index_sequence<k...>) { return std::tuple<V...>{V(*op.outputs[k])...}; }
            (std::index_sequence_for<V...>{});
        } else {
            return (V(*op.outputs[0]), ...);
        }
    }(std::type_identity<decltype(results)>{});
}

// A mistake, which does not compile.
template <class T, class Device, class Then, class Otherwise>
requires(!std::is_same_v<T, bool>) auto cond(Var<T, Device> const& condition, Then const&, Otherwise const&) {
    static_assert(std::is_same_v<T, bool>,
                  "rowan::layer::cond: the condition is a Var<bool>: compare, as in layer::greater(x, 0)");
    return condition;
}

}  // namespace rowan::inline v0::layer

#include <rowan/layer/cond_inl.hpp>
