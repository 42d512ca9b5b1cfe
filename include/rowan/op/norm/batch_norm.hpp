// rowan/op/norm/batch_norm.hpp: batch_norm, each column of a batch with mean 0 and variance 1, scaled and shifted.
#pragma once

#include <rowan/op/detail/matrix_sums.hpp>
#include <rowan/op/detail/norm_formulas.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/elementwise/dropout.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/norm/functions.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Checks that a tensor has an element for each column of x.
template <class W, class T, class D>
void check_one_per_column(char const* field, Tensor<W, D> const& w, Tensor<T, D> const& x) {
    if (w.dimension() == 1 && w.shape(0) == x.shape(1)) return;
    throw ShapeError({field, ".shape()"}, shape_text(w.shape()), {"[", x.shape(1), "], the width of x"});
}

/// The means and the inverse deviations of the columns of x.
template <class T, class D>
class ColumnNorm {
    using S = sum_t<T>;
    using Loops = ElementLoops<D>;
    decltype(Loops::template scratch<S>(std::declval<D const&>(), 0)) numbers_;

public:
    NormOfColumns<T> norm;

    /// In training those of the batch, else the moving ones. If next_mean is not nullptr, it and next_variance get the
    /// next moving statistics.
    template <class M>
    ColumnNorm(D const& exec, Tensor<T, D> const& x, Tensor<M, D> const& mean, Tensor<M, D> const& variance,
               BatchNormAttributes const& options, bool training, M* next_mean, M* next_variance)
        : numbers_(Loops::template scratch<S>(exec, 2 * x.shape(1))), norm{x.data(), numbers_.data(),
                                                                           numbers_.data() + x.shape(1), x.shape(1)} {
        std::size_t const n = x.shape(0), width = norm.width;
        S *const means = numbers_.data(), *const deviations = means + width;
        training = training && n != 0;
        if (training) {
            column_sums<S>(exec, n, width, std::tuple{ColumnSum{FromFirstRow<T>{x.data(), width}, means}});
            Loops::each(exec, width, 1, MeansFromFirstRow<T>{x.data(), means, n, width});
            SquaredDeviation<T> const term{norm};
            column_sums<S>(exec, n, width, std::tuple{ColumnSum{term, deviations}});
            Loops::each(exec, width, 1, MeansOfSums<S, SquaredDeviation<T>>{term, deviations, n});
        } else {
            Loops::template zip<S>(exec, width, same_number{}, means, mean.data());
            Loops::template zip<S>(exec, width, same_number{}, deviations, variance.data());
        }
        if (next_mean != nullptr) {
            MoveTowards const move{training ? options.momentum : 1};
            Loops::template zip<S>(exec, width, move, next_mean, mean.data(), means);
            Loops::template zip<S>(exec, width, move, next_variance, variance.data(), deviations);
        }
        if constexpr (std::is_same_v<D, Cpu> && is_machine_float<S>) {
            for (std::size_t k = 0; training && k < width; ++k)
                check_variance(k, deviations[k], next_variance == nullptr ? nullptr : next_variance + k);
        }
        Loops::each(exec, width, 1, InvertDeviations<T>{norm, deviations, training ? n : 0, options.epsilon});
    }

private:
    /// Throws if a variance of finite elements, or the next moving one, is infinite in its type.
    template <class M>
    static void check_variance(std::size_t column, S const& variance, M const* next) {
        bool const moves = std::is_same_v<M, S> || next == nullptr || !(load<S>(next) > greatest_normal<S>);
        if (!(variance > greatest_normal<S>)&&moves) return;
        throw ValueError({"batch_norm: the variance of x[:, ", column, "]"}, static_cast<double>(variance),
                         "at most the largest number of its type");
    }
};

/// Checks all arguments but out_grad.
template <class T, class M, class D>
void check_batch_norm(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& scale, Tensor<M, D> const& mean,
                      Tensor<M, D> const& variance, BatchNormAttributes const& options) {
    static_assert(floating_element<T>, "rowan::batch_norm: x must have a floating-point type: convert it");
    static_assert(std::is_same_v<M, T> || std::is_same_v<M, kept_t<T>>,
                  "rowan::batch_norm: mean and variance must have the type of x or dtype<T>::sum");
    check_batch_norm(options);
    check_rank("x", x, 2);
    check_one_per_column("scale", scale, x);
    check_one_per_column("mean", mean, x);
    check_one_per_column("variance", variance, x);
    ElementLoops<D>::check(exec, x, scale, mean, variance);
}

/// Whether statistics of x may have this element type: that of x, or that of its sums.
constexpr bool is_dtype_of_statistics(std::int32_t statistics, std::int32_t x) {
    bool const narrow = x == dtype<bfloat16>::wire || x == dtype<float16>::wire, own = x >= 1000;
    return statistics == x || own || (narrow && statistics == dtype<float>::wire);
}

template <class T, class M, class D>
using BatchNormResults = std::tuple<LoDTensor<T, D>, LoDTensor<M, D>, LoDTensor<M, D>>;

/// The levels of x for the first result alone; the others have an element per column, which may be as many as rows.
template <class T, class M, class D>
BatchNormResults<T, M, D> with_lod_of(LoDTensor<T, D> const& x,
                                      std::tuple<Tensor<T, D>, Tensor<M, D>, Tensor<M, D>> results) {
    auto& [rows, first, second] = results;
    return {LoDTensor<T, D>(std::move(rows), x.lod()), std::move(first), std::move(second)};
}

}  // namespace detail

template <>
struct detail::function_of<batch_norm_op> {
    template <class T, class D, class M = T>
    static std::tuple<Tensor<T, D>, Tensor<M, D>, Tensor<M, D>> run(D const& exec, Tensor<T, D> const& x,
                                                                    Tensor<T, D> const& scale,
                                                                    Tensor<T, D> const& shift, Tensor<M, D> const& mean,
                                                                    Tensor<M, D> const& variance,
                                                                    BatchNormAttributes const& options, bool training) {
        using S = sum_t<T>;
        check_batch_norm(exec, x, scale, mean, variance, options);
        check_one_per_column("shift", shift, x);
        ElementLoops<D>::check(exec, shift);
        auto out = new_tensor<T>(exec, x.shape());
        auto next_mean = new_tensor<M>(exec, mean.shape()), next_variance = new_tensor<M>(exec, mean.shape());
        ColumnNorm<T, D> const columns(exec, x, mean, variance, options, training, next_mean.data(),
                                       next_variance.data());
        ElementLoops<D>::template each_of_rows<S>(
            exec, x.shape(0), x.shape(1), x.shape(1),
            ScaleAndShift<NormOfColumns<T>, T>{columns.norm, scale.data(), shift.data(), out.data()});
        return {std::move(out), std::move(next_mean), std::move(next_variance)};
    }
};

template <>
struct detail::function_of<detail::backward_of<batch_norm_op>> {
    template <class T, class D, class M = T>
    static std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> run(D const& exec, Tensor<T, D> const& x,
                                                                    Tensor<T, D> const& scale, Tensor<M, D> const& mean,
                                                                    Tensor<M, D> const& variance,
                                                                    Tensor<T, D> const& out_grad,
                                                                    BatchNormAttributes const& options, bool training) {
        using S = sum_t<T>;
        using Loops = ElementLoops<D>;
        check_batch_norm(exec, x, scale, mean, variance, options);
        check_same_shape("out_grad", out_grad, x);
        Loops::check(exec, out_grad);
        std::size_t const n = x.shape(0), width = x.shape(1);
        auto x_grad = new_tensor<T>(exec, x.shape());
        auto scale_grad = new_tensor<T>(exec, scale.shape()), shift_grad = new_tensor<T>(exec, scale.shape());
        ColumnNorm<T, D> const columns(exec, x, mean, variance, options, training, static_cast<M*>(nullptr),
                                       static_cast<M*>(nullptr));
        auto sums = Loops::template scratch<S>(exec, 2 * width);
        S *const grad = sums.data(), *const along = grad + width;
        MatrixElement<T> const of_grad{out_grad.data(), width};
        TimesNorm<NormOfColumns<T>, T> const by_norm{columns.norm, out_grad.data()};
        column_sums<S>(exec, n, width, std::tuple{ColumnSum{of_grad, grad}, ColumnSum{by_norm, along}});
        Loops::template zip<S>(exec, width, same_number{}, shift_grad.data(), grad);
        Loops::template zip<S>(exec, width, same_number{}, scale_grad.data(), along);
        if (n != 0) {
            Loops::each(exec, width, 1, MeansOfSums<S, SmallTerm<S, decltype(of_grad)>>{{of_grad}, grad, n});
            Loops::each(exec, width, 1, MeansOfSums<S, SmallTerm<S, decltype(by_norm)>>{{by_norm}, along, n});
        }
        Loops::template each_of_rows<S>(exec, n, width, width,
                                        GradOfColumns<T>{.norm = columns.norm,
                                                         .grad_mean = training ? grad : nullptr,
                                                         .along_mean = training ? along : nullptr,
                                                         .scale = scale.data(),
                                                         .out_grad = out_grad.data(),
                                                         .to = x_grad.data()});
        return {std::move(x_grad), std::move(scale_grad), std::move(shift_grad)};
    }
};

/// See batch_norm. The slots w and b hold scale and shift; the slot `seed` has an element in training and none
/// otherwise, as in dropout.
/// shapes   x [n, width]; w, b, mean and variance [width]; seed [1] or [0] of int64 -> [n, width], [width], [width];
///          mean and variance may have elements of dtype<T>::sum, then also their results
struct batch_norm_op : detail::declared<batch_norm_op> {
    using grad =
        gradient<batch_norm_op, uses<slot::x, slot::w, slot::mean, slot::variance, slot::seed, grad_of<slot::out>>,
                 makes<grad_of<slot::x>, grad_of<slot::w>, grad_of<slot::b>>>;
    static constexpr std::array<std::int8_t, 6> next{-1, -1, -1, 1, 2, -1};

    static constexpr std::array<VarSpec, 3> infer(VarSpec const& x, VarSpec const& w, VarSpec const& b,
                                                  VarSpec const& mean, VarSpec const& variance, VarSpec const& seed,
                                                  BatchNormAttributes const& options) {
        detail::check_batch_norm(options);
        spec::matrix("batch_norm: x", x);
        detail::check_seed("batch_norm: seed", seed);
        VarSpec out = x, row = x;
        row.dims = {x.dims[1]};
        row.lod_level = 0;
        for (VarSpec const& one : {w, b, mean, variance}) {
            spec::dense("batch_norm: scale, shift, mean or variance", one);
            row.dims = spec::same_dims("batch_norm: scale, shift, mean or variance", one, row);
        }
        for (VarSpec const& one : {w, b}) spec::same_dtype("batch_norm: scale or shift", one, x);
        if (!detail::is_dtype_of_statistics(mean.dtype, x.dtype)) spec::same_dtype("batch_norm: mean", mean, x);
        spec::same_dtype("batch_norm: variance", variance, mean);
        out.dims[1] = row.dims[0];
        row.dtype = mean.dtype;
        return {out, row, row};
    }

    template <class T, class M, class D>
    static detail::BatchNormResults<T, M, D> run(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w,
                                                 Tensor<T, D> const& b, Tensor<M, D> const& mean,
                                                 Tensor<M, D> const& variance, Tensor<std::int64_t, D> const& seed,
                                                 BatchNormAttributes const& options) {
        return detail::with_lod_of(x,
                                   batch_norm(exec, x.value(), w, b, mean, variance, options, detail::has_seed(seed)));
    }

    static constexpr std::array<VarSpec, 3> infer_backward(VarSpec const& x, VarSpec const& w, VarSpec const&,
                                                           VarSpec const&, VarSpec const&, VarSpec const&,
                                                           BatchNormAttributes const&) {
        return {x, w, w};
    }

    template <class T, class M, class D>
    static detail::BatchNormResults<T, T, D> backward(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w,
                                                      Tensor<M, D> const& mean, Tensor<M, D> const& variance,
                                                      Tensor<std::int64_t, D> const& seed, Tensor<T, D> const& out_grad,
                                                      BatchNormAttributes const& options) {
        return detail::with_lod_of(
            x, batch_norm_grad(exec, x.value(), w, mean, variance, out_grad, options, detail::has_seed(seed)));
    }
};

}  // namespace rowan::inline v0
