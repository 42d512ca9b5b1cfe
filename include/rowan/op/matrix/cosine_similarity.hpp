// rowan/op/matrix/cosine_similarity.hpp: cosine_similarity, the cosine of the angle between rows.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/cosine_rows.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

constexpr void check_cosine(CosineOptions const& options) {
    check_finite("epsilon", options.epsilon);
    if (!(options.epsilon > 0)) throw ValueError("epsilon", options.epsilon, "a positive number");
}

/// Checks that epsilon is finite, and positive in dtype<T>::sum, too.
template <class T>
void check_cosine(CosineOptions const& options) {
    check_cosine(options);
    if (!(constant<sum_t<T>>(0.0) < constant<sum_t<T>>(options.epsilon)))
        throw ValueError("epsilon", options.epsilon, "a positive number in the type of computation");
}

}  // namespace detail

template <>
struct detail::function_of<cosine_similarity_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, CosineOptions const& options) {
        check_cosine<T>(options);
        check_rank("x", x, 2);
        check_same_shape("y", y, x);
        ElementLoops<D>::check(exec, x, y);
        std::size_t const n = x.shape(0);
        RowProducts<T, D> const products(exec, x, y, options.epsilon);
        auto out = new_tensor<T>(exec, {n, 1});
        ElementLoops<D>::each(exec, n, 1, CosineOfRow<T>{products.of, options.epsilon, out.data()});
        return out;
    }
};

/// See cosine_similarity.
struct cosine_similarity_op : detail::declared<cosine_similarity_op> {
    using grad = gradient<cosine_similarity_op, uses<slot::x, slot::y, grad_of<slot::out>>,
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

    /// The gradients of x and y: out_grad · (y / (|x| |y|) - cos · x / |x|²), and the same with x and y exchanged; a norm
    /// that counts as epsilon is a constant.
    /// shapes   x [n, width], y [n, width], out_grad [n, 1] -> both [n, width]
    /// errors   as cosine_similarity; ShapeError if out_grad has another shape
    /// cost     three reads of both and two writes; the same bits for any number of threads
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                           Tensor<T, D> const& out_grad,
                                                           CosineOptions const& options = {}) {
        static_assert(floating_element<T>, "rowan::cosine_similarity: x and y must have a floating-point type");
        detail::check_cosine<T>(options);
        detail::check_rank("x", x, 2);
        detail::check_same_shape("y", y, x);
        std::size_t const n = x.shape(0), width = x.shape(1);
        if (out_grad.dimension() != 2 || out_grad.shape(0) != n || out_grad.shape(1) != 1)
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()),
                             detail::shape_text(typename Tensor<T, D>::shape_type{n, 1}));
        detail::ElementLoops<D>::check(exec, x, y, out_grad);
        detail::RowProducts<T, D> products(exec, x, y, options.epsilon);
        auto x_grad = detail::new_tensor<T>(exec, x.shape()), y_grad = detail::new_tensor<T>(exec, x.shape());
        detail::ElementLoops<D>::each(exec, n, 1,
                                      detail::CosineSlopes<T>{products.of, options.epsilon, out_grad.data()});
        detail::ElementLoops<D>::template each_in_rows<detail::sum_t<T>>(
            exec, n, width,
            detail::CosineGradStep<T>{products.of, width, x.data(), y.data(), x_grad.data(), y_grad.data()});
        return {std::move(x_grad), std::move(y_grad)};
    }
};

}  // namespace rowan::inline v0
