// rowan/op/elementwise/clip.hpp: clip, elements clamped to an interval.
#pragma once

#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/merge.hpp>

#include <limits>

namespace rowan::inline v0 {

namespace detail {

constexpr void check_clip(ClipOptions const& options) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!(options.min < infinity)) throw ValueError("min", options.min, "a finite number, or -infinity for no bound");
    if (!(options.max > -infinity)) throw ValueError("max", options.max, "a finite number, or infinity for no bound");
    if (!(options.max >= options.min)) throw ValueError("max", options.max, "a number not less than min");
}

ROWAN_HD constexpr bool is_bound(double x) { return x - x == 0; }

/// x clamped to [min, max]; types without infinities have no such bounds
struct clip_formula {
    double min, max;

    ROWAN_FORMULA V operator()(V const& x) const {
        V const below = is_bound(max) ? smaller(constant<V>(max), x) : x;
        return is_bound(min) ? larger(constant<V>(min), below) : below;
    }
};

/// 0 where x < min or x > max, else g
struct clip_grad_formula {
    double min, max;

    ROWAN_FORMULA V operator()(V const& x, V const& g) const {
        V const zero = constant<V>(0.0), below = is_bound(max) ? V(choose(x > constant<V>(max), zero, g)) : g;
        return is_bound(min) ? V(choose(x < constant<V>(min), zero, below)) : below;
    }
};

template <class T, class D>
Tensor<T, D> clip_elements(D const& exec, Tensor<T, D> const& x, ClipOptions const& options) {
    using S = sum_t<T>;
    static_assert(floating_element<T>, "rowan::clip: x must have a floating-point type: convert it");
    return zip_elements<S>(exec, clip_formula{options.min, options.max}, x);
}

}  // namespace detail

template <>
struct detail::function_of<clip_op> {
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ClipOptions options) {
        check_clip(options);
        return clip_elements(exec, x, options);
    }

    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& g, ClipOptions const& options) {
        check_clip(options);
        if (options.min > 0 || options.max < 0)
            throw ValueError(options.min > 0 ? "min" : "max", options.min > 0 ? options.min : options.max,
                             "0 to be in [min, max], as absent rows stay 0");
        auto merged = merge(exec, g);
        merged.value() = clip_elements(exec, merged.value(), options);
        return merged;
    }
};

/// See clip; x may be dense or row-sparse.
struct clip_op : detail::declared<clip_op> {
    static constexpr unsigned row_inputs = 0b1;
    using grad = gradient<clip_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, ClipOptions const& options = {}) {
        detail::check_clip(options);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ClipOptions const& options = {}) {
        return clip(exec, x, options);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, ClipOptions const& options = {}) {
        return clip(exec, x, options);
    }

    /// The gradient of x: 0 where x < min or x > max, else out_grad.
    /// shapes   x [...], out_grad the same -> the same
    /// errors   ShapeError if the shapes differ
    /// cost     one read of both and one write of the result
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                                 ClipOptions const& options = {}) {
        detail::check_same_shape("out_grad", out_grad, x);
        detail::clip_grad_formula const formula{options.min, options.max};
        return detail::zip_elements<detail::sum_t<T>>(exec, formula, x, out_grad);
    }
};

}  // namespace rowan::inline v0
