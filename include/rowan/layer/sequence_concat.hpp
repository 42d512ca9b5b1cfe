// rowan/layer/sequence_concat.hpp: layer::sequence_concat, the i-th sequences of several batches joined.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_concat.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// Sequence i of a level of the result, by default the last, is the concatenation of sequences i of all values.
///     auto text = layer::sequence_concat({title, body});      // [a b] [] [c]  and  [d] [e] []   ->   [a b d] [e] [c]
///     auto pages = layer::sequence_concat({a, b}, {.level = 0});     // the paragraphs of each page of a, then of b
/// shapes   x[k] [n_k, ...] with levels -> [Σ n_k, ...], with the levels of the first above options.level
/// errors   ShapeError if x is empty or has no levels, or the numbers of levels or trailing dims differ; IndexError if
///          there is no such level; when the net runs, ShapeError if the numbers of sequences of the level or the
///          levels above it differ
/// cost     as rowan::sequence_concat, when the net runs
template <class T, class Device>
Var<T, Device> sequence_concat(std::vector<Var<T, Device>> const& x, SequenceConcatOptions const& options = {}) {
    std::vector<Variable*> inputs;
    for (auto const& part : x) inputs.push_back(&*part);
    return Var<T, Device>(
        *default_scope().new_op<sequence_concat_op, Device, T>(std::move(inputs), options).outputs[0]);
}
template <class T, class Device>
Var<T, Device> sequence_concat(std::initializer_list<Var<T, Device>> x, SequenceConcatOptions const& options = {}) {
    return sequence_concat(std::vector<Var<T, Device>>(x), options);
}

}  // namespace rowan::inline v0::layer
