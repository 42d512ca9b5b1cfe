// rowan/layer/map_fn.hpp: layer::map_fn, layers applied to every element of sequences.
#pragma once

#include <rowan/layer/rnn.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::layer {

/// What `f` makes of each element of the sequences of a level of x: a row, or a sequence of the levels below. It is a recurrent layer
/// without a memory: what `f` does row by row is done for all elements at once.
///
///     auto sentences = layer::map_fn(texts, [](auto sentence) { return layer::sequence_pool(sentence); }, {.level = 0});
///
/// shapes   x [n, ...] with levels -> [elements, ...] with the levels of x down to that one, and those that `f` makes below
/// errors   those of layer::rnn
template <class T, class Device, class F>
auto map_fn(Var<T, Device> const& x, F const& f, RnnOptions const& options = {}) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    auto const step = [&](Var<T, Device> const& x_t, auto const&) {
        return Step<R, Device>{f(x_t), std::vector<Var<R, Device>>{}};
    };
    return rowan::detail::recurrence<R>(x, std::span<Memory const>(), options, step).output;
}

}  // namespace rowan::inline v0::layer
