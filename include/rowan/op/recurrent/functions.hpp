// rowan/op/recurrent/functions.hpp: steps of recurrent cells.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/recurrent/declared.hpp>

#include <tuple>

namespace rowan::inline v0 {

/// One step of a GRU (Cho et al. 2014) in PyTorch's and cuDNN's form, which applies the reset gate after the matrix
/// product. With g = h_prev · w + b:
///     r = sigmoid(x_r + g_r);  z = sigmoid(x_z + g_z);  c = tanh(x_c + r · g_c);  h = (1 - z) · c + z · h_prev
/// `x` is the contribution of the input to the gates, which one matrix product can compute for all steps.
/// shapes   x [n, 3 · size] in the order r, z, c; h_prev [n, size], w [size, 3 · size], b [3 · size] -> h [n, size],
///          and r, z, c, g_c [n, 4 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     6 · n · size² operations, one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> gru_unit(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& h_prev,
                                                Tensor<T, D> const& w, Tensor<T, D> const& b) {
    return detail::run_of<gru_unit_op, std::tuple<Tensor<T, D>, Tensor<T, D>>>(exec, x, h_prev, w, b);
}

/// One step of an LSTM (Hochreiter and Schmidhuber 1997, with a forget gate). With g = x + h_prev · w + b:
///     i = sigmoid(g_i); f = sigmoid(g_f); u = tanh(g_u); o = sigmoid(g_o); c = f · c_prev + i · u; h = o · tanh(c)
/// `x` is the contribution of the input to the gates, which one matrix product can compute for all steps.
/// shapes   x [n, 4 · size] in PyTorch's order i, f, u, o; h_prev and c_prev [n, size], w [size, 4 · size],
///          b [4 · size] -> h and c [n, size], and i, f, u, o, tanh(c) [n, 5 · size] for the gradient
/// errors   ShapeError if shapes do not match
/// cost     8 · n · size² operations, one pass over the gates
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> lstm_unit(D const& exec, Tensor<T, D> const& x,
                                                               Tensor<T, D> const& h_prev, Tensor<T, D> const& c_prev,
                                                               Tensor<T, D> const& w, Tensor<T, D> const& b) {
    return detail::run_of<lstm_unit_op, std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>>>(exec, x, h_prev, c_prev,
                                                                                              w, b);
}

}  // namespace rowan::inline v0
