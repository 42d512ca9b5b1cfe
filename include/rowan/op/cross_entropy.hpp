// rowan/op/cross_entropy.hpp: cross_entropy, the loss of probabilities against labels.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// Checks that there is one label for each row of x, in [0, classes).
template <class T, id_type I, class D>
void check_labels(D const& exec, char const* field, Tensor<T, D> const& x, Tensor<I, D> const& label) {
    check_rank(field, x, 2);
    check_one_per_row("label", label, x.shape(0));
    ElementLoops<D>::check(exec, x, label);
    ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(x.shape(1)));
}

template <class T, class D>
void check_soft_labels(Tensor<T, D> const& x, Tensor<T, D> const& label) {
    check_rank("x", x, 2);
    check_same_shape("label", label, x);
}

/// losses[row] = -log(x[row, label[row]])
template <class T, class I>
struct LabelLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        T const* const p = x + row * classes + static_cast<std::size_t>(label[row]);
        losses[row] = constant<sum_t<T>>(0.0) - log_of(load<sum_t<T>>(p));
    }
};

/// Its gradient at the label: -grad / x.
template <class T, class I>
struct LabelLossGrad {
    T const* x;
    I const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + static_cast<std::size_t>(label[row]);
        store(S(constant<S>(0.0) - quotient(grads(row), load<S>(x + at))), to + at);
    }
};

/// Whether x is 0; false for NaN.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE bool is_zero(S const& x) {
    S const zero = constant<S>(0.0);
    return !(x < zero) && !(x > zero) && !(x != x);
}

/// label · log(x), or 0 where the label is 0.
template <class T>
struct SoftLabelTerm {
    T const *x, *label;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()(std::size_t at) const {
        using S = sum_t<T>;
        S const share = load<S>(label + at);
        return is_zero(share) ? constant<S>(0.0) : product(share, log_of(load<S>(x + at)));
    }
};

/// The gradient of the loss, the negative sum of these terms: -grad · label / x, or 0 where the label is 0.
template <class T>
struct SoftLabelGrad {
    T const *x, *label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> of_row(std::size_t row) const { return constant<sum_t<T>>(0.0) - grads(row); }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(sum_t<T> const& g, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + column;
        S const share = load<S>(label + at);
        store(is_zero(share) ? constant<S>(0.0) : S(quotient(product(share, g), load<S>(x + at))), to + at);
    }
};

}  // namespace detail

/// -log(x[i, label[i]]) for every row i, or the mean or sum of these, computed in dtype<T>::sum; `log` is std::log or
/// found by ADL. Sums are formed in blocks of 4096 elements, each in 16 interleaved partial sums, and the block sums
/// are added in the same way. A probability of 0 has an infinite loss; softmax_with_cross_entropy avoids this. The
/// precision on Cuda is that of its `log`. Goodfellow et al.: Deep Learning, 2016, section 6.2.2.
/// shapes   x [n, classes] of probabilities, label [n] of int32 or int64 -> [1], or [n] without reduction
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     O(n); the same bits for any number of threads
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                           Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>, "rowan::cross_entropy: x must have a floating-point type: convert it");
    detail::check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::ElementLoops<D>::each(exec, n, 1,
                                  detail::LabelLoss<T, I>{x.data(), label.data(), losses.data(), x.shape(1)});
    return detail::reduce<T>(exec, reduction, losses);
}

/// The same for labels that are probabilities: -Σ label · log(x) for every row; a term is 0 where its label is 0.
/// shapes   x [n, classes], label the same -> [1], or [n] without reduction
/// errors   ShapeError if x is not a matrix or label has another shape
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                           Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::cross_entropy: x and label must have a floating-point type: convert them");
    detail::check_soft_labels(x, label);
    detail::ElementLoops<D>::check(exec, x, label);
    std::size_t const n = x.shape(0);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::SoftLabelTerm<T> const term{x.data(), label.data()};
    detail::MatrixRows<D>::template negative_sums<S>(exec, n, x.shape(1), term, losses.data());
    return detail::reduce<T>(exec, reduction, losses);
}

/// The gradient of x: -out_grad / x at the label, 0 elsewhere; divided by n for Reduction::mean.
/// shapes   x [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as cross_entropy; ShapeError if out_grad has another shape
/// cost     one write of the result
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(floating_element<T>, "rowan::cross_entropy_grad: x must have a floating-point type");
    std::size_t const n = x.dimension() == 0 ? 0 : x.shape(0);
    detail::check_labels(exec, "x", x, label);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, out_grad);
    std::size_t const classes = x.shape(1);
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::LabelLossGrad<T, I> const at_label{x.data(), label.data(), grads, x_grad.data(), classes};
    detail::ElementLoops<D>::zero_rows(exec, n, classes, x_grad.data(), at_label);
    return x_grad;
}

/// The gradient of x: -out_grad · label / x, or 0 where the label is 0; divided by n for Reduction::mean. The labels
/// have no gradient.
/// shapes   x [n, classes], label the same, out_grad [1], or [n] without reduction -> [n, classes]
/// errors   ShapeError if x is not a matrix or the shapes do not match
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(floating_element<T>, "rowan::cross_entropy_grad: x must have a floating-point type");
    detail::check_soft_labels(x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, x, label, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::ElementLoops<D>::each_element(
        exec, n, classes, detail::SoftLabelGrad<T>{x.data(), label.data(), grads, x_grad.data(), classes});
    return x_grad;
}

template <class T, class L, class Device>
Tensor<T, Device> cross_entropy(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                Reduction reduction = Reduction::mean) {
    return cross_entropy(x.device(), x, label, reduction);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_grad(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                     Tensor<T, Device> const& out_grad, Reduction reduction = Reduction::mean) {
    return cross_entropy_grad(x.device(), x, label, out_grad, reduction);
}

struct cross_entropy_grad_op;

/// See cross_entropy. Labels are class indices of rank 1, or probabilities of the shape of x.
struct cross_entropy_op {
    static constexpr std::string_view name = "cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out>;
    using grad =
        grad_rule<cross_entropy_grad_op, uses<slot::x, slot::label, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        Reduction reduction = Reduction::mean;  ///< applied to the losses of the rows

        template <class Visit>
        static constexpr auto fields(Visit const& visit) {
            return visit(field{"reduction", &attributes::reduction});
        }
    };

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("cross_entropy: x", x);
        spec::dense("cross_entropy: label", label);
        std::int64_t n = x.dims[0];
        if (label.dims.size() == 2) {
            n = spec::elementwise("cross_entropy: label", label, x).dims[0];
        } else {
            spec::rank("cross_entropy: label", label, 1, "1 for class ids or 2 for probabilities");
            spec::ids("cross_entropy: label", label);
            n = spec::same_dim("cross_entropy: label.shape(0)", label.dims[0], n);
        }
        return {.type = VarType::LOD_TENSOR,
                .dtype = x.dtype,
                .dims = detail::reduced_dims(a.reduction, n),
                .lod_level = 0};
    }

    template <class T, class L, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, attributes const& a) {
        return cross_entropy(exec, x, label, a.reduction);
    }
};

struct cross_entropy_grad_op {
    static constexpr std::string_view name = "cross_entropy_grad";
    using inputs = slots<slot::x, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = cross_entropy_op::attributes;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        spec::elementwise("cross_entropy_grad: out@GRAD", out_grad, cross_entropy_op::infer(x, label, a));
        return x;
    }

    template <class T, class L, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, Tensor<T, D> const& out_grad,
                            attributes const& a) {
        return cross_entropy_grad(exec, x, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0
