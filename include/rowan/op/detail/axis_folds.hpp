// rowan/op/detail/axis_folds.hpp: means, products, maxima and minima along axes, and their gradients.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/detail/wide_product.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0::detail {

/// x / n
struct DividedBy {
    double n;
    ROWAN_FORMULA V operator()(V const& x) const { return quotient(x, constant<V>(n)); }
};

/// x - x: NaN unless x is finite
struct from_itself {
    ROWAN_FORMULA V operator()(V const& x) const { return x - x; }
};

/// Computes those of `some` means again whose sums overflow.
template <class S, class T, std::size_t some>
struct MeansAgain {
    AxisReduction r;
    T const* x;
    S const* sums;  // or means
    T* to;

    ROWAN_HD void operator()(std::size_t at) const {
        std::size_t const begin = at * some, left = r.outer * r.width - begin, n = left < some ? left : some;
        if (some != 1 && interleaved_sum<S>(n, sums + begin, from_itself{}) == 0) return;
        for (std::size_t k = begin; k < begin + n; ++k) {
            if (!is_finite(sums[k])) mean(k);
        }
    }

private:
    ROWAN_HD void mean(std::size_t k) const {
        T const* const from = x + r.first_of(k);
        double sum = 0;
        for (std::size_t i = 0; i < r.n; ++i) {
            S const a = load<S>(from + r.summed(i));
            if (!is_finite(a)) return;  // and so is the mean
            sum += static_cast<double>(product(a, S(mean_factor<S>)));
        }
        store(mean_of_sum(sums[k], static_cast<double>(r.n), [&] { return static_cast<S>(sum); }), to + k);
    }
};

/// 1 where x is the result, else 0
struct IsResult {
    ROWAN_FORMULA V operator()(V const& x, V const& result, V const&) const {
        return choose(same_or_nan(x, result), constant<V>(1.0), constant<V>(0.0));
    }
};

/// The gradient of an extremum: its share where x is the result, else 0.
struct ShareOfResult {
    ROWAN_FORMULA V operator()(V const& x, V const& result, V const& share) const {
        return choose(same_or_nan(x, result), share, constant<V>(0.0));
    }
};

/// to = map(x, a, b), where x has the shape of `to`, and a and b have one element for each sum.
template <class S, class Map, class T, class A>
struct SpreadStep {
    struct Row {
        T const* x;
        A const* a;
        S const* b;
        T* to;
    };
    BroadcastRows<2> rows;  // of x and of a
    Map map;
    T const* x;
    A const* a;
    S const* b;
    T* to;

    ROWAN_HD Row of_row(std::size_t i) const {
        std::size_t const sum = rows.offsets[1](i), first = i * rows.width;
        return {x + first, a + sum, b + sum, to + first};
    }
    ROWAN_FORMULA void at(Row const& row, std::size_t column) const {
        if (rows.one[1]) {
            store(map(load<V>(row.x + column), V(load<S>(row.a)), V(load<S>(row.b))), row.to + column);
        } else {
            store(map(load<V>(row.x + column), load<V>(row.a + column), load<V>(row.b + column)), row.to + column);
        }
    }
};

/// A tensor like x of map(x, a, b), see SpreadStep.
template <class Map, class T, class D, class A>
Tensor<T, D> spread(D const& exec, Map const& map, Tensor<T, D> const& x, std::array<bool, 8> const& reduced,
                    A const* a, sum_t<T> const* b) {
    auto out = new_tensor<T>(exec, x.shape());
    auto const rows = broadcast_rows<2>(
        x.shape(), [&](std::size_t k, std::size_t i) -> std::size_t { return k == 1 && reduced[i] ? 1 : x.shape(i); });
    ElementLoops<D>::template each_in_rows<sum_t<T>>(
        exec, rows.rows, rows.width, SpreadStep<sum_t<T>, Map, T, A>{rows, map, x.data(), a, b, out.data()});
    return out;
}

[[noreturn]] inline void no_extremum(std::string const& shape) {
    throw ShapeError("x.shape()", shape, "at least one element for each result");
}

/// The rule of reduce_mean, see reduce_op.
struct axis_means {
    static constexpr Linearity linearity = Linearity::mean_of_rows;
    static constexpr bool reads_out = false;

    template <class T, class D>
    static void of(D const& exec, AxisReduction const& r, T const* x, T* out) {
        using S = sum_t<T>;
        static_assert(floating_element<T>, "rowan::reduce_mean: x must have a floating-point type: convert it");
        std::size_t const n = r.outer * r.width;
        auto const divide = [&](S* sums) {
            fold_axes<S, add_lanes>(exec, r, x, sums);
            ElementLoops<D>::template zip<S>(exec, n, DividedBy{static_cast<double>(r.n)}, out,
                                             static_cast<S const*>(sums));
            if constexpr (is_machine_float<S>) {
                constexpr std::size_t some = std::is_same_v<D, Cpu> ? 64 : 1;
                if (r.n != 1)
                    ElementLoops<D>::each(exec, (n + some - 1) / some, some, MeansAgain<S, T, some>{r, x, sums, out});
            }
        };
        if constexpr (std::is_same_v<S, T>) {
            divide(out);
        } else {
            divide(ElementLoops<D>::template scratch<S>(exec, n).data());
        }
    }

    template <class T, class D>
    static Tensor<T, D> of_none(D const& exec, Tensor<T, D> const&, typename Tensor<T, D>::shape_type const& shape) {
        return Tensor<T, D>::zeros(exec, shape);
    }

    template <class T, class D>
    static Tensor<T, D> grad(D const& exec, Tensor<T, D> const& x, T const*, Tensor<T, D> const& out_grad,
                             std::array<bool, 8> const& reduced) {
        double const n = static_cast<double>(reduction_of(x.shape(), reduced).n);
        auto const shares = zip_elements<sum_t<T>>(exec, DividedBy{n}, out_grad);
        auto x_grad = new_tensor<T>(exec, x.shape());
        repeat_sums<T>(exec, x.shape(), reduced, shares.data(), x_grad.data());
        return x_grad;
    }
};

struct axis_products {
    static constexpr Linearity linearity = Linearity::of_all_rows;
    static constexpr bool reads_out = false;

    template <class T, class D>
    static void of(D const& exec, AxisReduction const& r, T const* x, T* out) {
        using S = sum_t<T>;
        if constexpr (!is_machine_float<S>) {
            fold_axes<S, multiply_lanes>(exec, r, x, out);
        } else if constexpr (std::is_same_v<S, T>) {
            multiply<S>(exec, r, x, out);
        } else {
            std::size_t const n = r.outer * r.width;
            auto products = ElementLoops<D>::template scratch<S>(exec, n);
            multiply<S>(exec, r, x, products.data());
            ElementLoops<D>::template zip<S>(exec, n, same_number{}, out, products.data());
        }
    }

    template <class T, class D>
    static Tensor<T, D> of_none(D const& exec, Tensor<T, D> const&, typename Tensor<T, D>::shape_type const& shape) {
        return Tensor<T, D>::full(exec, shape, dtype<T>::narrow(constant<sum_t<T>>(1.0)));
    }

    /// The product of the others: from that of all nonzero elements, if the others have no zero.
    template <class T, class D>
    static Tensor<T, D> grad(D const& exec, Tensor<T, D> const& x, T const*, Tensor<T, D> const& out_grad,
                             std::array<bool, 8> const& reduced) {
        using S = sum_t<T>;
        using Loops = ElementLoops<D>;
        auto const r = reduction_of(x.shape(), reduced);
        std::size_t const n = out_grad.size();
        auto nonzero = Loops::template scratch<S>(exec, n), zeros = Loops::template scratch<S>(exec, n),
             product_grads = Loops::template scratch<S>(exec, n), all = Loops::template scratch<S>(exec, n),
             others = Loops::template scratch<S>(exec, n);
        {
            auto const ones = zip_elements<S>(exec, UnlessZero{1}, x);
            fold_axes<S, multiply_lanes>(exec, r, ones.data(), nonzero.data());
        }
        {
            auto const marks = zip_elements<S>(exec, IsZero{}, x);
            fold_axes<S, add_lanes>(exec, r, marks.data(), zeros.data());
        }
        S const *const products = nonzero.data(), *const count = zeros.data(), *const scaled = product_grads.data();
        Loops::template zip<S>(exec, n, multiplied{}, product_grads.data(), out_grad.data(), products);
        Loops::template zip<S>(exec, n, WhereCount{0}, all.data(), scaled, count);
        Loops::template zip<S>(exec, n, WhereCount{1}, others.data(), scaled, count);
        auto x_grad = spread(exec, ShareOfProduct{}, x, reduced, all.data(), others.data());
        if constexpr (is_machine_float<S>)
            Loops::each(exec, n, 1,
                        ProductGradsAgain<S, T>{r, x.data(), out_grad.data(), products, scaled, x_grad.data()});
        return x_grad;
    }

private:
    template <class S, class T, class D>
    static void multiply(D const& exec, AxisReduction const& r, T const* x, S* to) {
        fold_axes<S, multiply_lanes>(exec, r, x, to);
        if (r.n != 1) ElementLoops<D>::each(exec, r.outer * r.width, 1, MultiplyAgain<S, T>{r, x, to});
    }
};

template <bool greatest>
struct axis_extremes {
    static constexpr Linearity linearity = Linearity::of_all_rows;
    static constexpr bool reads_out = true;

    template <class T, class D>
    static void of(D const& exec, AxisReduction const& r, T const* x, T* out) {
        fold_axes<sum_t<T>, keep_extreme<greatest>>(exec, r, x, out);
    }

    template <class T, class D>
    static Tensor<T, D> of_none(D const& exec, Tensor<T, D> const& x, typename Tensor<T, D>::shape_type const& shape) {
        if (product_from(shape, 0) != 0) no_extremum(shape_text(x.shape()));
        return Tensor<T, D>::zeros(exec, shape);
    }

    template <class T, class D>
    static Tensor<T, D> grad(D const& exec, Tensor<T, D> const& x, T const* out, Tensor<T, D> const& out_grad,
                             std::array<bool, 8> const& reduced) {
        using S = sum_t<T>;
        using Loops = ElementLoops<D>;
        std::size_t const n = out_grad.size();
        auto counts = Loops::template scratch<S>(exec, n), shares = Loops::template scratch<S>(exec, n);
        {
            auto const marks = spread(exec, IsResult{}, x, reduced, out, counts.data());
            fold_axes<S, add_lanes>(exec, reduction_of(x.shape(), reduced), marks.data(), counts.data());
        }
        Loops::template zip<S>(exec, n, divided{}, shares.data(), out_grad.data(), counts.data());
        return spread(exec, ShareOfResult{}, x, reduced, out, shares.data());
    }
};

}  // namespace rowan::inline v0::detail
