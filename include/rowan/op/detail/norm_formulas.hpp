// rowan/op/detail/norm_formulas.hpp: the formulas of layer_norm and batch_norm, for MatrixSums and column_sums.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/lanes.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Throws ValueError if epsilon is negative or not finite.
constexpr void check_norm_epsilon(double epsilon) {
    if (!(epsilon >= 0 && epsilon - epsilon == 0)) throw ValueError("epsilon", epsilon, "0 or more");
}

/// total / n
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S mean_of_sum(S const& total, std::size_t n) {
    return quotient(total, constant<S>(static_cast<double>(n)));
}

/// 1 / √(variance + epsilon)
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S inverse_deviation(S const& variance, double epsilon) {
    return quotient(constant<S>(1.0), square_root(S(variance + constant<S>(epsilon))));
}

/// The numbers of a row.
template <class S>
struct FourNumbers {
    S x[4];
    ROWAN_HD_INLINE S operator[](std::size_t i) const { return x[i]; }
};

/// Rows with some numbers each: the mean, 1 / √(variance + epsilon), and two more of a gradient. The means of all rows
/// come first, then the second numbers …
template <class T, class Numbers = sum_t<T>*>
struct NormOfRows {
    T const* x;
    Numbers numbers;
    std::size_t count, rows, width;
    double epsilon;

    /// That of one row, with a copy of its numbers: writing results does not change them.
    NormOfRows<T, FourNumbers<sum_t<T>>> of_row(std::size_t row) const {
        sum_t<T> const *const n = numbers + row, *const last = n + (count - 2) * rows;
        return {x, {{n[0], n[rows], last[0], last[rows]}}, count, rows, width, epsilon};
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
        return product(centered<V>(row, column), number<V>(row, 1));
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
        norm.set(row, 0, plus(first, mean_of_sum(sum, norm.width)));
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
        norm.set(row, 1, inverse_deviation(mean_of_sum(sum, norm.width), norm.epsilon));
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
        V const along = product(norm.template at<V>(row, column), norm.template number<V>(row, 3));
        V const rest = V(V(scaled<V>(row, column) - norm.template number<V>(row, 2)) - along);
        store(product(rest, norm.template number<V>(row, 1)), to + row * norm.width + column);
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
        grad.norm.set(row, 2, mean_of_sum(sum, grad.norm.width));
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
        grad.norm.set(row, 3, mean_of_sum(sum, grad.norm.width));
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
    std::size_t n;
    ROWAN_KERNEL void operator()(std::size_t k) const {
        sums[k] = plus(load<sum_t<T>>(x + k), mean_of_sum(sums[k], n));
    }
};

/// Divides sums in place by n.
template <class S>
struct MeansOfSums {
    S* sums;
    std::size_t n;
    ROWAN_HD void operator()(std::size_t k) const { sums[k] = mean_of_sum(sums[k], n); }
};

/// Replaces variances in place by 1 / √(variance + epsilon).
template <class S>
struct InvertDeviations {
    S* variance;
    double epsilon;
    ROWAN_HD void operator()(std::size_t k) const { variance[k] = inverse_deviation(variance[k], epsilon); }
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
