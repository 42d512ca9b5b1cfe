// rowan/layer/crf.hpp: layers of conditional random fields, the end of a tagger.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/crf_decoding.hpp>
#include <rowan/op/loss/linear_chain_crf.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// The negative log-likelihood of the labels of each sequence, as rowan::linear_chain_crf and Paddle's layer. The
/// transitions are a parameter: row 0 has the scores of first tags, row 1 of last tags, row 2 + k of the tags after k.
///     auto scores = layer::fc(words, {.output_size = tags});
///     auto transition = layer::parameter<float>({tags + 2, tags}, {});      // zeros at first
///     auto cost = layer::linear_chain_crf(scores, transition, labels);     // its mean or sum is trained
///     auto path = layer::crf_decoding(scores, transition);
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1] -> [sequences, 1]
/// errors   ShapeError if the shapes do not fit or emission has no levels; when the net runs, IndexError if a label is
///          not in [0, tags)
/// cost     as rowan::linear_chain_crf, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> linear_chain_crf(Var<T, Device> const& emission, Var<T, Device> const& transition,
                                Var<I, Device> const& label) {
    return apply<linear_chain_crf_op>({}, emission, transition, label);
}

/// The best tags of each sequence, as rowan::crf_decoding.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags] -> [rows, 1], with the levels of emission
/// errors   ShapeError if the shapes do not fit or emission has no levels
/// cost     as rowan::crf_decoding, when the net runs
template <class T, class Device>
Var<std::int64_t, Device> crf_decoding(Var<T, Device> const& emission, Var<T, Device> const& transition) {
    return apply<crf_decoding_op>({}, emission, transition);
}

/// 1 where the best path has the label, else 0.
/// shapes   as layer::linear_chain_crf -> [rows, 1], with the levels of emission
/// errors   as layer::linear_chain_crf
/// cost     as rowan::crf_decoding, when the net runs
template <class T, id_type I, class Device>
Var<std::int64_t, Device> crf_decoding(Var<T, Device> const& emission, Var<T, Device> const& transition,
                                       Var<I, Device> const& label) {
    return apply<crf_matches_op>({}, emission, transition, label);
}

}  // namespace rowan::inline v0::layer
