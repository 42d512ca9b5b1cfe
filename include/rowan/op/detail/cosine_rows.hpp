// rowan/op/detail/cosine_rows.hpp: the products of rows of which cosine_similarity and its gradient are made.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0::detail {

/// The dot products of the rows of x and y, of x and of y with themselves. Where they might overflow or vanish, the row
/// is multiplied by a power of two, its factor.
template <class S>
struct ProductsOfRows {
    static constexpr bool scales = is_machine_float<S>;  // other types have no factors
    static constexpr std::size_t numbers = scales ? 5 : 3;
    S* products;  // [numbers, n]
    std::size_t n;

    ROWAN_HD S& xy(std::size_t row) const { return products[row]; }
    ROWAN_HD S& xx(std::size_t row) const { return products[n + row]; }
    ROWAN_HD S& yy(std::size_t row) const { return products[2 * n + row]; }
    ROWAN_HD S& x_factor(std::size_t row) const { return products[3 * n + row]; }
    ROWAN_HD S& y_factor(std::size_t row) const { return products[4 * n + row]; }

    /// The least norms of x and y, in the scale of the row.
    ROWAN_KERNEL S least_x(std::size_t row, double epsilon) const { return least(epsilon, 3 * n + row); }
    ROWAN_KERNEL S least_y(std::size_t row, double epsilon) const { return least(epsilon, 4 * n + row); }

private:
    ROWAN_KERNEL S least(double epsilon, [[maybe_unused]] std::size_t factor) const {
        S const e = constant<S>(epsilon);
        if constexpr (scales) return product(e, products[factor]);
        return e;
    }
};

/// Sets the factors of a row, and computes its products again unless both are 1.
template <class T>
struct RescaleRow {
    using S = sum_t<T>;
    ProductsOfRows<S> of;
    std::size_t width;
    double epsilon;
    T const *x, *y;

    ROWAN_HD void operator()(std::size_t row) const {
        T const *const a = x + row * width, *const b = y + row * width;
        S const f = factor(of.xx(row), a), g = factor(of.yy(row), b);
        of.x_factor(row) = f;
        of.y_factor(row) = g;
        if (f == 1 && g == 1) return;
        of.xy(row) = scaled_dot(width, a, f, b, g);
        of.xx(row) = scaled_dot(width, a, f, a, f);
        of.yy(row) = scaled_dot(width, b, g, b, g);
    }

private:
    // Rows shorter than epsilon are scaled as it is, so that it does not become large.
    ROWAN_HD S factor(S const& square, T const* values) const {
        if (is_middling(square)) return 1;
        S const size = greatest_size<S>(width, values), least = constant<S>(epsilon);
        return size == 0 ? S(1) : unit_factor(size < least ? least : size);
    }
};

template <class T, class D>
struct RowProducts {
    using S = sum_t<T>;
    decltype(ElementLoops<D>::template scratch<S>(std::declval<D const&>(), 0)) numbers;
    ProductsOfRows<S> of;

    RowProducts(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, [[maybe_unused]] double epsilon)
        : numbers(ElementLoops<D>::template scratch<S>(exec, ProductsOfRows<S>::numbers * x.shape(0))),
          of{numbers.data(), x.shape(0)} {
        std::size_t const n = x.shape(0), width = x.shape(1);
        if (n == 0) return;
        MatrixRows<D>::dots(exec, n, width, x.data(), y.data(), of.products);
        MatrixRows<D>::dots(exec, n, width, x.data(), x.data(), of.products + n);
        MatrixRows<D>::dots(exec, n, width, y.data(), y.data(), of.products + 2 * n);
        if constexpr (ProductsOfRows<S>::scales)
            ElementLoops<D>::each(exec, n, 1, RescaleRow<T>{of, width, epsilon, x.data(), y.data()});
    }
    RowProducts(RowProducts const&) = delete;
    RowProducts& operator=(RowProducts const&) = delete;
};

/// The norm of a row from its square, at least `least`.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S norm_of(S const& square, S const& least) {
    S const norm = square_root(square);
    return norm < least ? least : norm;
}

template <class T>
struct CosineOfRow {
    using S = sum_t<T>;
    ProductsOfRows<S> of;
    double epsilon;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        S const x = norm_of(of.xx(row), of.least_x(row, epsilon)), y = norm_of(of.yy(row), of.least_y(row, epsilon));
        store(limited(S(quotient(quotient(of.xy(row), x), y)), -1.0, 1.0), to + row);  // by rounding beyond 1
    }
};

/// Replaces the products of a row by the factors of its gradients: of the other row, and of x and y themselves.
template <class T>
struct CosineSlopes {
    using S = sum_t<T>;
    ProductsOfRows<S> of;
    double epsilon;
    T const* out_grad;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        S const least_x = of.least_x(row, epsilon), least_y = of.least_y(row, epsilon), zero = constant<S>(0.0);
        S const x = norm_of(of.xx(row), least_x), y = norm_of(of.yy(row), least_y);
        S const other = quotient(quotient(load<S>(out_grad + row), x), y), whole = product(other, of.xy(row));
        of.xy(row) = other;
        of.xx(row) = x > least_x ? S(quotient(quotient(whole, x), x)) : zero;
        of.yy(row) = y > least_y ? S(quotient(quotient(whole, y), y)) : zero;
    }
};

template <class T>
struct CosineGradStep {
    using S = sum_t<T>;
    struct Row {
        S other, of_x, of_y;
        std::size_t at, row;
        bool scaled;
    };
    ProductsOfRows<S> of;
    std::size_t width;
    T const *x, *y;
    T *x_grad, *y_grad;

    ROWAN_HD Row of_row(std::size_t row) const {
        bool scaled = false;
        if constexpr (ProductsOfRows<S>::scales) scaled = of.x_factor(row) != 1 || of.y_factor(row) != 1;
        return {of.xy(row), of.xx(row), of.yy(row), row * width, row, scaled};
    }

    ROWAN_FORMULA void at(Row const& row, std::size_t column) const {
        std::size_t const i = row.at + column;
        V a = load<V>(x + i), b = load<V>(y + i);
        if constexpr (ProductsOfRows<S>::scales) {
            if (row.scaled) {
                V const f(of.x_factor(row.row)), g(of.y_factor(row.row));
                a = product(a, f), b = product(b, g);
                store(product(x_slope(row, a, b), f), x_grad + i);
                return store(product(y_slope(row, a, b), g), y_grad + i);
            }
        }
        store(x_slope(row, a, b), x_grad + i);
        store(y_slope(row, a, b), y_grad + i);
    }

private:
    ROWAN_FORMULA static V x_slope(Row const& row, V const& a, V const& b) {
        return product(V(row.other), b) - product(V(row.of_x), a);
    }
    ROWAN_FORMULA static V y_slope(Row const& row, V const& a, V const& b) {
        return product(V(row.other), a) - product(V(row.of_y), b);
    }
};

}  // namespace rowan::inline v0::detail
