// rowan/op/detail/grouped_rows.hpp: checks and results of losses whose rows meet targets in groups.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/detail/target_groups.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0::detail {

/// The groups of x, without targets: its sequences of the last level, or its rows.
/// errors   ShapeError if x or w is no matrix, or their widths differ
template <class T>
TargetGroups<T> row_groups(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w) {
    static_assert(floating_element<T>, "rowan: losses need x and w of a floating-point type: convert them");
    x.check();
    check_rank("x", x.value(), 2);
    check_rank("w", w, 2);
    if (w.shape(1) != x.value().shape(1))
        throw ShapeError("w.shape()", shape_text(w.shape()), {"[any, ", x.value().shape(1), "], the width of x"});
    ElementLoops<Cpu>::check(exec, x.value(), w);
    TargetGroups<T> groups{};
    groups.groups = x.value().shape(0);
    groups.width = w.shape(1);
    groups.height = w.shape(0);
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
template <class T, class LabelOf>
std::tuple<Tensor<T>, Tensor<T>> target_losses(Cpu const& exec, TargetGroups<T> const& groups, std::size_t n,
                                               LabelOf const& label_of, LossOptions const& options) {
    auto losses = ElementLoops<Cpu>::template scratch<sum_t<T>>(exec, n);
    auto slopes = Tensor<T>::from_shape({groups.pairs().back()});
    TargetLosses::run(exec, groups, label_of, losses.data(), slopes.data());
    return {reduce<T>(exec, options.reduction, losses), std::move(slopes)};
}

/// The gradient of x, and one row for each target.
template <class T>
std::tuple<Tensor<T>, Tensor<T>> target_gradients(Cpu const& exec, TargetGroups<T> const& groups, LoDTensor<T> const& x,
                                                  Tensor<T> const& w, std::size_t targets, Tensor<T> const& saved,
                                                  Tensor<T> const& out_grad, LossOptions const& options) {
    std::size_t const n = x.value().shape(0), pairs = groups.pairs().back();
    check_reduced("out_grad", out_grad, options.reduction, n);
    if (saved.dimension() != 1 || saved.size() != pairs)
        throw ShapeError("saved.shape()", shape_text(saved.shape()), {"[", pairs, "]"});
    ElementLoops<Cpu>::check(exec, saved, out_grad);
    auto x_grad = Tensor<T>::from_shape(x.value().shape());
    auto rows = Tensor<T>::from_shape({targets, w.shape(1)});
    LossGrads<T> const grads{out_grad.data(), options.reduction, n};
    TargetLosses::backward(exec, groups, saved.data(), grads, x_grad.data(), rows.data());
    return {std::move(x_grad), std::move(rows)};
}

}  // namespace rowan::inline v0::detail
