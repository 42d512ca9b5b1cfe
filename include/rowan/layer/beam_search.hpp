// rowan/layer/beam_search.hpp: layer::beam_search and beam_search_decode, for decoders that generate sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/declared.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// The hypotheses after a step of a beam search.
template <class T, class I, class Device>
struct Beam {
    Var<I, Device> prefixes;            ///< the tokens of each hypothesis, with one level
    Var<I, Device> last;                ///< its last token: the input of the next step; the level is that of sources
    Var<T, Device> scores;              ///< its score, with the level of sources
    Var<std::int64_t, Device> parents;  ///< the row of the hypothesis that it extends
};

/// One step of a beam search, see rowan::beam_search. In a loop, the states of the decoder follow their hypotheses:
///     auto beam = layer::beam_search(prefixes, layer::log(layer::softmax(y)), scores, {.beam_size = 4, .end_id = 1});
///     auto next = layer::pick_sequences(state, beam.parents);      // state [hypotheses, size] without levels
/// shapes   prefixes [n] with one level, log_probability [hypotheses, tokens] with the level of sources, scores
///          [hypotheses] -> as rowan::beam_search
/// errors   ShapeError or TypeError if these do not match; ValueError if options.beam_size is less than 1; when the net
///          runs, as rowan::beam_search
/// cost     as rowan::beam_search, when the net runs
template <id_type I, class T, class Device>
Beam<T, I, Device> beam_search(Var<I, Device> const& prefixes, Var<T, Device> const& log_probability,
                               Var<T, Device> const& scores, BeamSearchOptions const& options = {}) {
    auto const& made = default_scope()
                           .new_op<beam_search_op, Device, I, T, T>({&*prefixes, &*log_probability, &*scores}, options)
                           .outputs;
    return {Var<I, Device>(*made[0]), Var<I, Device>(*made[1]), Var<T, Device>(*made[2]),
            Var<std::int64_t, Device>(*made[3])};
}

/// The hypotheses of each source, and their scores, in the order of decreasing scores.
template <class T, class I, class Device>
struct Decoded {
    Var<I, Device> sentences;  ///< tokens with two levels: the hypotheses of each source, the tokens of each hypothesis
    Var<T, Device> scores;     ///< one for each hypothesis, with the level of sources
};

/// The result of a beam search, see rowan::beam_search_decode.
/// shapes   prefixes [n] with one level, scores [hypotheses] with one level -> [n] with two levels, [hypotheses]
/// errors   ShapeError if ranks or levels do not match; when the net runs, as rowan::beam_search_decode
/// cost     as rowan::beam_search_decode, when the net runs
template <id_type I, class T, class Device>
Decoded<T, I, Device> beam_search_decode(Var<I, Device> const& prefixes, Var<T, Device> const& scores) {
    auto const& made = default_scope().new_op<beam_search_decode_op, Device, I, T>({&*prefixes, &*scores}, {}).outputs;
    return {Var<I, Device>(*made[0]), Var<T, Device>(*made[1])};
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/sequence/beam_search.hpp>
#endif
