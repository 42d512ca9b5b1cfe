// rowan/op/clip_by_norm.hpp: clip_by_norm and clip_by_global_norm, gradients scaled down to a maximum norm.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/lists.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/scale.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// The settings of clip_by_norm and clip_by_global_norm.
struct ClipByNormOptions {
    double max_norm = 1;  ///< the maximum norm

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"max_norm", &ClipByNormOptions::max_norm});
    }
};

namespace detail {

inline void check_max_norm(double max_norm) {
    check_finite("max_norm", max_norm);
    if (max_norm < 0) throw ValueError("max_norm", max_norm, "0 or more");
}

/// The squared norm of x in double. If it does not fit the float in which it is summed, x is scaled by a power of 2 and
/// summed again.
template <template <class, class> class Gradient, class T, class D>
double squared_in_double(D const& exec, Gradient<T, D> const& x) {
    double const sum = static_cast<double>(squared_norm(exec, x));
    if constexpr (floating_element<T> && std::is_same_v<sum_t<T>, float>) {
        double const factor = sum < 0x1p-100 ? 0x1p100 : 0x1p-100;
        if (sum < 0x1p-100 || sum > static_cast<double>(std::numeric_limits<float>::max()))
            return static_cast<double>(squared_norm(exec, scale(exec, x, factor))) / factor / factor;
    }
    return sum;
}

/// The factor that scales values of this squared norm to max_norm, 1 if their norm is not greater; NaN propagates.
inline double norm_factor(double squared, double max_norm) {
    double const norm = std::sqrt(squared);
    return norm <= max_norm ? 1.0 : max_norm / norm;
}

template <class T, class D>
Tensor<T, D> scaled(D const& exec, Tensor<T, D> const& x, double factor) {
    static_assert(floating_element<T>, "rowan::clip_by_norm: x must have a floating-point type: convert it");
    return factor == 1.0 ? x.share() : scale(exec, x, factor);
}
template <class T, class D>
SelectedRows<T, D> scaled(D const& exec, SelectedRows<T, D> const& g, double factor) {
    return scale(exec, g, factor);
}

/// A gradient with its duplicates summed: an alias if it is merged.
template <class T, class D>
class MergedGradient {
public:
    MergedGradient(D const& exec, SelectedRows<T, D> const& g)
        : alias_(g.merged()), rows_(alias_ ? g.share() : merge(exec, g)) {}
    double squared(D const& exec) const { return squared_in_double(exec, rows_.value()); }

    SelectedRows<T, D> scaled(D const& exec, double factor) && {
        if (factor == 1.0) return std::move(rows_);
        if (alias_) return scale(exec, rows_, factor);
        T* const x = rows_.value().data();
        ElementLoops<D>::template zip<sum_t<T>>(exec, rows_.value().size(), scale_formula{factor}, x, x);
        return std::move(rows_);
    }

private:
    bool alias_;
    SelectedRows<T, D> rows_;
};

}  // namespace detail

/// Scales x to the Euclidean norm max_norm if its norm is greater. If the norm is not finite, the elements of the result
/// are NaN or 0 by IEEE arithmetic. The norm is right for all finite x of float and 16-bit types; of other types where
/// its square is a normal number. Pascanu et al. 2013, On the difficulty of training recurrent neural networks.
/// shapes   x [n, ...] -> the same
/// errors   ValueError if max_norm is negative or not finite; ShapeError if x has rank 0
/// cost     two reads of x and one write of the result, and the same again if the squared norm is 0 or does not fit a
///          float; an x that needs no scaling is returned as an alias; waits for the device, because the host needs the
///          norm
template <class T, device D>
Tensor<T, D> clip_by_norm(D const& exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    return detail::scaled(exec, x, detail::norm_factor(detail::squared_in_double(exec, x), options.max_norm));
}

/// The same for a row-sparse gradient: merges g, then scales. The result represents the clipped dense gradient; it is
/// merged, so an optimizer does not sort its rows again.
/// shapes   g of n rows -> one row for each distinct row id
/// errors   ValueError as above; ShapeError if g.value() does not have n rows
/// cost     a merge, a read of its rows, and a read and a write if they need scaling; a merged g that needs no scaling
///          is returned as an alias; waits for the device
template <class T, device D>
SelectedRows<T, D> clip_by_norm(D const& exec, SelectedRows<T, D> const& g, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    detail::MergedGradient merged(exec, g);
    return std::move(merged).scaled(exec, detail::norm_factor(merged.squared(exec), options.max_norm));
}

/// Scales all gradients, dense and row-sparse, by one factor to the global norm max_norm if their global norm, which is
/// √(Σ norm²), is greater. The squared norms, each computed in dtype<T>::sum, are added in double: those of the dense
/// gradients in order, then those of the row-sparse ones. Pascanu et al. 2013, as above.
/// shapes   any number of gradients of any shapes -> the same; the row-sparse ones are merged
/// errors   as clip_by_norm
/// cost     that of clip_by_norm for each; waits for the device once per gradient
template <class T, device D>
std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> clip_by_global_norm(
    D const& exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
    ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    for (std::size_t k = 0; k < dense.size(); ++k) detail::check_gradient("dense", k, dense[k]);
    for (std::size_t k = 0; k < sparse.size(); ++k) detail::check_gradient("sparse", k, sparse[k]);
    double squared = 0;
    for (Tensor<T, D> const& x : dense) squared += detail::squared_in_double(exec, x);
    std::vector<detail::MergedGradient<T, D>> merged;
    merged.reserve(sparse.size());
    for (SelectedRows<T, D> const& g : sparse) squared += merged.emplace_back(exec, g).squared(exec);
    double const factor = detail::norm_factor(squared, options.max_norm);
    std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> out;
    for (Tensor<T, D> const& x : dense) std::get<0>(out).push_back(detail::scaled(exec, x, factor));
    for (auto& g : merged) std::get<1>(out).push_back(std::move(g).scaled(exec, factor));
    return out;
}

/// See clip_by_norm.
struct clip_by_norm_op {
    static constexpr std::string_view name = "clip_by_norm";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using attributes = ClipByNormOptions;
    using grad = no_grad;  // clip_by_norm is applied to gradients

    static constexpr VarSpec infer(VarSpec const& x, ClipByNormOptions const& = {}) { return x; }

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
struct clip_by_global_norm_op {
    static constexpr std::string_view name = "clip_by_global_norm";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using attributes = ClipByNormOptions;
    using grad = no_grad;

    static std::vector<VarSpec> infer(std::span<VarSpec const> x, ClipByNormOptions const& = {}) {
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
    static double measure(D exec, V const& x) {
        return detail::squared_in_double(exec, x);
    }
    static double factor(double measured, ClipByNormOptions const& options) {
        return detail::norm_factor(measured, options.max_norm);
    }
    template <class D, class V>
    static V scaled(D exec, V const& x, double factor) {
        return detail::scaled(exec, x, factor);
    }
    static void check(ClipByNormOptions const& options) { detail::check_max_norm(options.max_norm); }
};

}  // namespace rowan::inline v0
