// rowan/op/reduce/cumprod.hpp: cumprod, the running products along an axis.
#pragma once

#include <rowan/op/detail/running.hpp>
#include <rowan/op/detail/wide_product.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

struct running_product {
    static constexpr double start = 1;
    ROWAN_FORMULA static V fold(V const& all, V const& x) { return product(all, x); }
};

/// The gradients of lanes. An element gets the product of those before it, times the sum, over the results that it is
/// in, of their gradients and the elements between: sum = g + x' · sum', where x' and sum' are those after it. A lane of
/// finite numbers in which such a product or sum overflows or vanishes is computed again, with wider exponents.
template <class T>
struct ProductGradLanes {
    using S = running_t<T>;
    static constexpr bool wide = is_machine_float<S>;

    T const *x, *out_grad;
    S* sums;
    T* out;
    std::size_t n, inner;
    bool exclusive, reverse;

    ROWAN_NO_EXEC_CHECK
    template <class V, std::size_t count>
    ROWAN_HD_INLINE void lanes(std::size_t first, std::size_t apart, std::size_t) const {
        V kept[count];                    // the sum, then the product
        [[maybe_unused]] V least[count];  // the smallest of both
        [[maybe_unused]] V total[count];  // not finite if one of both is not
        unrolled<count>([&](std::size_t k) ROWAN_INLINED {
            kept[k] = constant<V>(0.0);
            least[k] = constant<V>(1.0);
        });
        for (std::size_t i = n; i-- > 0;) {
            bool const last = exclusive && i + 1 == n;
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                std::size_t const at = offset(first, i) + k * apart;
                V const a = load<V>(x + at), g = load<V>(out_grad + at), own = exclusive ? kept[k] : plus(kept[k], g);
                // no result has the last element of an exclusive product, which may be infinite
                V const after = last ? own : product(a, own);
                if (!last) keep_least(after, least[k]);
                store(own, sums + at);
                kept[k] = exclusive ? plus(after, g) : after;
            });
        }
        unrolled<count>([&](std::size_t k) ROWAN_INLINED {
            total[k] = kept[k];
            kept[k] = constant<V>(1.0);
        });
        for (std::size_t i = 0; i < n; ++i) {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                std::size_t const at = offset(first, i) + k * apart;
                store(product(kept[k], load<V>(sums + at)), out + at);
                kept[k] = product(kept[k], load<V>(x + at));
                keep_least(kept[k], least[k]);
            });
        }
        if constexpr (wide) {
            constexpr std::size_t each = sizeof(V) / sizeof(S);
            for (std::size_t k = 0; k < count; ++k) {
                S small[each], all[each];
                store(least[k], small);
                store(V((total[k] - total[k]) + (kept[k] - kept[k])), all);
                for (std::size_t j = 0; j < each; ++j) {
                    if (small[j] < least_normal<S> || all[j] != 0) again(first + k * apart + j);
                }
            }
        }
    }

private:
    template <class V>
    ROWAN_HD_INLINE static void keep_least([[maybe_unused]] V const& x, [[maybe_unused]] V& least) {
        if constexpr (wide) {
            V const size = choose(x < constant<V>(0.0), V(constant<V>(0.0) - x), x);
            least = choose(size < least, size, least);
        }
    }

    /// Whether a · b is not accurate: infinite, NaN, subnormal, or 0 though neither is.
    ROWAN_HD static bool is_lost(S const& a, S const& b) { return a != 0 && b != 0 && !is_normal(S(product(a, b))); }

    /// Whether a product or a sum of the lane is lost, and all its numbers are finite.
    ROWAN_HD bool loses(std::size_t first) const {
        bool lost = false;
        S sum = 0, before = 1;
        for (std::size_t i = n; i-- > 0;) {
            S const a = load<S>(x + offset(first, i)), g = load<S>(out_grad + offset(first, i));
            if (!is_finite(a) || !is_finite(g)) return false;
            if (!exclusive) sum = plus(sum, g);
            lost = lost || !is_finite(sum) || is_lost(a, sum);
            sum = product(a, sum);
            if (exclusive) sum = plus(sum, g);
        }
        for (std::size_t i = 0; i < n && !lost; ++i) {
            S const a = load<S>(x + offset(first, i));
            lost = is_lost(before, a);
            before = product(before, a);
        }
        return lost;
    }

    ROWAN_HD void again(std::size_t first) const {
        if (!loses(first)) return;
        WideProduct<S> before, sum{0};
        std::size_t zeros = 0;
        for (std::size_t i = 0; i < n; ++i) {
            S const a = load<S>(x + offset(first, i));
            if (a == 0)
                ++zeros;
            else
                before.multiply(a);
        }
        for (std::size_t i = n; i-- > 0;) {
            std::size_t const at = offset(first, i);
            S const a = load<S>(x + at), g = load<S>(out_grad + at);
            if (a == 0)
                --zeros;
            else
                before.divide(a);
            if (!exclusive) sum.add(g);
            WideProduct<S> grad = sum;
            grad.multiply(before);
            store(zeros == 0 ? grad.value() : S(0), out + at);
            sum.multiply(a);
            if (exclusive) sum.add(g);
        }
    }

    ROWAN_HD_INLINE std::size_t offset(std::size_t first, std::size_t i) const {
        return first + (reverse ? n - 1 - i : i) * inner;
    }
};

}  // namespace detail

template <>
struct detail::function_of<cumprod_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, CumprodOptions const& options) {
        return running<running_product>(exec, x, options);
    }
};

/// See cumprod.
struct cumprod_op : detail::running_op<cumprod_op> {
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
