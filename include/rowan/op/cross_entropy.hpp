// rowan/op/cross_entropy.hpp: cross_entropy, the loss of probabilities against labels.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/matrix_rows.hpp>
#include <rowan/detail/reduction.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace rowan::inline v0 {

namespace detail {

/// One label for each row of x, in [0, classes).
template <class T, id_type I>
void check_labels(Cpu exec, char const* field, Tensor<T> const& x, Tensor<I> const& label) {
    check_rank(field, x, 2);
    check_one_per_row("label", label, x.shape(0));
    check_ids(exec, "label", label, static_cast<std::int64_t>(x.shape(1)));
}

template <class T>
void check_soft_labels(Tensor<T> const& x, Tensor<T> const& label) {
    check_rank("x", x, 2);
    check_same_shape("label", label, x);
}

}  // namespace detail

/// -log(x[i, label[i]]) of every row, or the mean or sum of these, computed in dtype<T>::sum, whose `log` is found by its type. Sums are
/// formed in blocks of 4096, each in 16 interleaved parts, and added in the same way. A probability of 0 gives an infinite loss:
/// softmax_with_cross_entropy has none.
/// shapes   x [n, classes] of probabilities, label [n] of int32 or int64 -> [1], or [n] without reduction
/// errors   ShapeError if x is no matrix or label has another number of elements; IndexError if a label is not in [0, classes)
/// cost     O(n); the same bits for any number of threads
template <class T, id_type I>
Tensor<T> cross_entropy(Cpu exec, Tensor<T> const& x, Tensor<I> const& label, Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy: probabilities are fractions, convert x");
    detail::check_labels(exec, "x", x, label);
    detail::Buffer<S> losses(x.shape(0));
    detail::for_ranges(exec, losses.size(), 1, [&](std::size_t begin, std::size_t end) {
        using std::log;
        for (std::size_t i = begin; i < end; ++i) {
            T const* const p = x.data() + i * x.shape(1) + static_cast<std::size_t>(label.data()[i]);
            losses[i] = detail::constant<S>(0.0) - log(detail::load<S>(p));
        }
    });
    return detail::reduce<T>(exec, reduction, losses);
}

/// The same against labels that are probabilities themselves: -Σ label · log(x) of every row, where the label is not 0.
/// shapes   x [n, classes], label the same -> [1], or [n] without reduction
/// errors   ShapeError if x is no matrix or label has another shape
/// cost     one read of both; the same bits for any number of threads
template <class T>
Tensor<T> cross_entropy(Cpu exec, Tensor<T> const& x, Tensor<T> const& label, Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy: probabilities are fractions, convert x and label");
    detail::check_soft_labels(x, label);
    std::size_t const classes = x.shape(1);
    detail::Buffer<S> losses(x.shape(0));
    detail::for_ranges(exec, losses.size(), classes, [&](std::size_t begin, std::size_t end) {
        using std::log;
        S const zero = detail::constant<S>(0.0);
        detail::Buffer<S> terms(classes);
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t k = 0; k < classes; ++k) {
                S const share = detail::load<S>(label.data() + i * classes + k);
                bool const none = !(share < zero) && !(share > zero) && !(share != share);
                terms[k] = none ? zero : detail::product(share, S(log(detail::load<S>(x.data() + i * classes + k))));
            }
            S const* const t = terms.data();
            losses[i] = zero - detail::interleaved_sum<S>(classes, t, [](auto const& a) { return a; });
        }
    });
    return detail::reduce<T>(exec, reduction, losses);
}

/// The gradient of x: -out_grad / x where the label is, else 0; divided by n for a mean.
/// shapes   x [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as cross_entropy; ShapeError if out_grad has another shape
/// cost     one write of the result
template <class T, id_type I>
Tensor<T> cross_entropy_grad(Cpu exec, Tensor<T> const& x, Tensor<I> const& label, Tensor<T> const& out_grad,
                             Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy_grad: probabilities are fractions");
    std::size_t const n = x.dimension() == 0 ? 0 : x.shape(0);
    detail::check_labels(exec, "x", x, label);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    std::size_t const classes = x.shape(1);
    auto x_grad = Tensor<T>::from_shape(x.shape());
    T* const to = x_grad.data();
    detail::for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
        std::fill(to + begin * classes, to + end * classes, dtype<T>::narrow(detail::constant<S>(0.0)));
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t const at = i * classes + static_cast<std::size_t>(label.data()[i]);
            S const g = detail::loss_grad(out_grad, reduction, i, n) / detail::load<S>(x.data() + at);
            detail::store(S(detail::constant<S>(0.0) - g), to + at);
        }
    });
    return x_grad;
}

/// The gradient of x: -out_grad · label / x, 0 where the label is 0; divided by n for a mean. Labels get none.
/// shapes   x [n, classes], label the same, out_grad [1], or [n] without reduction -> [n, classes]
/// errors   ShapeError if x is no matrix or the shapes do not match
/// cost     one read of both and one write of the result
template <class T>
Tensor<T> cross_entropy_grad(Cpu exec, Tensor<T> const& x, Tensor<T> const& label, Tensor<T> const& out_grad,
                             Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::cross_entropy_grad: probabilities are fractions");
    detail::check_soft_labels(x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    auto x_grad = Tensor<T>::from_shape(x.shape());
    T* const to = x_grad.data();
    detail::for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
        S const zero = detail::constant<S>(0.0);
        for (std::size_t i = begin; i < end; ++i) {
            S const g = zero - detail::loss_grad(out_grad, reduction, i, n);
            for (std::size_t at = i * classes; at < (i + 1) * classes; ++at) {
                S const share = detail::load<S>(label.data() + at);
                bool const none = !(share < zero) && !(share > zero) && !(share != share);
                detail::store(none ? zero : S(detail::product(share, g) / detail::load<S>(x.data() + at)), to + at);
            }
        }
    });
    return x_grad;
}

template <class T, class L, class Device>
Tensor<T, Device> cross_entropy(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                Reduction reduction = Reduction::mean) {
    return cross_entropy(Device{}, x, label, reduction);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_grad(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                     Tensor<T, Device> const& out_grad, Reduction reduction = Reduction::mean) {
    return cross_entropy_grad(Device{}, x, label, out_grad, reduction);
}

struct cross_entropy_grad_op;

/// Labels are row numbers of one dim, or probabilities of the shape of x.
struct cross_entropy_op {
    static constexpr std::string_view name = "cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out>;
    using grad =
        grad_rule<cross_entropy_grad_op, uses<slot::x, slot::label, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    struct attributes {
        Reduction reduction = Reduction::mean;

        static constexpr auto fields = std::tuple(field{"reduction", &attributes::reduction});
    };

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("cross_entropy: x", x);
        spec::dense("cross_entropy: label", label);
        std::int64_t n = x.dims[0];
        if (label.dims.size() == 2) {
            n = spec::elementwise("cross_entropy: label", label, x).dims[0];
        } else {
            spec::rank("cross_entropy: label", label, 1, "1 of row numbers or 2 of probabilities");
            spec::ids("cross_entropy: label", label);
            n = spec::same_dim("cross_entropy: label.shape(0)", label.dims[0], n);
        }
        return {VarType::LOD_TENSOR, x.dtype, detail::reduced_dims(a.reduction, n), 0};
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
