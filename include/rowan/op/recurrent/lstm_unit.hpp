// rowan/op/recurrent/lstm_unit.hpp: lstm_unit, one step of a long short-term memory cell.
#pragma once

#include <rowan/op/detail/recurrent_cell.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/recurrent/declared.hpp>
#include <rowan/op/recurrent/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Computes the gates of one step, the next cell and the next state.
template <class T>
struct LstmStep {
    T const *x, *hidden, *c_prev;
    T *saved, *h, *c;
    std::size_t size;

    ROWAN_FORMULA void at(std::size_t row, std::size_t k) const {
        T* const keep = saved + row * 5 * size + k;
        V const i = logistic(gate<V>(row, 0, k)), f = logistic(gate<V>(row, 1, k));
        V const u = hyperbolic_tangent(gate<V>(row, 2, k)), o = logistic(gate<V>(row, 3, k));
        V const now = product(f, load<V>(c_prev + row * size + k)) + product(i, u);
        V const t = hyperbolic_tangent(now);
        store(i, keep);
        store(f, keep + size);
        store(u, keep + 2 * size);
        store(o, keep + 3 * size);
        store(t, keep + 4 * size);
        store(now, c + row * size + k);
        store(product(o, t), h + row * size + k);
    }

    ROWAN_FORMULA V gate(std::size_t row, std::size_t j, std::size_t k) const {
        std::size_t const at = (row * 4 + j) * size + k;
        return V(load<V>(x + at) + load<V>(hidden + at));
    }
};

/// Computes the gradients of the gates and of c_prev.
template <class T>
struct LstmGradStep {
    T const *saved, *c_prev, *h_grad, *c_grad;
    T *x_grad, *c_prev_grad;
    std::size_t size;

    ROWAN_FORMULA void at(std::size_t row, std::size_t k) const {
        T const* const keep = saved + row * 5 * size + k;
        T* const xs = x_grad + row * 4 * size + k;
        std::size_t const here = row * size + k;
        V const one = constant<V>(1.0);
        V const i = load<V>(keep), f = load<V>(keep + size);
        V const u = load<V>(keep + 2 * size), o = load<V>(keep + 3 * size);
        V const t = load<V>(keep + 4 * size), dh = load<V>(h_grad + here);
        V const dc = load<V>(c_grad + here) + product(product(dh, o), V(one - product(t, t)));
        store(product(product(dc, u), slope(i)), xs);
        store(product(product(dc, load<V>(c_prev + here)), slope(f)), xs + size);
        store(product(product(dc, i), V(one - product(u, u))), xs + 2 * size);
        store(product(product(dh, t), slope(o)), xs + 3 * size);
        store(product(dc, f), c_prev_grad + here);
    }

    /// The derivative of a sigmoid whose value is y.
    ROWAN_FORMULA static V slope(V const& y) { return product(y, V(constant<V>(1.0) - y)); }
};

}  // namespace detail

template <>
struct detail::function_of<lstm_unit_op> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> run(D const& exec, Tensor<T, D> const& x,
                                                                    Tensor<T, D> const& h_prev,
                                                                    Tensor<T, D> const& c_prev, Tensor<T, D> const& w,
                                                                    Tensor<T, D> const& b) {
        check_recurrent_cell(4, x, h_prev, w);
        std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
        check_rows_like("c_prev", c_prev, n, size);
        ElementLoops<D>::check(exec, x, c_prev);
        auto const hidden = fc(exec, h_prev, w, b);
        auto h = new_tensor<T>(exec, {n, size});
        auto c = new_tensor<T>(exec, {n, size});
        auto saved = new_tensor<T>(exec, {n, 5 * size});
        LstmStep<T> const step{.x = x.data(),
                               .hidden = hidden.data(),
                               .c_prev = c_prev.data(),
                               .saved = saved.data(),
                               .h = h.data(),
                               .c = c.data(),
                               .size = size};
        ElementLoops<D>::template each_of_rows<sum_t<T>>(exec, n, size, 4 * size, step);
        return {std::move(h), std::move(c), std::move(saved)};
    }
};

/// See lstm_unit. The gradients of w and b are sums over rows, so one product computes them for all steps.
struct lstm_unit_op : detail::declared<lstm_unit_op> {
    static constexpr unsigned row_inputs = 0b00111;
    using grad =
        grad_rules<gradient<lstm_unit_op, uses<slot::saved, slot::c_prev, grad_of<slot::h>, grad_of<slot::c>>,
                            makes<grad_of<slot::x>, grad_of<slot::c_prev>>>,
                   grad_rule<matrix_grad_op<false>, uses<grad_of<slot::x>, slot::w>, makes<grad_of<slot::h_prev>>>,
                   grad_rule<matrix_grad_op<true>, uses<slot::h_prev, grad_of<slot::x>>, makes<grad_of<slot::w>>>,
                   grad_rule<bias_grad_op, uses<grad_of<slot::x>>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 3> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& c_prev,
                                                  VarSpec const& w, VarSpec const& b) {
        detail::infer_recurrent_cell(4, x, h_prev, w, b);
        static_cast<void>(spec::same_dims("lstm_unit: c_prev", c_prev, h_prev));
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = spec::times("lstm_unit: h_prev.shape(1)", h_prev.dims[1], 5);
        return {h, h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& c_prev,
                    Tensor<T, D> const& w, Tensor<T, D> const& b) {
        return lstm_unit(exec, x, h_prev, c_prev, w, b);
    }

    static constexpr std::array<VarSpec, 2> infer_backward(VarSpec const&, VarSpec const& c_prev, VarSpec const&,
                                                           VarSpec const&) {
        VarSpec gates = c_prev;
        gates.dims[1] = spec::times("lstm_unit: c_prev.shape(1)", c_prev.dims[1], 4);
        return {gates, c_prev};
    }

    /// The gradients of the gates and of c_prev, from the values that lstm_unit saved and the gradients of h and c.
    /// shapes   saved [n, 5 · size], c_prev, h_grad and c_grad [n, size] -> [n, 4 · size], [n, size]
    /// errors   ShapeError if shapes do not match
    /// cost     one pass over the gates
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> backward(D exec, Tensor<T, D> const& saved,
                                                           Tensor<T, D> const& c_prev, Tensor<T, D> const& h_grad,
                                                           Tensor<T, D> const& c_grad) {
        detail::check_rank("c_prev", c_prev, 2);
        std::size_t const n = c_prev.shape(0), size = c_prev.shape(1);
        detail::check_rows_like("saved", saved, n, 5 * size);
        detail::check_rows_like("h_grad", h_grad, n, size);
        detail::check_rows_like("c_grad", c_grad, n, size);
        detail::ElementLoops<D>::check(exec, saved, c_prev, h_grad, c_grad);
        auto x_grad = detail::new_tensor<T>(exec, {n, 4 * size});
        auto c_prev_grad = detail::new_tensor<T>(exec, {n, size});
        detail::LstmGradStep<T> const step{.saved = saved.data(),
                                           .c_prev = c_prev.data(),
                                           .h_grad = h_grad.data(),
                                           .c_grad = c_grad.data(),
                                           .x_grad = x_grad.data(),
                                           .c_prev_grad = c_prev_grad.data(),
                                           .size = size};
        detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 4 * size, step);
        return {std::move(x_grad), std::move(c_prev_grad)};
    }
};

}  // namespace rowan::inline v0
