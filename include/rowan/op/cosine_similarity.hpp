// rowan/op/cosine_similarity.hpp: cosine_similarity, the cosine of the angle between rows.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

/// The settings of cosine_similarity.
struct CosineOptions {
    double epsilon = 1e-8;  ///< norms below it count as it, above 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"epsilon", &CosineOptions::epsilon});
    }
};

namespace detail {

constexpr void check_cosine(CosineOptions const& options) {
    check_finite("epsilon", options.epsilon);
    if (!(options.epsilon > 0)) throw ValueError("epsilon", options.epsilon, "a positive number");
}

/// The same, and epsilon must be positive in dtype<T>::sum too.
template <class T>
void check_cosine(CosineOptions const& options) {
    check_cosine(options);
    if (!(constant<sum_t<T>>(0.0) < constant<sum_t<T>>(options.epsilon)))
        throw ValueError("epsilon", options.epsilon, "a positive number in the type of computation");
}

/// The dot products of the rows of x and y, of x and of y with themselves.
template <class T, class D>
struct RowProducts {
    using S = sum_t<T>;
    decltype(ElementLoops<D>::template scratch<S>(std::declval<D const&>(), 0)) numbers;

    RowProducts(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y)
        : numbers(ElementLoops<D>::template scratch<S>(exec, 3 * x.shape(0))) {
        std::size_t const n = x.shape(0), width = x.shape(1);
        if (n == 0) return;
        MatrixRows<D>::dots(exec, n, width, x.data(), y.data(), numbers.data());
        MatrixRows<D>::dots(exec, n, width, x.data(), x.data(), numbers.data() + n);
        MatrixRows<D>::dots(exec, n, width, y.data(), y.data(), numbers.data() + 2 * n);
    }
};

/// The norm of a row from its square, at least epsilon.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S norm_of(S const& square, double epsilon) {
    S const norm = square_root(square), least = constant<S>(epsilon);
    return norm < least ? least : norm;
}

template <class T>
struct CosineOfRow {
    using S = sum_t<T>;
    S const* products;
    std::size_t n;
    double epsilon;
    T* to;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        S const x = norm_of(products[n + row], epsilon), y = norm_of(products[2 * n + row], epsilon);
        store(S(quotient(quotient(products[row], x), y)), to + row);
    }
};

/// Replaces the products of a row by the factors of its gradients: of the other row, and of x and y themselves.
template <class T>
struct CosineSlopes {
    using S = sum_t<T>;
    S* products;
    std::size_t n;
    double epsilon;
    T const* out_grad;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        S const xx = products[n + row], yy = products[2 * n + row], zero = constant<S>(0.0);
        S const x = norm_of(xx, epsilon), y = norm_of(yy, epsilon), least = constant<S>(epsilon);
        S const other = quotient(quotient(load<S>(out_grad + row), x), y), whole = product(other, products[row]);
        products[row] = other;
        products[n + row] = x > least ? S(quotient(quotient(whole, x), x)) : zero;
        products[2 * n + row] = y > least ? S(quotient(quotient(whole, y), y)) : zero;
    }
};

template <class T>
struct CosineGradStep {
    using S = sum_t<T>;
    struct Row {
        S other, of_x, of_y;
        std::size_t at;
    };
    S const* factors;
    std::size_t n, width;
    T const *x, *y;
    T *x_grad, *y_grad;

    ROWAN_HD Row of_row(std::size_t row) const {
        return {factors[row], factors[n + row], factors[2 * n + row], row * width};
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(Row const& row, std::size_t column) const {
        std::size_t const i = row.at + column;
        V const a = load<V>(x + i), b = load<V>(y + i), other(row.other);
        store(V(product(other, b) - product(V(row.of_x), a)), x_grad + i);
        store(V(product(other, a) - product(V(row.of_y), b)), y_grad + i);
    }
};

}  // namespace detail

/// x · y / (max(|x|, epsilon) · max(|y|, epsilon)) for the rows of x and y, as in PyTorch, computed in dtype<T>::sum. Row
/// sums are formed in 16 interleaved partial sums.
/// shapes   x [n, width], y [n, width] -> [n, 1]
/// errors   ValueError if epsilon is not finite or, in dtype<T>::sum, not above 0; ShapeError if x is not a matrix or the
///          shapes differ
/// cost     two reads of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> cosine_similarity(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                               CosineOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cosine_similarity: x and y must have a floating-point type");
    detail::check_cosine<T>(options);
    detail::check_rank("x", x, 2);
    detail::check_same_shape("y", y, x);
    detail::ElementLoops<D>::check(exec, x, y);
    std::size_t const n = x.shape(0);
    detail::RowProducts<T, D> const products(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {n, 1});
    detail::ElementLoops<D>::each(exec, n, 1,
                                  detail::CosineOfRow<T>{products.numbers.data(), n, options.epsilon, out.data()});
    return out;
}

/// The gradients of x and y: out_grad · (y / (|x| |y|) - cos · x / |x|²), and the same with x and y exchanged; a norm
/// that counts as epsilon is a constant.
/// shapes   x [n, width], y [n, width], out_grad [n, 1] -> both [n, width]
/// errors   as cosine_similarity; ShapeError if out_grad has another shape
/// cost     three reads of both and two writes; the same bits for any number of threads
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> cosine_similarity_grad(D const& exec, Tensor<T, D> const& x,
                                                              Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                                                              CosineOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cosine_similarity_grad: x and y must have a floating-point type");
    detail::check_cosine<T>(options);
    detail::check_rank("x", x, 2);
    detail::check_same_shape("y", y, x);
    std::size_t const n = x.shape(0), width = x.shape(1);
    if (out_grad.dimension() != 2 || out_grad.shape(0) != n || out_grad.shape(1) != 1)
        throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()),
                         detail::shape_text(typename Tensor<T, D>::shape_type{n, 1}));
    detail::ElementLoops<D>::check(exec, x, y, out_grad);
    detail::RowProducts<T, D> products(exec, x, y);
    auto x_grad = detail::new_tensor<T>(exec, x.shape()), y_grad = detail::new_tensor<T>(exec, x.shape());
    detail::ElementLoops<D>::each(
        exec, n, 1, detail::CosineSlopes<T>{products.numbers.data(), n, options.epsilon, out_grad.data()});
    detail::ElementLoops<D>::template each_in_rows<detail::sum_t<T>>(
        exec, n, width,
        detail::CosineGradStep<T>{products.numbers.data(), n, width, x.data(), y.data(), x_grad.data(), y_grad.data()});
    return {std::move(x_grad), std::move(y_grad)};
}

template <class T, class Device>
Tensor<T, Device> cosine_similarity(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                    CosineOptions const& options = {}) {
    return cosine_similarity(x.device(), x, y, options);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> cosine_similarity_grad(Tensor<T, Device> const& x,
                                                                        Tensor<T, Device> const& y,
                                                                        Tensor<T, Device> const& out_grad,
                                                                        CosineOptions const& options = {}) {
    return cosine_similarity_grad(x.device(), x, y, out_grad, options);
}

struct cosine_similarity_grad_op;

/// See cosine_similarity.
struct cosine_similarity_op {
    static constexpr std::string_view name = "cosine_similarity";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using attributes = CosineOptions;
    using grad = grad_rule<cosine_similarity_grad_op, uses<slot::x, slot::y, grad_of<slot::out>>,
                           makes<grad_of<slot::x>, grad_of<slot::y>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, attributes const& a) {
        detail::check_cosine(a);
        spec::matrix("cosine_similarity: x", x);
        VarSpec out = spec::elementwise("cosine_similarity: y", y, x);
        out.dims[1] = 1;
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, attributes const& a) {
        return cosine_similarity(exec, x, y, a);
    }
};

struct cosine_similarity_grad_op {
    static constexpr std::string_view name = "cosine_similarity_grad";
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>, grad_of<slot::y>>;
    using attributes = CosineOptions;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad,
                                                  attributes const& a) {
        spec::elementwise("cosine_similarity_grad: out@GRAD", out_grad, cosine_similarity_op::infer(x, y, a));
        return {x, y};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                      Tensor<T, D> const& out_grad, attributes const& a) {
        return cosine_similarity_grad(exec, x, y, out_grad, a);
    }
};

}  // namespace rowan::inline v0
