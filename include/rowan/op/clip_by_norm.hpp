// rowan/op/clip_by_norm.hpp: clip_by_norm, a gradient scaled down to a norm, alone or together with others.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/scale.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace rowan::inline v0 {

/// The settings of clip_by_norm and clip_by_global_norm.
struct ClipByNormOptions {
    double max_norm = 1;  ///< the greatest norm that is left as it is

    static constexpr auto fields = std::tuple(field{"max_norm", &ClipByNormOptions::max_norm});
};

namespace detail {

inline void check_max_norm(double max_norm) {
    check_finite("max_norm", max_norm);
    if (max_norm < 0) throw ValueError("max_norm", max_norm, "0 or more");
}

/// What values of this squared norm are multiplied by; a NaN stays one.
inline double norm_factor(double squared, double max_norm) {
    double const norm = std::sqrt(squared);
    return norm <= max_norm ? 1.0 : max_norm / norm;
}

template <class T, class D>
Tensor<T, D> scaled(D const& exec, Tensor<T, D> const& x, double factor) {
    static_assert(!std::integral<sum_t<T>>, "rowan::clip_by_norm: integers have no norm to be scaled to");
    return factor == 1.0 ? x.share() : scale(exec, x, factor);
}
template <class T, class D>
SelectedRows<T, D> scaled(D const& exec, SelectedRows<T, D> const& g, double factor) {
    return scale(exec, g, factor);
}

}  // namespace detail

/// x, scaled to the Euclidean norm max_norm where its own is greater. Of a row-sparse gradient it is that of the dense one: duplicates
/// are summed before they are squared. A norm that is not finite makes the result NaN or 0, as arithmetic does.
/// Pascanu et al. 2013, On the difficulty of training recurrent neural networks.
/// shapes   x [n, ...], or a SelectedRows -> the same, the rows of a SelectedRows as they are
/// errors   ValueError if max_norm is negative or not finite; ShapeError if x has rank 0
/// cost     two reads of x and one write of the result, and for a SelectedRows a RowPlan: a sort of its rows unless they are merged; an
///          alias of a dense x that needs no scaling; a device is waited for, as the norm decides
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

/// All gradients, dense and row-sparse, scaled by one factor to the norm of all together: √(Σ norm²) where that is greater.
/// The squared norms, each a dtype<T>::sum, are added in double, first those of the dense gradients, in their order. Pascanu et al. 2013,
/// likewise.
/// shapes   any, as many as there are -> the same
/// errors   as clip_by_norm
/// cost     two reads of each and one write of the results, and a RowPlan of each row-sparse one; on a device as many waits as gradients
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
    using grad = no_grad;  // it is applied to gradients

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

/// See clip_by_global_norm. Inputs and outputs are any number of gradients.
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
};

}  // namespace rowan::inline v0
