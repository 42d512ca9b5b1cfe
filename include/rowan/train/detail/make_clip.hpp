// rowan/train/detail/make_clip.hpp: make_clip, clippings by operators whose functions are known here.
#pragma once

#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op/detail/lists.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/train/detail/update_kinds.hpp>
#include <rowan/train/gradient_clip.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class C>
struct CanMakeClips {};

/// Whether an operator that clips gradients together has the steps of one gradient, merged if it is row-sparse:
/// `measure` returns a number, which may have a type of its own, and `scaled` multiplies by what `factor` makes of the
/// sum of these numbers.
template <class Op>
concept clips_mixed_types = requires(attributes_of<Op> const& a, Tensor<float> const& x) {
    Op::check(a);
    { Op::scaled(Cpu(), x, Op::factor(Op::measure(Cpu(), x), a)) } -> std::same_as<Tensor<float>>;
};

/// `Op` for gradients whose element types are among T. The order of sums is that of `Op`: dense gradients in order,
/// then row-sparse ones.
template <class Op, class Device, class... T>
struct clip_mixed_types : whole_op {
    static constexpr std::string_view name = Op::name;
    using inputs = typename Op::inputs;
    using outputs = typename Op::outputs;

    static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {in.begin(), in.end()}; }

    static void run(KernelCall const& c) {
        Device const exec = c.exec.get<Device>();
        auto const& options = c.attributes.get<attributes_of<Op>>();
        Op::check(options);
        for (std::size_t i = 0; i < c.in.size(); ++i) {
            auto const check = [&](auto const& x) { check_gradient("x", i, x); };
            ((visit_dense<T>(*c.in[i], check) || visit_sparse<T>(*c.in[i], check)) || ...);
        }
        decltype(Op::measure(exec, std::declval<Tensor<float, Device> const&>())) measured{};
        for (Value* const v : c.in) {
            if (!(visit_dense<T>(*v, [&](auto const& x) { measured += Op::measure(exec, x); }) || ...) &&
                !(v->template is<SelectedRows<T, Device>>() || ...))
                no_kernel(name, c.in);
        }
        std::vector<Value> merged(c.in.size());  // of the row-sparse gradients
        for (std::size_t i = 0; i < c.in.size(); ++i) {
            auto const merge_and_measure = [&](auto const& x) {
                auto rows = x.merged() ? x.share() : merge(exec, x);
                measured += Op::measure(exec, rows);
                merged[i].set(std::move(rows));
            };
            (visit_sparse<T>(*c.in[i], merge_and_measure) || ...);
        }
        auto const factor = Op::factor(measured, options);
        Results const to{c.in, c.out};
        for (std::size_t i = 0; i < c.in.size(); ++i) {
            auto const scale = [&](auto const& x) { to.store(i, Op::scaled(exec, x, factor)); };
            ((visit_dense<T>(*c.in[i], scale) || visit_sparse<T>(merged[i], scale)) || ...);
        }
    }

private:
    template <class E, class F>
    static bool visit_dense(Value const& v, F const& f) {
        if (!v.is<LoDTensor<E, Device>>()) return false;
        f(v.get<LoDTensor<E, Device>>().value());
        return true;
    }
    template <class E, class F>
    static bool visit_sparse(Value const& v, F const& f) {
        if (!v.is<SelectedRows<E, Device>>()) return false;
        f(v.get<SelectedRows<E, Device>>());
        return true;
    }
};

template <class Device, class C, class... T>
AnyGradientClip make_clip(C const& c, dtypes<T...>) {
    using Op = typename C::op;
    auto kinds = std::make_shared<ClipKinds>();
    kinds->name = declaration_of<Op>::name;
    kinds->types = dtype_list<T...>();
    kinds->values = option_values(c);
    (kinds->of_one.push_back({dtype<T>::wire,
                              [c](Scope& scope, std::vector<Variable*> g) {
                                  return scope.new_op<Op, Device, T>(std::move(g), operator_options(c)).outputs;
                              }}),
     ...);
    if constexpr (clips_mixed_types<Op>) {
        kinds->mixed = [c](Scope& scope, std::vector<Variable*> g) {
            return scope
                .new_op(whole_kernel<clip_mixed_types<Op, Device, T...>>::value, std::move(g),
                        owned(operator_options(c)))
                .outputs;
        };
    }
    if constexpr (requires { C::together; }) kinds->together = C::together;
    return AnyGradientClip(std::move(kinds));
}

ROWAN_TEMPLATE(AnyGradientClip make_clip<Cpu>(layer::ClipByValue const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyGradientClip make_clip<Cpu>(layer::ClipByNorm const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyGradientClip make_clip<Cpu>(layer::ClipByGlobalNorm const&, dtypes<float, double, bfloat16>))

}  // namespace rowan::inline v0::detail
