// rowan/op/optimizer/clip_by_norm.hpp: clip_by_norm and clip_by_global_norm, gradients scaled down to a maximum norm.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/lists.hpp>
#include <rowan/op/elementwise/scale.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/op/optimizer/functions.hpp>
#include <rowan/sparse/detail/scaled_norm.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace rowan::inline v0 {

namespace detail {

constexpr void check_max_norm(double max_norm) {
    check_finite("max_norm", max_norm);
    if (max_norm < 0) throw ValueError("max_norm", max_norm, "0 or more");
}

/// A factor, as one number and as two numbers whose product it is, for types in which the one is not a normal number.
struct NormFactor {
    double whole = 1, first = 1, second = 1;
};

/// The factor that scales values of this squared norm to max_norm, 1 if their norm is not greater; NaN propagates.
inline NormFactor norm_factor(SquaredNorm const& squared, double max_norm) {
    double const root = std::sqrt(squared.sum), norm = root / squared.scale;
    if (norm <= max_norm) return {};
    double const whole = max_norm / norm;
    if (max_norm == 0 || !(root <= std::numeric_limits<double>::max())) return {whole, whole, 1};
    int of_max = 0, of_root = 0;
    double const ratio = std::frexp(max_norm, &of_max) / std::frexp(root, &of_root);
    int const power = of_max - of_root + std::ilogb(squared.scale), half = power / 2;
    return {whole, std::ldexp(ratio, half), std::ldexp(1.0, power - half)};
}

/// Whether x · factor is x · first · second, because the whole factor is not a normal number of the type of
/// computation.
template <class S>
bool in_two_steps(NormFactor const& factor) {
    if constexpr (is_machine_float<S>) return factor.whole < static_cast<double>(std::numeric_limits<S>::min());
    return false;
}

template <template <class, class> class Gradient, class T, class D>
Gradient<T, D> product_with(D const& exec, Gradient<T, D> const& x, NormFactor const& factor) {
    if (!in_two_steps<sum_t<T>>(factor)) return scale(exec, x, factor.whole);
    return scale(exec, scale(exec, x, factor.first), factor.second);
}

template <class T, class D>
Tensor<T, D> scaled(D const& exec, Tensor<T, D> const& x, NormFactor const& factor) {
    static_assert(floating_element<T>, "rowan::clip_by_norm: x must have a floating-point type: convert it");
    return factor.whole == 1.0 ? x.share() : product_with(exec, x, factor);
}
template <class T, class D>
SelectedRows<T, D> scaled(D const& exec, SelectedRows<T, D> const& g, NormFactor const& factor) {
    return product_with(exec, g, factor);
}

/// A gradient with its duplicates summed: an alias if it is merged.
template <class T, class D>
class MergedGradient {
public:
    MergedGradient(D const& exec, SelectedRows<T, D> const& g)
        : alias_(g.merged()), rows_(alias_ ? g.share() : merge(exec, g)) {}
    SquaredNorm squared(D const& exec) const { return squared_of(exec, rows_.value()); }

    SelectedRows<T, D> scaled(D const& exec, NormFactor const& factor) && {
        if (factor.whole == 1.0) return std::move(rows_);
        if (alias_ || in_two_steps<sum_t<T>>(factor)) return product_with(exec, rows_, factor);
        T* const x = rows_.value().data();
        ElementLoops<D>::template zip<sum_t<T>>(exec, rows_.value().size(), scale_formula{factor.whole}, x, x);
        return std::move(rows_);
    }

private:
    bool alias_;
    SelectedRows<T, D> rows_;
};

}  // namespace detail

template <>
struct detail::function_of<clip_by_norm_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, ClipByNormOptions const& options) {
        check_max_norm(options.max_norm);
        return scaled(exec, x, norm_factor(squared_of(exec, x), options.max_norm));
    }

    template <class T, class D>
    static SelectedRows<T, D> run(D const& exec, SelectedRows<T, D> const& g, ClipByNormOptions const& options) {
        check_max_norm(options.max_norm);
        SelectedRows<T, D>::check_value(g.value(), g.rows().size());
        MergedGradient merged(exec, g);
        return std::move(merged).scaled(exec, norm_factor(merged.squared(exec), options.max_norm));
    }
};

template <>
struct detail::function_of<clip_by_global_norm_op> {
    template <class T, class D>
    static std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> run(
        D const& exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
        ClipByNormOptions const& options) {
        check_max_norm(options.max_norm);
        for (std::size_t k = 0; k < dense.size(); ++k) check_gradient("dense", k, dense[k]);
        for (std::size_t k = 0; k < sparse.size(); ++k) check_gradient("sparse", k, sparse[k]);
        SquaredNorm squared;
        for (Tensor<T, D> const& x : dense) squared += squared_of(exec, x);
        std::vector<MergedGradient<T, D>> merged;
        merged.reserve(sparse.size());
        for (SelectedRows<T, D> const& g : sparse) squared += merged.emplace_back(exec, g).squared(exec);
        NormFactor const factor = norm_factor(squared, options.max_norm);
        std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> out;
        for (Tensor<T, D> const& x : dense) std::get<0>(out).push_back(scaled(exec, x, factor));
        for (auto& g : merged) std::get<1>(out).push_back(std::move(g).scaled(exec, factor));
        return out;
    }
};

/// See clip_by_norm.
struct clip_by_norm_op : detail::declared<clip_by_norm_op> {
    using grad = no_grad;  // clip_by_norm is applied to gradients

    static constexpr VarSpec infer(VarSpec const& x, ClipByNormOptions const& options = {}) {
        detail::check_max_norm(options.max_norm);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
        return clip_by_norm(exec, x, options);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, ClipByNormOptions const& options = {}) {
        return clip_by_norm(exec, x, options);
    }
};

/// See clip_by_global_norm. The slots `x` and `out` hold any number of gradients.
struct clip_by_global_norm_op : detail::declared<clip_by_global_norm_op> {
    static std::vector<VarSpec> infer(std::span<VarSpec const> x, ClipByNormOptions const& options = {}) {
        detail::check_max_norm(options.max_norm);
        return {x.begin(), x.end()};
    }

    /// Repeats the checks for x in the order of the caller, of which part i is row-sparse if is_sparse[i].
    template <class T, class D>
    static void check_list(std::vector<bool> const& is_sparse, std::vector<Tensor<T, D>> const& dense,
                           std::vector<SelectedRows<T, D>> const& sparse) {
        detail::visit_list(is_sparse, dense, sparse,
                           [](std::size_t i, auto const& x) { detail::check_gradient("x", i, x); });
    }

    template <class T, class D>
    static auto run(D exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
                    ClipByNormOptions const& options = {}) {
        return clip_by_global_norm(exec, dense, sparse, options);
    }

    // The steps, for gradients of several element types, of which the row-sparse ones are merged: measure each, sum, and
    // scale each by the factor.

    template <class D, class V>
    static detail::SquaredNorm measure(D exec, V const& x) {
        return detail::squared_of(exec, x);
    }
    static detail::NormFactor factor(detail::SquaredNorm const& measured, ClipByNormOptions const& options) {
        return detail::norm_factor(measured, options.max_norm);
    }
    template <class D, class V>
    static V scaled(D exec, V const& x, detail::NormFactor const& factor) {
        return detail::scaled(exec, x, factor);
    }
    static void check(ClipByNormOptions const& options) { detail::check_max_norm(options.max_norm); }
};

}  // namespace rowan::inline v0
