// rowan/op/mse.hpp: mse, the mean of squared differences.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace rowan::inline v0 {

/// The mean of (x - y)² over all elements, computed in dtype<T>::sum; 0 if there are none. Sums are formed in blocks of 4096 elements, each
/// in 16 interleaved parts, and added in the same way.
/// shapes   x [...], y [...] -> [1]
/// errors   ShapeError if the shapes differ
/// cost     one read of both; the same bits for any number of threads
template <class T>
Tensor<T> mse(Cpu exec, Tensor<T> const& x, Tensor<T> const& y) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::mse: a mean has fractions, convert x and y to a type that has them");
    detail::check_same_shape("y", y, x);
    T const *const a = x.data(), *const b = y.data();
    S const total = detail::blocked_sum<S>(exec, x.size(), [&](std::size_t begin, std::size_t end) {
        std::array<S, detail::sum_block> squares;
        auto const square = []<class V>(V const& p, V const& q) { return detail::product(V(p - q), V(p - q)); };
        detail::zip_lanes<S>(square, end - begin, squares.data(), a + begin, b + begin);
        S const* const s = squares.data();
        return detail::interleaved_sum<S>(end - begin, s, [](auto const& v) { return v; });
    });
    return Tensor<T>::full({1}, dtype<T>::narrow(detail::mean_of(total, x.size())));
}

/// The gradients of x and of y: 2 · (x - y) · out_grad / size, and the same with the other sign.
/// shapes   x [...], y [...], out_grad [1] -> both [...]
/// errors   ShapeError if the shapes do not match
/// cost     two reads of both and two writes
template <class T>
std::tuple<Tensor<T>, Tensor<T>> mse_grad(Cpu exec, Tensor<T> const& x, Tensor<T> const& y, Tensor<T> const& out_grad) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::mse_grad: a mean has fractions");
    detail::check_same_shape("y", y, x);
    detail::check_reduced("out_grad", out_grad, Reduction::mean, 1);
    S const g = detail::loss_grad(out_grad, Reduction::mean, 0, x.size());
    S const factor = detail::product(detail::constant<S>(2.0), g);
    auto const formula = [&]<class V>(V const& a, V const& b) { return detail::product(V(a - b), V(factor)); };
    return {detail::zip_elements<S>(exec, formula, x, y), detail::zip_elements<S>(exec, formula, y, x)};
}

template <class T, class Device>
Tensor<T, Device> mse(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return mse(Device{}, x, y);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> mse_grad(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                                          Tensor<T, Device> const& out_grad) {
    return mse_grad(Device{}, x, y, out_grad);
}

struct mse_grad_op {
    static constexpr std::string_view name = "mse_grad";
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>, grad_of<slot::y>>;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad) {
        VarSpec const both = spec::elementwise("mse_grad: y", y, x);
        spec::elementwise("mse_grad: out@GRAD", out_grad, {VarType::LOD_TENSOR, x.dtype, {1}, 0});
        return {both, both};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                      Tensor<T, D> const& out_grad) {
        return mse_grad(exec, x, y, out_grad);
    }
};

struct mse_op {
    static constexpr std::string_view name = "mse";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<mse_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::elementwise("mse: y", y, x);
        return {VarType::LOD_TENSOR, x.dtype, {1}, 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return mse(exec, x, y);
    }
};

}  // namespace rowan::inline v0
