// rowan/layer/map_fn.hpp: layer::map_fn, layers applied to every element of sequences.
#pragma once

#include <rowan/layer/array.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cstdint>
#include <span>
#include <tuple>
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
/// cost     as layer::rnn
template <class T, class Device, class F>
auto map_fn(Var<T, Device> const& x, F const& f, RnnOptions const& options = {}) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    auto const step = [&](Var<T, Device> const& x_t, auto const&) {
        return Step<R, Device>{f(x_t), std::vector<Var<R, Device>>{}};
    };
    return rowan::detail::recurrence<R>(x, std::span<Memory const>(), options, step).output;
}

/// What `f` makes of every slot of an array, one after the other.
/// shapes   n slots -> n slots of what `f` makes
/// errors   those of layer::while_loop
/// cost     as layer::while_loop
template <class T, class Device, class F>
auto map_fn(Array<T, Device> const& array, F const& f) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    using Index = Var<std::int64_t, Device>;
    auto const size = array_size(array);
    auto const slot =
        std::make_shared<VarSpec>(rowan::detail::array_of(tensor_spec<R>({})));  // settled by what f makes
    Array<R, Device> const none(
        *default_scope().new_op(rowan::detail::array_kernels<R, Device>::create, {}, slot).outputs[0]);
    auto const made = while_loop(
        std::tuple(full<std::int64_t, Device>({1}, 0), none),
        [&](Index const& i, auto const&) { return less(i, size); },
        [&](Index const& i, Array<R, Device> const& results) {
            Var<R, Device> const y = f(array_read(array, i));
            *slot = rowan::detail::array_of(y->spec());
            none->settle(*slot);
            results->settle(*slot);
            return std::tuple(scale(i, 1, 1), array_write(results, i, y));
        });
    return std::get<1>(made);
}

}  // namespace rowan::inline v0::layer
