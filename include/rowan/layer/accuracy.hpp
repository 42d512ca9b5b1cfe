// rowan/layer/accuracy.hpp: layer::accuracy, the fraction of correctly classified rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/accuracy.hpp>

namespace rowan::inline v0::layer {

/// The fraction of rows whose largest element, the first of equal ones, is at the index in label; with `.k`, of rows
/// where one of the k largest is. 0 if there are no rows. It is meant for infer and has no gradient.
/// shapes   x [n, classes] of scores or probabilities, label [n] -> [1]
/// errors   ShapeError if x is not a matrix or label has a different number of rows; ValueError if k < 1; when the net runs, IndexError if a
///          label is not in [0, classes)
/// cost     as rowan::accuracy, when the net runs
template <class T, id_type I, class Device>
Var<double, Device> accuracy(Var<T, Device> const& x, Var<I, Device> const& label,
                             AccuracyOptions const& options = {}) {
    return apply<accuracy_op>(options, x, label);
}

}  // namespace rowan::inline v0::layer
