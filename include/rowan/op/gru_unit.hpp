// rowan/op/gru_unit.hpp: gru_unit, one step of a gated recurrent unit.
#pragma once

#include <rowan/detail/cell.hpp>
#include <rowan/op/fc.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// One step of a GRU (Cho et al. 2014) in the form of PyTorch and cuDNN, whose reset gate follows the product. With g = h_prev · w + b:
///     r = sigmoid(x_r + g_r);  z = sigmoid(x_z + g_z);  c = tanh(x_c + r · g_c);  h = (1 - z) · c + z · h_prev
/// `x` is the input's part of the gates, one product for the inputs of all steps.
/// shapes   x [n, 3 · size] in the order r, z, c; h_prev [n, size], w [size, 3 · size], b [3 · size] -> h [n, size], and r, z, c, g_c
///          [n, 4 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     6 · n · size² operations, one pass over the gates
template <class T>
std::tuple<Tensor<T>, Tensor<T>> gru_unit(Cpu exec, Tensor<T> const& x, Tensor<T> const& h_prev, Tensor<T> const& w,
                                          Tensor<T> const& b) {
    using S = detail::sum_t<T>;
    detail::check_cell(3, x, h_prev, w);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    auto const hidden = fc(exec, h_prev, w, b);
    auto h = Tensor<T>::from_shape({n, size});
    auto saved = Tensor<T>::from_shape({n, 4 * size});
    detail::for_rows(exec, n, 3 * size, [&](std::size_t i) {
        T const *const xs = x.data() + i * 3 * size, *const gs = hidden.data() + i * 3 * size;
        T const* const before = h_prev.data() + i * size;
        T *const keep = saved.data() + i * 4 * size, *const out = h.data() + i * size;
        detail::each_lane<S>(size, [&]<class V>(std::size_t k) {
            V const one = detail::constant<V>(1.0);
            V const r = detail::logistic(V(detail::load<V>(xs + k) + detail::load<V>(gs + k)));
            V const z = detail::logistic(V(detail::load<V>(xs + size + k) + detail::load<V>(gs + size + k)));
            V const g = detail::load<V>(gs + 2 * size + k);
            V const c = detail::hyperbolic_tangent(V(detail::load<V>(xs + 2 * size + k) + detail::product(r, g)));
            V const next = detail::product(V(one - z), c) + detail::product(z, detail::load<V>(before + k));
            detail::store(r, keep + k);
            detail::store(z, keep + size + k);
            detail::store(c, keep + 2 * size + k);
            detail::store(g, keep + 3 * size + k);
            detail::store(next, out + k);
        });
    });
    return {std::move(h), std::move(saved)};
}

/// The gradients of x, of g = h_prev · w + b, and of h_prev, from what gru_unit saved and the gradient of h.
/// shapes   saved [n, 4 · size], h_prev and h_grad [n, size], w [size, 3 · size] -> [n, 3 · size], [n, 3 · size], [n, size]
/// errors   ShapeError if shapes do not match
template <class T>
std::tuple<Tensor<T>, Tensor<T>, Tensor<T>> gru_unit_grad(Cpu exec, Tensor<T> const& saved, Tensor<T> const& h_prev,
                                                          Tensor<T> const& w, Tensor<T> const& h_grad) {
    using S = detail::sum_t<T>;
    detail::check_rank("h_prev", h_prev, 2);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    detail::check_rows_like("saved", saved, n, 4 * size);
    detail::check_rows_like("h_grad", h_grad, n, size);
    detail::check_rows_like("w", w, size, 3 * size);
    auto x_grad = Tensor<T>::from_shape({n, 3 * size});
    auto hidden_grad = Tensor<T>::from_shape({n, 3 * size});
    auto h_prev_grad = Tensor<T>::from_shape({n, size});
    detail::for_rows(exec, n, 3 * size, [&](std::size_t i) {
        T const *const keep = saved.data() + i * 4 * size, *const before = h_prev.data() + i * size;
        T const* const out = h_grad.data() + i * size;
        T *const xs = x_grad.data() + i * 3 * size, *const gs = hidden_grad.data() + i * 3 * size;
        T* const back = h_prev_grad.data() + i * size;
        detail::each_lane<S>(size, [&]<class V>(std::size_t k) {
            V const one = detail::constant<V>(1.0);
            V const r = detail::load<V>(keep + k), z = detail::load<V>(keep + size + k);
            V const c = detail::load<V>(keep + 2 * size + k), g = detail::load<V>(keep + 3 * size + k);
            V const d = detail::load<V>(out + k);
            V const dc = detail::product(detail::product(d, V(one - z)), V(one - detail::product(c, c)));
            V const dz =
                detail::product(detail::product(d, V(detail::load<V>(before + k) - c)), detail::product(z, V(one - z)));
            V const dr = detail::product(detail::product(dc, g), detail::product(r, V(one - r)));
            detail::store(dr, xs + k);
            detail::store(dr, gs + k);
            detail::store(dz, xs + size + k);
            detail::store(dz, gs + size + k);
            detail::store(dc, xs + 2 * size + k);
            detail::store(detail::product(dc, r), gs + 2 * size + k);
            detail::store(detail::product(d, z), back + k);
        });
    });
    if (size != 0)
        detail::multiply<T>(exec, n, size, 3 * size, {hidden_grad.data(), 3 * size}, {w.data(), 3 * size, true},
                            h_prev_grad.data(), true);
    return {std::move(x_grad), std::move(hidden_grad), std::move(h_prev_grad)};
}

namespace slot {

struct hidden_grad {  // of h_prev · w + b
    static constexpr std::string_view name = "hidden@GRAD";
};

}  // namespace slot

struct gru_unit_grad_op {
    static constexpr std::string_view name = "gru_unit_grad";
    using inputs = slots<slot::saved, slot::h_prev, slot::w, grad_of<slot::h>>;
    using outputs = slots<grad_of<slot::x>, slot::hidden_grad, grad_of<slot::h_prev>>;
    static constexpr unsigned row_inputs = 0b1011;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 3> infer(VarSpec const&, VarSpec const& h_prev, VarSpec const& w,
                                                  VarSpec const&) {
        VarSpec gates = h_prev;
        gates.dims[1] = w.dims[1];
        return {gates, gates, h_prev};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                    Tensor<T, D> const& h_grad) {
        return gru_unit_grad(exec, saved, h_prev, w, h_grad);
    }
};

/// See gru_unit. The gradients of w and b are sums over rows: those of all steps are one product.
struct gru_unit_op {
    static constexpr std::string_view name = "gru_unit";
    using inputs = slots<slot::x, slot::h_prev, slot::w, slot::b>;
    using outputs = slots<slot::h, slot::saved>;
    static constexpr unsigned row_inputs = 0b0011;
    using grad = grad_rules<grad_rule<gru_unit_grad_op>,
                            grad_rule<mul_tn_op, uses<slot::h_prev, slot::hidden_grad>, makes<grad_of<slot::w>>>,
                            grad_rule<sum_rows_op, uses<slot::hidden_grad>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& w,
                                                  VarSpec const& b) {
        detail::infer_cell(3, x, h_prev, w, b);
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = h_prev.dims[1] == UNK ? UNK : 4 * h_prev.dims[1];
        return {h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                    Tensor<T, D> const& b) {
        return gru_unit(exec, x, h_prev, w, b);
    }
};

}  // namespace rowan::inline v0
