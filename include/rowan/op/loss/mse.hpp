// rowan/op/loss/mse.hpp: mse, the mean squared error.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Twice the gradient of the mean.
template <class T>
struct MseFactor {
    LossGrads<T> grads;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()() const { return product(constant<sum_t<T>>(2.0), grads(0)); }
};

/// (a - b) · factor()
template <class Factor>
struct times_difference {
    Factor factor;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& a, V const& b) const {
        return product(V(a - b), V(factor()));
    }
};

}  // namespace detail

/// The mean of (x - y)² over all elements, computed in dtype<T>::sum; 0 if there are none. Sums are formed in blocks of
/// 4096 elements, each in 16 interleaved partial sums, and the block sums are added in the same way.
/// shapes   x [...], y [...] -> [1]
/// errors   ShapeError if the shapes differ
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> mse(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    static_assert(floating_element<T>, "rowan::mse: x and y must have a floating-point type: convert them");
    detail::check_same_shape("y", y, x);
    detail::ElementLoops<D>::check(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {1});
    detail::Totals<D>::mean_square(exec, x.size(), x.data(), y.data(), out.data());
    return out;
}

/// The gradients of x and of y: 2 · (x - y) · out_grad / size and its negative.
/// shapes   x [...], y [...], out_grad [1] -> both [...]
/// errors   ShapeError if the shapes do not match
/// cost     two reads of both and two writes
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> mse_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                Tensor<T, D> const& out_grad) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>, "rowan::mse_grad: x and y must have a floating-point type");
    detail::check_same_shape("y", y, x);
    detail::check_reduced("out_grad", out_grad, Reduction::mean, 1);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto const factor =
        detail::ElementLoops<D>::value_of(detail::MseFactor<T>{{out_grad.data(), Reduction::mean, x.size()}});
    detail::times_difference<std::remove_const_t<decltype(factor)>> const formula{factor};
    return {detail::zip_elements<S>(exec, formula, x, y), detail::zip_elements<S>(exec, formula, y, x)};
}

template <class T, class Device>
Tensor<T, Device> mse(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return mse(x.device(), x, y);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> mse_grad(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                                          Tensor<T, Device> const& out_grad) {
    return mse_grad(x.device(), x, y, out_grad);
}

struct mse_grad_op
    : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>, slots<grad_of<slot::x>, grad_of<slot::y>>> {
    static constexpr std::string_view name = "mse_grad";

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad) {
        VarSpec const both = spec::elementwise("mse_grad: y", y, x);
        spec::elementwise("mse_grad: out@GRAD", out_grad,
                          {.type = VarType::LOD_TENSOR, .dtype = x.dtype, .dims = {1}, .lod_level = 0});
        return {both, both};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                      Tensor<T, D> const& out_grad) {
        return mse_grad(exec, x, y, out_grad);
    }
};

struct mse_op : detail::builtin_op<slots<slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "mse";
    static constexpr std::string_view brief = "The mean of the squared differences.";
    using grad = grad_rule<mse_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::elementwise("mse: y", y, x);
        return {.type = VarType::LOD_TENSOR, .dtype = x.dtype, .dims = {1}, .lod_level = 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return mse(exec, x, y);
    }
};

}  // namespace rowan::inline v0
