// rowan/op/reduce/cumprod.hpp: cumprod, the running products along an axis.
#pragma once

#include <rowan/op/detail/running.hpp>

namespace rowan::inline v0 {

/// The settings of cumprod.
struct CumprodOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool exclusive = false;  ///< whether the element itself is left out of its product
    bool reverse = false;    ///< whether to multiply from the end
    ROWAN_OPTIONS(CumprodOptions, axis, exclusive, reverse)
};

namespace detail {

struct running_product {
    static constexpr double start = 1;
    ROWAN_FORMULA static V fold(V const& all, V const& x) { return product(all, x); }
};

/// The gradients of lanes. An element gets the product of those before it, times the sum, over the results that it is
/// in, of their gradients and the elements between: sum = g + x' · sum', where x' and sum' are those after it.
template <class T>
struct ProductGradLanes {
    T const *x, *out_grad;
    running_t<T>* sums;
    T* out;
    std::size_t n, inner;
    bool exclusive, reverse;

    ROWAN_NO_EXEC_CHECK
    template <class V, std::size_t count>
    ROWAN_HD_INLINE void lanes(std::size_t first, std::size_t apart, std::size_t) const {
        V kept[count];  // the sum, then the product
        unrolled<count>([&](std::size_t k) ROWAN_INLINED { kept[k] = constant<V>(0.0); });
        for (std::size_t i = n; i-- > 0;) {
            bool const last = exclusive && i + 1 == n;
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                std::size_t const at = offset(first, i) + k * apart;
                V const a = load<V>(x + at), g = load<V>(out_grad + at), own = exclusive ? kept[k] : plus(kept[k], g);
                // no result has the last element of an exclusive product, which may be infinite
                V const after = last ? own : product(a, own);
                store(own, sums + at);
                kept[k] = exclusive ? plus(after, g) : after;
            });
        }
        unrolled<count>([&](std::size_t k) ROWAN_INLINED { kept[k] = constant<V>(1.0); });
        for (std::size_t i = 0; i < n; ++i) {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                std::size_t const at = offset(first, i) + k * apart;
                store(product(kept[k], load<V>(sums + at)), out + at);
                kept[k] = product(kept[k], load<V>(x + at));
            });
        }
    }

private:
    ROWAN_HD_INLINE std::size_t offset(std::size_t first, std::size_t i) const {
        return first + (reverse ? n - 1 - i : i) * inner;
    }
};

}  // namespace detail

/// The running products along an axis: each element becomes the product of all elements up to it.
///     cumprod([2 3 4])                                           ->   [2 6 24]
///     cumprod([2 3 4], {.exclusive = true})                      ->   [1 2 6]
///     cumprod([2 3 4], {.exclusive = true, .reverse = true})     ->   [12 4 1]
/// Products are formed in order: of floats and 16-bit elements in double, of other types in dtype<T>::sum. Each is
/// rounded to T once. The gradient does not divide: it is right also where elements are 0.
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     one read of x and one write of the result; a thread multiplies whole lanes
template <class T, device D>
Tensor<T, D> cumprod(D const& exec, Tensor<T, D> const& x, CumprodOptions const& options = {}) {
    return detail::running<detail::running_product>(exec, x, options);
}

template <class T = void, class X>  // as many parameters as xtensor's
requires detail::tensor_argument<X>
auto cumprod(X&& x) { return cumprod(x.device(), x, CumprodOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto cumprod(X&& x, CumprodOptions options) { return cumprod(x.device(), x, options); }

/// See cumprod.
struct cumprod_op : detail::running_op<cumprod_op, CumprodOptions> {
    static constexpr std::string_view name = "cumprod", brief = "Running products along an axis.";
    using grad = gradient<cumprod_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, CumprodOptions const& options = {}) {
        return cumprod(exec, x, options);
    }

    /// The gradient of x; it needs memory for a running_t of each element.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                                 CumprodOptions const& options = {}) {
        using Loops = detail::ElementLoops<D>;
        Loops::check(exec, x, out_grad);
        detail::check_same_shape("out_grad", out_grad, x);
        std::size_t const axis = detail::checked_axis(options.axis, x.dimension());
        auto out = detail::new_tensor<T>(exec, x.shape());
        if (x.size() == 0) return out;
        auto sums = Loops::template scratch<detail::running_t<T>>(exec, x.size());
        detail::each_lane_along<detail::running_t<T>>(
            exec, x.shape(), axis,
            detail::ProductGradLanes<T>{x.data(), out_grad.data(), sums.data(), out.data(), x.shape(axis),
                                        detail::product_from(x.shape(), axis + 1), options.exclusive, options.reverse});
        return out;
    }
};

}  // namespace rowan::inline v0
