// rowan/op/recurrent/gru_unit.hpp: gru_unit, one step of a gated recurrent unit.
#pragma once

#include <rowan/op/detail/recurrent_cell.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/recurrent/declared.hpp>
#include <rowan/op/recurrent/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Computes the gates of one step and the next state.
template <class T>
struct GruStep {
    T const *x, *hidden, *h_prev;
    T *saved, *h;
    std::size_t size;

    ROWAN_FORMULA void at(std::size_t row, std::size_t k) const {
        T const *const xs = x + row * 3 * size + k, *const gs = hidden + row * 3 * size + k;
        T* const keep = saved + row * 4 * size + k;
        V const one = constant<V>(1.0);
        V const r = logistic(V(load<V>(xs) + load<V>(gs)));
        V const z = logistic(V(load<V>(xs + size) + load<V>(gs + size)));
        V const g = load<V>(gs + 2 * size);
        V const c = hyperbolic_tangent(V(load<V>(xs + 2 * size) + product(r, g)));
        V const next = product(V(one - z), c) + product(z, load<V>(h_prev + row * size + k));
        store(r, keep);
        store(z, keep + size);
        store(c, keep + 2 * size);
        store(g, keep + 3 * size);
        store(next, h + row * size + k);
    }
};

/// Computes the gradients of the gates, and that of h_prev without the part that comes through h_prev · w.
template <class T>
struct GruGradStep {
    T const *saved, *h_prev, *h_grad;
    T *x_grad, *hidden_grad, *h_prev_grad;
    std::size_t size;

    ROWAN_FORMULA void at(std::size_t row, std::size_t k) const {
        T const* const keep = saved + row * 4 * size + k;
        T *const xs = x_grad + row * 3 * size + k, *const gs = hidden_grad + row * 3 * size + k;
        V const one = constant<V>(1.0);
        V const r = load<V>(keep), z = load<V>(keep + size);
        V const c = load<V>(keep + 2 * size), g = load<V>(keep + 3 * size);
        V const d = load<V>(h_grad + row * size + k);
        V const dc = product(product(d, V(one - z)), V(one - product(c, c)));
        V const dz = product(product(d, V(load<V>(h_prev + row * size + k) - c)), product(z, V(one - z)));
        V const dr = product(product(dc, g), product(r, V(one - r)));
        store(dr, xs);
        store(dr, gs);
        store(dz, xs + size);
        store(dz, gs + size);
        store(dc, xs + 2 * size);
        store(product(dc, r), gs + 2 * size);
        store(product(d, z), h_prev_grad + row * size + k);
    }
};

}  // namespace detail

template <>
struct detail::function_of<gru_unit_op> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev,
                                                      Tensor<T, D> const& w, Tensor<T, D> const& b) {
        check_recurrent_cell(3, x, h_prev, w);
        std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
        ElementLoops<D>::check(exec, x);
        auto const hidden = fc(exec, h_prev, w, b);
        auto h = new_tensor<T>(exec, {n, size});
        auto saved = new_tensor<T>(exec, {n, 4 * size});
        GruStep<T> const step{.x = x.data(),
                              .hidden = hidden.data(),
                              .h_prev = h_prev.data(),
                              .saved = saved.data(),
                              .h = h.data(),
                              .size = size};
        ElementLoops<D>::template each_of_rows<sum_t<T>>(exec, n, size, 3 * size, step);
        return {std::move(h), std::move(saved)};
    }
};

namespace slot {

/// The gradient of h_prev · w + b.
struct hidden_grad {
    static constexpr std::string_view name = "hidden@GRAD";  ///< the name of the slot
};

}  // namespace slot

/// See gru_unit. The gradients of w and b are sums over rows, so one product computes them for all steps.
struct gru_unit_op : detail::declared<gru_unit_op> {
    static constexpr unsigned row_inputs = 0b0011;
    using grad =
        grad_rules<gradient<gru_unit_op, uses<slot::saved, slot::h_prev, slot::w, grad_of<slot::h>>,
                            makes<grad_of<slot::x>, slot::hidden_grad, grad_of<slot::h_prev>>>,
                   grad_rule<matrix_grad_op<true>, uses<slot::h_prev, slot::hidden_grad>, makes<grad_of<slot::w>>>,
                   grad_rule<bias_grad_op, uses<slot::hidden_grad>, makes<grad_of<slot::b>>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& h_prev, VarSpec const& w,
                                                  VarSpec const& b) {
        detail::infer_recurrent_cell(3, x, h_prev, w, b);
        VarSpec h = x, saved = x;
        h.dims[1] = h_prev.dims[1];
        saved.dims[1] = spec::times("gru_unit: h_prev.shape(1)", h_prev.dims[1], 4);
        return {h, saved};
    }

    template <class T, class D>
    static auto run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& w,
                    Tensor<T, D> const& b) {
        return gru_unit(exec, x, h_prev, w, b);
    }

    static constexpr std::array<VarSpec, 3> infer_backward(VarSpec const&, VarSpec const& h_prev, VarSpec const& w,
                                                           VarSpec const&) {
        VarSpec gates = h_prev;
        gates.dims[1] = w.dims[1];
        return {gates, gates, h_prev};
    }

    /// The gradients of x, of g = h_prev · w + b, and of h_prev, from the values that gru_unit saved and the gradient of h.
    /// shapes   saved [n, 4 · size], h_prev and h_grad [n, size], w [size, 3 · size] -> [n, 3 · size], [n, 3 · size],
    ///          [n, size]
    /// errors   ShapeError if shapes do not match
    /// cost     6 · n · size² operations, one pass over the gates
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> backward(D exec, Tensor<T, D> const& saved,
                                                                         Tensor<T, D> const& h_prev,
                                                                         Tensor<T, D> const& w,
                                                                         Tensor<T, D> const& h_grad) {
        detail::check_rank("h_prev", h_prev, 2);
        std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
        detail::check_rows_like("saved", saved, n, 4 * size);
        detail::check_rows_like("h_grad", h_grad, n, size);
        detail::check_rows_like("w", w, size, 3 * size);
        detail::ElementLoops<D>::check(exec, saved, h_prev, w, h_grad);
        auto x_grad = detail::new_tensor<T>(exec, {n, 3 * size});
        auto hidden_grad = detail::new_tensor<T>(exec, {n, 3 * size});
        auto h_prev_grad = detail::new_tensor<T>(exec, {n, size});
        detail::GruGradStep<T> const step{.saved = saved.data(),
                                          .h_prev = h_prev.data(),
                                          .h_grad = h_grad.data(),
                                          .x_grad = x_grad.data(),
                                          .hidden_grad = hidden_grad.data(),
                                          .h_prev_grad = h_prev_grad.data(),
                                          .size = size};
        detail::ElementLoops<D>::template each_of_rows<detail::sum_t<T>>(exec, n, size, 3 * size, step);
        if (size != 0)
            detail::Products<D>::template multiply<T>(exec, n, size, 3 * size, {hidden_grad.data(), 3 * size},
                                                      {w.data(), 3 * size, true}, h_prev_grad.data(), true);
        return {std::move(x_grad), std::move(hidden_grad), std::move(h_prev_grad)};
    }
};

}  // namespace rowan::inline v0
