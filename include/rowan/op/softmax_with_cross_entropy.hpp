// rowan/op/softmax_with_cross_entropy.hpp: softmax_with_cross_entropy, the loss of numbers whose softmax are probabilities.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/matrix_rows.hpp>
#include <rowan/detail/reduction.hpp>
#include <rowan/op/cross_entropy.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

/// log(sum of exp(x - max)) - (x[i, label[i]] - max) of every row, or the mean or sum of these, and the softmax, which the gradient needs.
/// Computed in dtype<T>::sum, whose `exp` and `log` are found by its type: finite for numbers whose differences are. Sums along a row
/// are formed in 16 interleaved parts, those of losses as by cross_entropy.
/// shapes   x [n, classes], label [n] of int32 or int64 -> the loss [1], or [n] without reduction, and the softmax [n, classes]
/// errors   ShapeError if x is no matrix or label has another number of elements; IndexError if a label is not in [0, classes)
/// cost     as softmax
template <class T, id_type I>
std::tuple<Tensor<T>, Tensor<T>> softmax_with_cross_entropy(Cpu exec, Tensor<T> const& x, Tensor<I> const& label,
                                                            Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::softmax_with_cross_entropy: integers have no softmax, convert x");
    detail::check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    auto softmax = Tensor<T>::from_shape(x.shape());
    detail::Buffer<S> losses(n);
    T* const to = softmax.data();
    detail::for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
        using std::log;
        detail::Buffer<S> e(classes);
        for (std::size_t i = begin; i < end; ++i) {
            T const* const row = x.data() + i * classes;
            S const greatest = detail::largest<S>(classes, row);
            S const total = detail::exponentials<S>(classes, row, greatest, e.data());
            detail::normalise<S>(classes, e.data(), total, to + i * classes);
            losses[i] = log(total) - (detail::load<S>(row + label.data()[i]) - greatest);
        }
    });
    return {detail::reduce<T>(exec, reduction, losses), std::move(softmax)};
}

/// The gradient of x from the softmax: (softmax - 1 where the label is) · out_grad, divided by n for a mean.
/// shapes   softmax [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as softmax_with_cross_entropy; ShapeError if out_grad has another shape
/// cost     one read of the softmax and one write of the result
template <class T, id_type I>
Tensor<T> softmax_with_cross_entropy_grad(Cpu exec, Tensor<T> const& softmax, Tensor<I> const& label,
                                          Tensor<T> const& out_grad, Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::softmax_with_cross_entropy_grad: integers have no softmax");
    detail::check_labels(exec, "softmax", softmax, label);
    std::size_t const n = softmax.shape(0), classes = softmax.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    auto x_grad = Tensor<T>::from_shape(softmax.shape());
    T* const to = x_grad.data();
    detail::for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            T const* const p = softmax.data() + i * classes;
            S const g = detail::loss_grad(out_grad, reduction, i, n);
            auto const times = [&]<class V>(V const& a) { return detail::product(a, V(g)); };
            detail::map_lanes<S>(times, classes, p, to + i * classes);
            auto const k = static_cast<std::size_t>(label.data()[i]);
            detail::store(times(S(detail::load<S>(p + k) - detail::constant<S>(1.0))), to + i * classes + k);
        }
    });
    return x_grad;
}

template <class T, class I, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> softmax_with_cross_entropy(Tensor<T, Device> const& x,
                                                                            Tensor<I, Device> const& label,
                                                                            Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy(Device{}, x, label, reduction);
}
template <class T, class I, class Device>
Tensor<T, Device> softmax_with_cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<I, Device> const& label,
                                                  Tensor<T, Device> const& out_grad,
                                                  Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy_grad(Device{}, softmax, label, out_grad, reduction);
}

struct softmax_with_cross_entropy_grad_op;

/// The slot `saved` holds the softmax.
struct softmax_with_cross_entropy_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out, slot::saved>;
    using grad = grad_rule<softmax_with_cross_entropy_grad_op, uses<slot::saved, slot::label, grad_of<slot::out>>,
                           makes<grad_of<slot::x>>>;
    using attributes = cross_entropy_op::attributes;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("softmax_with_cross_entropy: x", x);
        spec::dense("softmax_with_cross_entropy: label", label);
        spec::rank("softmax_with_cross_entropy: label", label, 1, "1");
        spec::ids("softmax_with_cross_entropy: label", label);
        VarSpec softmax = x;
        softmax.dims[0] = spec::same_dim("softmax_with_cross_entropy: label.shape(0)", label.dims[0], softmax.dims[0]);
        return {VarSpec{VarType::LOD_TENSOR, x.dtype, detail::reduced_dims(a.reduction, softmax.dims[0]), 0}, softmax};
    }

    template <class T, class I, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                      attributes const& a) {
        return softmax_with_cross_entropy(exec, x, label, a.reduction);
    }
};

struct softmax_with_cross_entropy_grad_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy_grad";
    using inputs = slots<slot::saved, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = cross_entropy_op::attributes;

    static constexpr VarSpec infer(VarSpec const& softmax, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        auto const forward = softmax_with_cross_entropy_op::infer(softmax, label, a);
        spec::elementwise("softmax_with_cross_entropy_grad: out@GRAD", out_grad, forward[0]);
        return forward[1];
    }

    template <class T, class I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return softmax_with_cross_entropy_grad(exec, softmax, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0
