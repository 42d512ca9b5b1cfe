// rowan/op/clip_by_norm.hpp: clip_by_norm and clip_by_global_norm, gradients scaled down to a maximum norm.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/scale.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <cmath>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace rowan::inline v0 {

/// The settings of clip_by_norm and clip_by_global_norm.
struct ClipByNormOptions {
    double max_norm = 1;  ///< the maximum norm

    static constexpr auto fields = std::tuple(field{"max_norm", &ClipByNormOptions::max_norm});
};

namespace detail {

inline void check_max_norm(double max_norm) {
    check_finite("max_norm", max_norm);
    if (max_norm < 0) throw ValueError("max_norm", max_norm, "0 or more");
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

}  // namespace detail

/// Scales x to the Euclidean norm max_norm if its norm is greater. The norm of a row-sparse gradient is that of the
/// dense gradient: duplicates are summed before squaring. If the norm is not finite, the elements of the result are NaN
/// or 0 by IEEE arithmetic. Pascanu et al. 2013, On the difficulty of training recurrent neural networks.
/// shapes   x [n, ...], or a SelectedRows -> the same; a SelectedRows keeps its rows
/// errors   ValueError if max_norm is negative or not finite; ShapeError if x has rank 0
/// cost     two reads of x and one write of the result, and for a SelectedRows a RowPlan, which sorts the rows unless
///          they are merged; a dense x that needs no scaling is returned as an alias; waits for the device, because the
///          host needs the norm
template <class T, device D>
Tensor<T, D> clip_by_norm(D const& exec, Tensor<T, D> const& x, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    return detail::scaled(exec, x, detail::norm_factor(static_cast<double>(squared_norm(exec, x)), options.max_norm));
}
template <class T, device D>
SelectedRows<T, D> clip_by_norm(D const& exec, SelectedRows<T, D> const& g, ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    return detail::scaled(exec, g, detail::norm_factor(static_cast<double>(squared_norm(exec, g)), options.max_norm));
}

/// Scales all gradients, dense and row-sparse, by one factor to the global norm max_norm if their global norm, which is
/// √(Σ norm²), is greater. The squared norms, each computed in dtype<T>::sum, are added in double: those of the dense
/// gradients in order, then those of the row-sparse ones. Pascanu et al. 2013, as above.
/// shapes   any number of gradients of any shapes -> the same
/// errors   as clip_by_norm
/// cost     two reads of each gradient and one write of the results, and a RowPlan for each row-sparse gradient; waits
///          for the device once per gradient
template <class T, device D>
std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> clip_by_global_norm(
    D const& exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
    ClipByNormOptions const& options = {}) {
    detail::check_max_norm(options.max_norm);
    double squared = 0;
    for (Tensor<T, D> const& x : dense) squared += static_cast<double>(squared_norm(exec, x));
    for (SelectedRows<T, D> const& g : sparse) squared += static_cast<double>(squared_norm(exec, g));
    double const factor = detail::norm_factor(squared, options.max_norm);
    std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> out;
    for (Tensor<T, D> const& x : dense) std::get<0>(out).push_back(detail::scaled(exec, x, factor));
    for (SelectedRows<T, D> const& g : sparse) std::get<1>(out).push_back(detail::scaled(exec, g, factor));
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

    template <class T, class D>
    static auto run(D exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse,
                    ClipByNormOptions const& options = {}) {
        return clip_by_global_norm(exec, dense, sparse, options);
    }

    // The steps, for gradients of several element types: measure each, sum, and scale each by the factor.

    template <class D, class V>
    static double measure(D exec, V const& x) {
        return static_cast<double>(squared_norm(exec, x));
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
