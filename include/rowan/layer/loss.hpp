// rowan/layer/loss.hpp: losses and softmax.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/cross_entropy.hpp>
#include <rowan/op/mse.hpp>
#include <rowan/op/softmax.hpp>
#include <rowan/op/softmax_with_cross_entropy.hpp>

namespace rowan::inline v0::layer {

/// The mean squared error over all elements.
/// shapes   x and y [...] -> [1]
/// errors   ShapeError if the shapes differ
/// cost     as rowan::mse, when the net runs
template <class T, class Device>
Var<T, Device> mse(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<mse_op>({}, x, y);
}

/// Row-wise softmax, the probabilities of the classes, as rowan::softmax.
/// shapes   [n, classes] -> [n, classes]
/// errors   ShapeError if x is not a matrix
/// cost     as rowan::softmax, when the net runs
template <class T, class Device>
Var<T, Device> softmax(Var<T, Device> const& x) {
    return apply<softmax_op>({}, x);
}

/// The mean over the rows of -log(probability of the label), as rowan::cross_entropy.
/// shapes   x [n, classes] of probabilities, label [n] -> [1]
/// errors   ShapeError if x is not a matrix or label has a different number of rows; when the net runs, IndexError if a
///          label is not in [0, classes)
/// cost     as rowan::cross_entropy, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> cross_entropy(Var<T, Device> const& x, Var<I, Device> const& label) {
    return apply<cross_entropy_op>({}, x, label);
}

/// cross_entropy(softmax(x), label) in a numerically stable form, as rowan::softmax_with_cross_entropy.
/// shapes   x [n, classes] of scores, label [n] -> [1]
/// errors   as layer::cross_entropy
/// cost     as rowan::softmax_with_cross_entropy, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> softmax_with_cross_entropy(Var<T, Device> const& x, Var<I, Device> const& label) {
    return apply<softmax_with_cross_entropy_op>({}, x, label);
}

ROWAN_TEMPLATE(Var<float> mse(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> softmax(Var<float> const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<float> softmax_with_cross_entropy(Var<float> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<float> softmax_with_cross_entropy(Var<float> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<double> mse(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> softmax(Var<double> const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int32_t> const&))
ROWAN_TEMPLATE(Var<double> softmax_with_cross_entropy(Var<double> const&, Var<std::int64_t> const&))
ROWAN_TEMPLATE(Var<double> softmax_with_cross_entropy(Var<double> const&, Var<std::int32_t> const&))

}  // namespace rowan::inline v0::layer
