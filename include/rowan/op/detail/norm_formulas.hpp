// rowan/op/detail/norm_formulas.hpp: the formulas of layer_norm and batch_norm, for MatrixSums and column_sums.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rescaled.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Throws ValueError if epsilon is negative or not finite.
/// 1 / √square
ROWAN_FORMULA V inverse_root(V const& square) { return quotient(constant<V>(1.0), square_root(square)); }

/// epsilon · factor²; false if that of the numbers to which epsilon is added is lost in it.
template <class S>
ROWAN_HD_INLINE bool scale_epsilon(double epsilon, S const& factor, S& scaled) {
    double const e = epsilon * static_cast<double>(factor) * static_cast<double>(factor);
    if (!(e <= static_cast<double>(1 / least_squares<S>))) return false;
    scaled = static_cast<S>(e);
    return true;
}

/// Calls f(k, number) for each lane of V whose number is wanted(number); f may change the number.
template <class V, class Wanted, class F>
ROWAN_HD_INLINE void mend_lanes(V& x, Wanted const& wanted, F const& f) {
    if constexpr (is_register<V>) {
        typename V::value_type lanes[V::size];
        x.store(lanes);
        bool any = false;
        for (auto const& lane : lanes) any |= wanted(lane);
        if (!any) return;
        for (std::size_t k = 0; k < V::size; ++k) {
            if (wanted(lanes[k])) f(k, lanes[k]);
        }
        x = V::load(lanes);
    } else {
        if (wanted(x)) f(0, x);
    }
}

/// The mean of the terms of rows, as many as V has lanes, from their sums.
template <class V, class Pass>
ROWAN_HD_INLINE V mean_of_terms(Pass const& pass, std::size_t row, std::size_t width, V const& sums) {
    using S = typename lane_of<V>::type;
    V means = quotient(sums, constant<V>(static_cast<double>(width)));
    if constexpr (is_machine_float<S>) {
        mend_lanes(
            means, [](S const& mean) { return !is_finite(mean); },
            [&](std::size_t k, S& mean) {
                mean = mean_of_sum(mean, static_cast<double>(width), [&] {
                    S sum = 0;
                    for (std::size_t i = 0; i < width; ++i)
                        sum = plus(sum, product(pass.template at<S>(row + k, i), S(mean_factor<S>)));
                    return sum;
                });
            });
    }
    return means;
}

/// The numbers of a row.
template <class S>
struct FiveNumbers {
    S x[5];
    ROWAN_HD_INLINE S operator[](std::size_t i) const { return x[i]; }
};

/// Rows with some numbers each: the mean, 1 / √(variance + epsilon), the power of two by which x is multiplied before
/// (1 unless a square of another row overflows or vanishes), and two more of a gradient. The means of all rows come
/// first, then the second numbers …
template <class T, class Numbers = sum_t<T>*>
struct NormOfRows {
    T const* x;
    Numbers numbers;
    std::size_t count, rows, width;
    double epsilon;

    static constexpr bool scales = is_machine_float<sum_t<T>>;  // other types have the factor 1

    /// That of one row, with a copy of its numbers: writing results does not change them.
    NormOfRows<T, FiveNumbers<sum_t<T>>> of_row(std::size_t row) const {
        sum_t<T> const *const n = numbers + row, *const last = n + (count - 2) * rows;
        return {x, {{n[0], n[rows], n[2 * rows], last[0], last[rows]}}, count, rows, width, epsilon};
    }

    template <class V>
    ROWAN_HD_INLINE V number(std::size_t row, std::size_t i) const {
        if constexpr (std::is_pointer_v<Numbers>) {
            return V(numbers[i * rows + row]);
        } else {
            return V(numbers[i]);
        }
    }
    /// Stores that number of a row, or of as many rows as V has lanes.
    template <class V>
    ROWAN_HD_INLINE void set(std::size_t row, std::size_t i, V const& value) const {
        store(value, numbers + (i * rows + row));
    }
    ROWAN_FORMULA V centered(std::size_t row, std::size_t column) const {
        return V(load<V>(x + row * width + column) - number<V>(row, 0));
    }
    ROWAN_FORMULA V at(std::size_t row, std::size_t column) const {
        V a = load<V>(x + row * width + column);
        if constexpr (scales) a = product(a, number<V>(row, 2));
        return product(V(a - number<V>(row, 0)), number<V>(row, 1));
    }

    /// Stores the numbers of a row again, those of the row times a power of two, unless its variance is lost in epsilon.
    ROWAN_HD void scale_row(std::size_t row) const {
        using S = sum_t<T>;
        T const* const a = x + row * width;
        if (width == 0) return;
        S const f = unit_factor(greatest_size<S>(width, a)), n = static_cast<S>(static_cast<double>(width));
        S e = 0;
        if (!scale_epsilon(epsilon, f, e)) return;
        S const first = product(load<S>(a), f);
        S sum = 0, squares = 0;
        for (std::size_t i = 0; i < width; ++i) sum = plus(sum, S(product(load<S>(a + i), f) - first));
        S const mean = plus(first, quotient(sum, n));
        for (std::size_t i = 0; i < width; ++i)
            squares = plus(squares, squared{}(S(product(load<S>(a + i), f) - mean)));
        set(row, 0, mean);
        set(row, 1, inverse_root(S(quotient(squares, n) + e)));
        set(row, 2, f);
    }
};

/// The mean as first + mean of (x - first): exact where all elements are equal, and close to them where they are close to
/// each other, however large they are. A mean of x would be rounded by as much as its last bit, which may be more than
/// the deviation.
template <class T>
struct MeanOfRow {
    NormOfRows<T> norm;

    ROWAN_FORMULA V at(std::size_t row, std::size_t column) const {
        T const* const first = norm.x + row * norm.width;
        return V(load<V>(first + column) - V(load<sum_t<T>>(first)));
    }
    ROWAN_FORMULA void done(std::size_t row, V const& sum) const {
        if (norm.width == 0) return;
        V const first = firsts<V>(row, std::make_index_sequence<lanes_in<V>>());
        norm.set(row, 0, plus(first, quotient(sum, constant<V>(static_cast<double>(norm.width)))));
    }

private:
    /// The first elements of as many rows as V has lanes.
    ROWAN_NO_EXEC_CHECK
    template <class V, std::size_t... k>
    ROWAN_HD_INLINE V firsts(std::size_t row, std::index_sequence<k...>) const {
        if constexpr (is_register<V>) {
            return V(typename V::vector{load<sum_t<T>>(norm.x + (row + k) * norm.width)...});
        } else {
            return load<V>(norm.x + row * norm.width);
        }
    }
};

template <class T>
struct VarianceOfRow {
    NormOfRows<T> norm;

    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return squared{}(norm.template centered<V>(row, column));
    }
    ROWAN_FORMULA void done(std::size_t row, V const& sum) const {
        V const variance = quotient(sum, constant<V>(static_cast<double>(norm.width)));
        V square = variance + constant<V>(norm.epsilon);
        norm.set(row, 1, inverse_root(square));
        norm.set(row, 2, constant<V>(1.0));
        if constexpr (NormOfRows<T>::scales) {
            using S = sum_t<T>;
            mend_lanes(
                square, [](S const& one) { return !has_squares(one); },
                [&](std::size_t k, S&) { norm.scale_row(row + k); });
        }
    }
};

/// to = norm · scale + shift; scale and shift have an element for each column, or are nullptr.
template <class Norm, class T>
struct ScaleAndShift {
    Norm norm;
    T const *scale, *shift;
    T* to;

    auto of_row(std::size_t row) const {
        return ScaleAndShift<decltype(norm.of_row(row)), T>{norm.of_row(row), scale, shift, to};
    }
    ROWAN_FORMULA void at(std::size_t row, std::size_t column) const {
        V y = norm.template at<V>(row, column);
        if (scale != nullptr) y = product(y, load<V>(scale + column));
        if (shift != nullptr) y = plus(y, load<V>(shift + column));
        store(y, to + row * norm.width + column);
    }
};

/// grad · norm
template <class Norm, class T>
struct TimesNorm {
    Norm norm;
    T const* grad;

    auto of_row(std::size_t row) const requires requires { norm.of_row(row); }
    { return TimesNorm<decltype(norm.of_row(row)), T>{norm.of_row(row), grad}; }
    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return product(load<V>(grad + row * norm.width + column), norm.template at<V>(row, column));
    }
};

/// The gradient of the rows, from the numbers of MeanOfGrad and MeanOfGradByNorm.
template <class T, class Norm = NormOfRows<T>>
struct GradOfRows {
    Norm norm;
    T const *scale, *out_grad;
    T* to;

    auto of_row(std::size_t row) const {
        return GradOfRows<T, decltype(norm.of_row(row))>{norm.of_row(row), scale, out_grad, to};
    }

    template <class V>
    ROWAN_HD_INLINE V scaled(std::size_t row, std::size_t column) const {
        return product(load<V>(out_grad + row * norm.width + column), load<V>(scale + column));
    }
    ROWAN_FORMULA void at(std::size_t row, std::size_t column) const {
        V const along = product(norm.template at<V>(row, column), norm.template number<V>(row, 4));
        V const rest = V(V(scaled<V>(row, column) - norm.template number<V>(row, 3)) - along);
        V slope = product(rest, norm.template number<V>(row, 1));
        if constexpr (Norm::scales) slope = product(slope, norm.template number<V>(row, 2));
        store(slope, to + row * norm.width + column);
    }
};

template <class T>
struct MeanOfGrad {
    GradOfRows<T> grad;

    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return grad.template scaled<V>(row, column);
    }
    ROWAN_FORMULA void done(std::size_t row, V const& sum) const {
        grad.norm.set(row, 3, mean_of_terms(*this, row, grad.norm.width, sum));
    }
};

template <class T>
struct MeanOfGradByNorm {
    GradOfRows<T> grad;

    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return product(grad.template scaled<V>(row, column), grad.norm.template at<V>(row, column));
    }
    ROWAN_FORMULA void done(std::size_t row, V const& sum) const {
        grad.norm.set(row, 4, mean_of_terms(*this, row, grad.norm.width, sum));
    }
};

/// Columns with a mean and 1 / √(variance + epsilon).
template <class T>
struct NormOfColumns {
    T const* x;
    sum_t<T> const *mean, *inverse;
    std::size_t width;

    ROWAN_FORMULA V centered(std::size_t row, std::size_t column) const {
        return V(load<V>(x + row * width + column) - load<V>(mean + column));
    }
    ROWAN_FORMULA V at(std::size_t row, std::size_t column) const {
        return product(centered<V>(row, column), load<V>(inverse + column));
    }
};

template <class T>
struct SquaredDeviation {
    NormOfColumns<T> norm;

    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return squared{}(norm.template centered<V>(row, column));
    }
    ROWAN_HD sum_t<T> small(std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        return squared{}(product(norm.template centered<S>(row, column), constant<S>(mean_factor_root<double>)));
    }
};

/// x - that of the first row, for a mean as in MeanOfRow.
template <class T>
struct FromFirstRow {
    T const* x;
    std::size_t width;

    ROWAN_FORMULA V at(std::size_t row, std::size_t column) const {
        return V(load<V>(x + row * width + column) - load<V>(x + column));
    }
};

/// Makes the means of columns of the sums over FromFirstRow, in place.
template <class T>
struct MeansFromFirstRow {
    T const* x;
    sum_t<T>* sums;
    std::size_t n, width;
    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        S const size = constant<S>(static_cast<double>(n)), first = load<S>(x + k);
        if constexpr (is_machine_float<S>) {
            if (!is_finite(sums[k])) {
                S const from = product(first, S(mean_factor<S>));
                S sum = 0;
                for (std::size_t i = 0; i < n; ++i)
                    sum = plus(sum, S(product(load<S>(x + i * width + k), S(mean_factor<S>)) - from));
                sums[k] = quotient(plus(from, quotient(sum, size)), S(mean_factor<S>));
                return;
            }
        }
        sums[k] = plus(first, quotient(sums[k], size));
    }
};

/// Makes means of the sums of a term over n rows, in place.
template <class S, class Term>
struct MeansOfSums {
    Term term;
    S* sums;
    std::size_t n;
    ROWAN_HD void operator()(std::size_t k) const {
        sums[k] = mean_of_sum(sums[k], static_cast<double>(n), [&] {
            S sum = constant<S>(0.0);
            for (std::size_t i = 0; i < n; ++i) sum = plus(sum, term.small(i, k));
            return sum;
        });
    }
};

/// A term that is multiplied by mean_factor for a sum again.
template <class S, class Term>
struct SmallTerm {
    Term term;
    ROWAN_HD S small(std::size_t row, std::size_t column) const {
        return product(term.template at<S>(row, column), constant<S>(mean_factor<double>));
    }
};

/// Replaces variances in place by 1 / √(variance + epsilon). If they are those of n > 0 rows, squares that overflow or
/// vanish are formed again.
template <class T>
struct InvertDeviations {
    using S = sum_t<T>;
    NormOfColumns<T> norm;
    S* variance;
    std::size_t n;
    double epsilon;

    ROWAN_HD void operator()(std::size_t k) const {
        S const square = variance[k] + constant<S>(epsilon);
        variance[k] = inverse_root(square);
        if constexpr (is_machine_float<S>) {
            if (n != 0 && !has_squares(square)) again(k);
        }
    }

private:
    ROWAN_HD void again(std::size_t k) const {
        auto const centered = [&](std::size_t i) { return norm.template centered<S>(i, k); };
        S const f = unit_factor(greatest_of<S>(0, n, centered));
        S e = 0, squares = 0;
        if (!scale_epsilon(epsilon, f, e)) return;
        for (std::size_t i = 0; i < n; ++i) squares = plus(squares, squared{}(product(centered(i), f)));
        variance[k] = product(inverse_root(S(quotient(squares, static_cast<S>(static_cast<double>(n))) + e)), f);
    }
};

/// to = momentum · moving + (1 - momentum) · now
struct MoveTowards {
    double momentum;

    ROWAN_FORMULA V operator()(V const& moving, V const& now) const {
        return plus(product(moving, constant<V>(momentum)), product(now, constant<V>(1 - momentum)));
    }
};

/// The gradient of x: with the statistics of a batch, from the means of g and of g · norm; else, with nullptr as these,
/// for constant ones.
template <class T>
struct GradOfColumns {
    NormOfColumns<T> norm;
    sum_t<T> const *grad_mean, *along_mean;
    T const *scale, *out_grad;
    T* to;

    ROWAN_FORMULA void at(std::size_t row, std::size_t column) const {
        std::size_t const here = row * norm.width + column;
        V g = load<V>(out_grad + here);
        if (grad_mean != nullptr) {
            V const along = product(norm.template at<V>(row, column), load<V>(along_mean + column));
            g = V(V(g - load<V>(grad_mean + column)) - along);
        }
        store(product(product(g, load<V>(scale + column)), load<V>(norm.inverse + column)), to + here);
    }
};

}  // namespace rowan::inline v0::detail
