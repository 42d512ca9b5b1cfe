// rowan/layer/cond.hpp: layer::cond, layers that run only if a condition is true, and others that run otherwise.
#pragma once

#include <rowan/graph/cond.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A block with an empty scope within `outside` for each branch.
std::shared_ptr<CondBlock> begin_cond(Scope& outside, Variable& condition);

/// Sets the results of a branch.
void end_branch(CondBlock::Branch& branch, std::span<Variable* const> results);

/// Throws unless both branches have results of the same kinds; finds what they read. Returns the operator's inputs.
std::vector<Variable*> finish_branches(CondBlock& block, Variable& condition);

/// The names that the outer variables have in the branches: "then.fc_0.w_0".
std::vector<std::string> names_in(CondBlock const& block);

/// Adds the operator once the results of both branches are set. Gradients have elements of R.
template <class R, class Device>
Operator& finish_cond(Scope& outside, std::shared_ptr<CondBlock> const& block, Variable& condition) {
    auto inputs = finish_branches(*block, condition);
    block->gradient_dtype = dtype<R>::wire;
    block->kernels = LoopKernels::of<R, Device>();
    block->holds = [](AnyExec exec, Value const& v) {
        auto const& flag = v.get<LoDTensor<bool, Device>>().value();
        if (flag.size() != 1) throw ShapeError("cond: the condition's size", std::to_string(flag.size()), "1");
        return first_element(exec.get<Device>(), flag);
    };
    Operator& op = outside.new_op(cond_kernel, std::move(inputs), block);
    op.inner_names = names_in(*block);
    op.build_backward = [block = block.get()] {
        for (auto& branch : block->branches) branch.net.build_backward(rowan::detail::gradient_kernels<R, Device>());
    };
    return op;
}

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
    Scope& outside = default_scope();
    auto const block = d::begin_cond(outside, *condition);
    d::WithdrawnScope refused[]{{block->branches[0].scope.get()}, {block->branches[1].scope.get()}};
    auto const build = [&](std::size_t b, auto const& branch) {
        ScopeGuard const guard(*block->branches[b].scope);
        auto const results = d::as_tuple(branch());
        d::end_branch(block->branches[b],
                      std::apply([](auto const&... v) { return std::vector<Variable*>{&*v...}; }, results));
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
        Operator& op = d::finish_cond<R, Device>(outside, block, *condition);
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
