// rowan/op/softmax.hpp: softmax, the numbers of a row as shares of 1.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/matrix_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// exp(x - max) / sum of exp(x - max), row by row, computed in dtype<T>::sum and narrowed once; its `exp` is found by its type. Sums are
/// formed in 16 interleaved parts. A NaN, or a largest number that is infinite, makes its row NaN.
/// shapes   x [n, classes] -> [n, classes]
/// errors   ShapeError if x is no matrix
/// cost     two reads of x and one write of the result, memory for a row of each thread; the same bits for any number of threads
template <class T>
Tensor<T> softmax(Cpu exec, Tensor<T> const& x) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::softmax: integers have no softmax, convert x to a type with fractions");
    detail::check_rank("x", x, 2);
    std::size_t const classes = x.shape(1);
    auto out = Tensor<T>::from_shape(x.shape());
    if (classes == 0) return out;
    T const* const from = x.data();
    T* const to = out.data();
    detail::for_ranges(exec, x.shape(0), classes, [&](std::size_t begin, std::size_t end) {
        std::vector<S> e(classes);
        for (std::size_t i = begin; i < end; ++i) {
            T const* const row = from + i * classes;
            S const total = detail::exponentials<S>(classes, row, detail::largest<S>(classes, row), e.data());
            detail::normalise<S>(classes, e.data(), total, to + i * classes);
        }
    });
    return out;
}

/// The gradient of x from the result and its gradient: out · (out_grad - sum of out · out_grad), row by row.
/// shapes   both [n, classes] -> [n, classes]
/// errors   ShapeError if out is no matrix or the shapes differ
/// cost     two reads of both and one write of the result, memory for a row of each thread
template <class T>
Tensor<T> softmax_grad(Cpu exec, Tensor<T> const& out, Tensor<T> const& out_grad) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::softmax_grad: integers have no softmax");
    detail::check_rank("out", out, 2);
    detail::check_same_shape("out_grad", out_grad, out);
    std::size_t const classes = out.shape(1);
    auto x_grad = Tensor<T>::from_shape(out.shape());
    T const *const y = out.data(), *const g = out_grad.data();
    T* const to = x_grad.data();
    detail::for_ranges(exec, out.shape(0), classes, [&](std::size_t begin, std::size_t end) {
        std::vector<S> products(classes);
        auto const times = [](auto const& a, auto const& b) { return detail::product(a, b); };
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t const at = i * classes;
            detail::zip_lanes<S>(times, classes, products.data(), y + at, g + at);
            S const* const p = products.data();
            S const dot = detail::interleaved_sum<S>(classes, p, [](auto const& a) { return a; });
            auto const formula = [&]<class V>(V const& a, V const& b) { return detail::product(a, V(b - V(dot))); };
            detail::zip_lanes<S>(formula, classes, to + at, y + at, g + at);
        }
    });
    return x_grad;
}

template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x) {
    return softmax(Device{}, x);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return softmax_grad(Device{}, out, out_grad);
}

struct softmax_grad_op {
    static constexpr std::string_view name = "softmax_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        spec::matrix("softmax_grad: out", out);
        return spec::elementwise("softmax_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return softmax_grad(exec, out, out_grad);
    }
};

struct softmax_op {
    static constexpr std::string_view name = "softmax";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<softmax_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::matrix("softmax: x", x);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return softmax(exec, x);
    }
};

}  // namespace rowan::inline v0
