// rowan/op/lstm_unit.hpp: lstm_unit, one step of a long short-term memory.
#pragma once

#include <rowan/detail/cell.hpp>
#include <rowan/op/fc.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// One step of an LSTM (Hochreiter and Schmidhuber 1997, with a forget gate). With g = x + h_prev · w + b:
///     i = sigmoid(g_i);  f = sigmoid(g_f);  u = tanh(g_u);  o = sigmoid(g_o);  c = f · c_prev + i · u;  h = o · tanh(c)
/// `x` is the input's part of the gates, one product for the inputs of all steps.
/// shapes   x [n, 4 · size] in the order i, f, u, o, which is PyTorch's; h_prev and c_prev [n, size], w [size, 4 · size], b [4 · size]
///          -> h and c [n, size], and i, f, u, o, tanh(c) [n, 5 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     8 · n · size² operations, one pass over the gates
template <class T>
std::tuple<Tensor<T>, Tensor<T>, Tensor<T>> lstm_unit(Cpu exec, Tensor<T> const& x, Tensor<T> const& h_prev,
                                                      Tensor<T> const& c_prev, Tensor<T> const& w, Tensor<T> const& b) {
    using S = detail::sum_t<T>;
    detail::check_cell(4, x, h_prev, w);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    detail::check_rows_like("c_prev", c_prev, n, size);
    auto const hidden = fc(exec, h_prev, w, b);
    auto h = Tensor<T>::from_shape({n, size});
    auto c = Tensor<T>::from_shape({n, size});
    auto saved = Tensor<T>::from_shape({n, 5 * size});
    detail::for_rows(exec, n, 4 * size, [&](std::size_t row) {
        T const *const xs = x.data() + row * 4 * size, *const gs = hidden.data() + row * 4 * size;
        T const* const before = c_prev.data() + row * size;
        T *const keep = saved.data() + row * 5 * size, *const out = h.data() + row * size,
                 *const cell = c.data() + row * size;
        detail::each_lane<S>(size, [&]<class V>(std::size_t k) {
            auto const gate = [&](std::size_t j) {
                return V(detail::load<V>(xs + j * size + k) + detail::load<V>(gs + j * size + k));
            };
            V const i = detail::logistic(gate(0)), f = detail::logistic(gate(1));
            V const u = detail::hyperbolic_tangent(gate(2)), o = detail::logistic(gate(3));
            V const now = detail::product(f, detail::load<V>(before + k)) + detail::product(i, u);
            V const t = detail::hyperbolic_tangent(now);
            detail::store(i, keep + k);
            detail::store(f, keep + size + k);
            detail::store(u, keep + 2 * size + k);
            detail::store(o, keep + 3 * size + k);
            detail::store(t, keep + 4 * size + k);
            detail::store(now, cell + k);
            detail::store(detail::product(o, t), out + k);
        });
    });
    return {std::move(h), std::move(c), std::move(saved)};
}

/// The gradients of the gates and of c_prev, from what lstm_unit saved and the gradients of h and c.
/// shapes   saved [n, 5 · size], c_prev, h_grad and c_grad [n, size] -> [n, 4 · size], [n, size]
/// errors   ShapeError if shapes do not match
template <class T>
std::tuple<Tensor<T>, Tensor<T>> lstm_unit_grad(Cpu exec, Tensor<T> const& saved, Tensor<T> const& c_prev,
                                                Tensor<T> const& h_grad, Tensor<T> const& c_grad) {
    using S = detail::sum_t<T>;
    detail::check_rank("c_prev", c_prev, 2);
    std::size_t const n = c_prev.shape(0), size = c_prev.shape(1);
    detail::check_rows_like("saved", saved, n, 5 * size);
    detail::check_rows_like("h_grad", h_grad, n, size);
    detail::check_rows_like("c_grad", c_grad, n, size);
    auto x_grad = Tensor<T>::from_shape({n, 4 * size});
    auto c_prev_grad = Tensor<T>::from_shape({n, size});
    detail::for_rows(exec, n, 4 * size, [&](std::size_t row) {
        T const *const keep = saved.data() + row * 5 * size, *const before = c_prev.data() + row * size;
        T const *const dhs = h_grad.data() + row * size, *const dcs = c_grad.data() + row * size;
        T *const xs = x_grad.data() + row * 4 * size, *const back = c_prev_grad.data() + row * size;
        detail::each_lane<S>(size, [&]<class V>(std::size_t k) {
            V const one = detail::constant<V>(1.0);
            V const i = detail::load<V>(keep + k), f = detail::load<V>(keep + size + k);
            V const u = detail::load<V>(keep + 2 * size + k), o = detail::load<V>(keep + 3 * size + k);
            V const t = detail::load<V>(keep + 4 * size + k), dh = detail::load<V>(dhs + k);
            V const dc =
                detail::load<V>(dcs + k) + detail::product(detail::product(dh, o), V(one - detail::product(t, t)));
            auto const slope = [&](V const& y) { return detail::product(y, V(one - y)); };
            detail::store(detail::product(detail::product(dc, u), slope(i)), xs + k);
            detail::store(detail::product(detail::product(dc, detail::load<V>(before + k)), slope(f)), xs + size + k);
            detail::store(detail::product(detail::product(dc, i), V(one - detail::product(u, u))), xs + 2 * size + k);
            detail::store(detail::product(detail::product(dh, t), slope(o)), xs + 3 * size + k);
            detail::store(detail::product(dc, f), back + k);
        });
    });
    return {std::move(x_grad), std::move(c_prev_grad)};
}

struct lstm_unit_grad_op {
    static constexpr std::string_view name = "lstm_unit_grad";
    using inputs = slots<slot::saved, slot::c_prev, grad_of<slot::h>, grad_of<slot::c>>;
    using outputs = slots<grad_of<slot::x>, grad_of<slot::c_prev>>;
    static constexpr unsigned row_inputs = 0b1111;
    using grad = no_grad;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const&, VarSpec const& c_prev, VarSpec const&,
                                                  VarSpec const&) {
        VarSpec gates = c_prev;
        if (gates.dims[1] != UNK) gates.dims[1] *= 4;
        return {gates, c_prev};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& c_prev, Tensor<T, D> const& h_grad,
                    Tensor<T, D> const& c_grad) {
        return lstm_unit_grad(exec, saved, c_prev, h_grad, c_grad);
    }
};

/// See lstm_unit. The gradients of w and b are sums over rows: those of all steps are one product.
struct lstm_unit_op {
    static constexpr std::string_view name = "lstm_unit";
    using inputs = slots<slot::x, slot::h_prev, slot::c_prev, slot::w, slot::b>;
    using outputs = slots<slot::h, slot::c, slot::saved>;
    static constexpr unsigned row_inputs = 0b00111;
    using grad = grad_rules<grad_rule<lstm_unit_grad_op>,
                            grad_rule<mul_nt_op, uses<grad_of<slot::x>, slot::w>, makes<grad_of<slot::h_prev>>>,
                            grad_rule<mul_tn_op, uses<slot::h_prev, grad_of<slot::x>>, makes<grad_of<slot::w>>>,
                            grad_rule<sum_rows_op, uses<grad_of<slot::x>>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 3> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& c_prev,
                                                  VarSpec const& w, VarSpec const& b) {
        detail::infer_cell(4, x, h_prev, w, b);
        static_cast<void>(spec::same_dims("lstm_unit: c_prev", c_prev, h_prev));
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = h_prev.dims[1] == UNK ? UNK : 5 * h_prev.dims[1];
        return {h, h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& c_prev,
                    Tensor<T, D> const& w, Tensor<T, D> const& b) {
        return lstm_unit(exec, x, h_prev, c_prev, w, b);
    }
};

}  // namespace rowan::inline v0
