// rowan/layer/crf.hpp: layers of conditional random fields, the end of a tagger.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/crf_decoding.hpp>
#include <rowan/op/loss/linear_chain_crf.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

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
