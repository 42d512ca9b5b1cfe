// rowan/op/norm/layer_norm.hpp: layer_norm, each row with mean 0 and variance 1, scaled and shifted.
#pragma once

#include <rowan/op/detail/matrix_sums.hpp>
#include <rowan/op/detail/norm_formulas.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/norm/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The rows that layer_norm normalises.
template <class T, class D>
struct NormRows {
    typename Tensor<T, D>::shape_type tail;
    std::size_t n, width;

    NormRows(Tensor<T, D> const& x, LayerNormOptions const& options) {
        if (x.dimension() < 2) throw ShapeError("x rank", x.dimension(), "at least 2");
        std::size_t const axis = first_normalised(options, x.dimension());
        tail = shape_from(x.shape(), axis);
        width = product_from(x.shape(), axis);
        n = 1;
        for (std::size_t i = 0; i < axis; ++i) n *= x.shape(i);
    }

    void check(char const* field, Tensor<T, D> const* w) const {
        if (w != nullptr && w->shape() != tail)
            throw ShapeError({field, ".shape()"}, shape_text(w->shape()),
                             {shape_text(tail), ", the dims of x from begin_axis on"});
    }
};

template <class T, class D>
Tensor<T, D> normalised_rows(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const* scale, Tensor<T, D> const* shift,
                             LayerNormOptions const& options) {
    using S = sum_t<T>;
    static_assert(floating_element<T>, "rowan::layer_norm: x must have a floating-point type: convert it");
    NormRows<T, D> const rows(x, options);
    rows.check("scale", scale);
    rows.check("shift", shift);
    ElementLoops<D>::check(exec, x);
    if (scale != nullptr) ElementLoops<D>::check(exec, *scale);
    if (shift != nullptr) ElementLoops<D>::check(exec, *shift);
    auto out = new_tensor<T>(exec, x.shape());
    auto numbers = ElementLoops<D>::template scratch<S>(exec, rows.n * 3);
    NormOfRows<T> const norm{x.data(), numbers.data(), 3, rows.n, rows.width, options.epsilon};
    MatrixSums<D>::template of_rows<S>(
        exec, rows.n, rows.width,
        ScaleAndShift<NormOfRows<T>, T>{norm, scale == nullptr ? nullptr : scale->data(),
                                        shift == nullptr ? nullptr : shift->data(), out.data()},
        MeanOfRow<T>{norm}, VarianceOfRow<T>{norm});
    return out;
}

}  // namespace detail

template <>
struct detail::function_of<layer_norm_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& scale, Tensor<T, D> const& shift,
                            LayerNormOptions const& options) {
        return normalised_rows(exec, x, &scale, &shift, options);
    }

    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, LayerNormOptions const& options) {
        return normalised_rows<T, D>(exec, x, nullptr, nullptr, options);
    }
};

/// The gradients of scale and shift.
struct layer_norm_param_grad_op
    : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::w>, grad_of<slot::b>>, LayerNormOptions> {
    static constexpr std::string_view name = "layer_norm_param_grad";
    static constexpr unsigned row_inputs = 0b11;
    static constexpr bool sums_rows = true;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& out_grad,
                                                  LayerNormOptions const& options) {
        VarSpec w = spec::elementwise("layer_norm_param_grad: out@GRAD", out_grad, x);
        w.dims = detail::shape_from(x.dims, detail::first_normalised(options, x.dims.size()));
        w.lod_level = 0;
        return {w, w};
    }

    /// The gradients of scale and shift: the sums of out_grad · h and of out_grad over the rows, in blocks of 64 rows as in
    /// merge; h is the normalised row.
    /// shapes   x and out_grad [n, ...] -> two tensors with the dims of x from begin_axis on
    /// errors   as layer_norm; ShapeError if out_grad does not have the shape of x
    /// cost     one read of both; temporary memory for the sums of blocks: 1/32 of x
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                                                      LayerNormOptions const& options = {}) {
        using S = detail::sum_t<T>;
        detail::NormRows<T, D> const rows(x, options);
        detail::check_same_shape("out_grad", out_grad, x);
        detail::ElementLoops<D>::check(exec, x, out_grad);
        auto scale_grad = detail::new_tensor<T>(exec, rows.tail), shift_grad = detail::new_tensor<T>(exec, rows.tail);
        auto numbers = detail::ElementLoops<D>::template scratch<S>(exec, rows.n * 3);
        detail::NormOfRows<T> const norm{x.data(), numbers.data(), 3, rows.n, rows.width, options.epsilon};
        detail::column_sums<S>(
            exec, rows.n, rows.width,
            std::tuple{detail::ColumnSum{detail::TimesNorm<detail::NormOfRows<T>, T>{norm, out_grad.data()},
                                         scale_grad.data()},
                       detail::ColumnSum{detail::MatrixElement<T>{out_grad.data(), rows.width}, shift_grad.data()}},
            detail::MeanOfRow<T>{norm}, detail::VarianceOfRow<T>{norm});
        return {std::move(scale_grad), std::move(shift_grad)};
    }
};

/// See layer_norm. The slots w and b hold scale and shift.
struct layer_norm_op : detail::declared<layer_norm_op> {
    static constexpr unsigned row_inputs = 0b001;
    using grad =
        grad_rules<gradient<layer_norm_op, uses<slot::x, slot::w, grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                   grad_rule<layer_norm_param_grad_op>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, VarSpec const& b,
                                   LayerNormOptions const& options) {
        spec::rows_of_elements("layer_norm: x", x);
        std::size_t const axis = detail::first_normalised(options, x.dims.size());
        VarSpec out = x, like = x;
        like.dims = detail::shape_from(x.dims, axis);
        spec::dense("layer_norm: scale", w);
        spec::dense("layer_norm: shift", b);
        spec::same_dtype("layer_norm: scale", w, x);
        spec::same_dtype("layer_norm: shift", b, x);
        like.dims = spec::same_dims("layer_norm: scale", w, like);
        like.dims = spec::same_dims("layer_norm: shift", b, like);
        for (std::size_t i = 0; i < like.dims.size(); ++i) out.dims[axis + i] = like.dims[i];
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b,
                            LayerNormOptions const& options) {
        return layer_norm(exec, x, w, b, options);
    }

    /// The gradient of x. With h the normalised row and g = out_grad · scale:
    /// (g - mean of g - h · mean of g · h) / √(variance + epsilon)
    /// shapes   x and out_grad [n, ...], scale as in layer_norm -> [n, ...]
    /// errors   as layer_norm; ShapeError if out_grad does not have the shape of x
    /// cost     one read of both and one write; mean and variance are computed again
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& scale, Tensor<T, D> const& out_grad,
                                 LayerNormOptions const& options = {}) {
        using S = detail::sum_t<T>;
        detail::NormRows<T, D> const rows(x, options);
        rows.check("scale", &scale);
        detail::check_same_shape("out_grad", out_grad, x);
        detail::ElementLoops<D>::check(exec, x, scale, out_grad);
        auto x_grad = detail::new_tensor<T>(exec, x.shape());
        auto numbers = detail::ElementLoops<D>::template scratch<S>(exec, rows.n * 5);
        detail::NormOfRows<T> const norm{x.data(), numbers.data(), 5, rows.n, rows.width, options.epsilon};
        detail::GradOfRows<T> const grad{norm, scale.data(), out_grad.data(), x_grad.data()};
        detail::MatrixSums<D>::template of_rows<S>(exec, rows.n, rows.width, grad, detail::MeanOfRow<T>{norm},
                                                   detail::MeanOfGrad<T>{grad}, detail::VarianceOfRow<T>{norm},
                                                   detail::MeanOfGradByNorm<T>{grad});
        return x_grad;
    }
};

}  // namespace rowan::inline v0
