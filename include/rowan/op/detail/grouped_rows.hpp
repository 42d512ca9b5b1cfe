// rowan/op/detail/grouped_rows.hpp: checks and results of losses whose rows meet targets in groups.
#pragma once

#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/detail/target_groups.hpp>
#include <rowan/op/loss/loss_options.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0::detail {

/// The groups of x, without targets: its sequences of the last level, or its rows.
/// errors   ShapeError if x or w is no matrix, or their widths differ
template <class I, class T, class D>
TargetGroups<T, I> row_groups(D const& exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w) {
    static_assert(floating_element<T>, "rowan: losses need x and w of a floating-point type: convert them");
    x.check();
    check_rank("x", x.value(), 2);
    check_rank("w", w, 2);
    if (w.shape(1) != x.value().shape(1))
        throw ShapeError("w.shape()", shape_text(w.shape()),
                         "[any, " + std::to_string(x.value().shape(1)) + "], the width of x");
    ElementLoops<D>::check(exec, x.value(), w);
    TargetGroups<T, I> groups{};
    groups.groups = x.value().shape(0);
    groups.width = w.shape(1);
    groups.x = x.value().data();
    groups.w = w.data();
    if (std::size_t const levels = x.lod().levels(); levels != 0) {
        auto const last = x.lod()[levels - 1];
        groups.groups = last.size() - 1;
        groups.rows = last.data();
    }
    return groups;
}

/// The losses of n rows, reduced, and the slopes of all pairs.
template <class D, class T, class I, class LabelOf>
std::tuple<Tensor<T, D>, Tensor<T, D>> target_losses(D const& exec, TargetGroups<T, I> const& groups, std::size_t n,
                                                     LabelOf const& label_of, LossOptions const& options) {
    auto losses = ElementLoops<D>::template scratch<sum_t<T>>(exec, n);
    auto slopes = new_tensor<T>(exec, {groups.pairs().back()});
    TargetLosses<D>::run(exec, groups, label_of, losses.data(), slopes.data());
    return {reduce<T>(exec, options.reduction, losses), std::move(slopes)};
}

/// The gradient of x, and one row for each target.
template <class D, class T, class I>
std::tuple<Tensor<T, D>, Tensor<T, D>> target_gradients(D const& exec, TargetGroups<T, I> const& groups,
                                                        LoDTensor<T, D> const& x, Tensor<T, D> const& w,
                                                        std::size_t targets, Tensor<T, D> const& saved,
                                                        Tensor<T, D> const& out_grad, LossOptions const& options) {
    std::size_t const n = x.value().shape(0), pairs = groups.pairs().back();
    check_reduced("out_grad", out_grad, options.reduction, n);
    if (saved.dimension() != 1 || saved.size() != pairs)
        throw ShapeError("saved.shape()", shape_text(saved.shape()), "[" + std::to_string(pairs) + "]");
    ElementLoops<D>::check(exec, saved, out_grad);
    auto x_grad = new_tensor<T>(exec, x.value().shape());
    auto rows = new_tensor<T>(exec, {targets, w.shape(1)});
    LossGrads<T> const grads{out_grad.data(), options.reduction, n};
    TargetLosses<D>::backward(exec, groups, saved.data(), grads, x_grad.data(), rows.data());
    return {std::move(x_grad), std::move(rows)};
}

}  // namespace rowan::inline v0::detail
