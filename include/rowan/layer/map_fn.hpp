// rowan/layer/map_fn.hpp: layer::map_fn, layers applied to every element of sequences or arrays.
#pragma once

#include <rowan/layer/array.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/while_loop.hpp>

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::layer {

/// Applies `f` to each element of the sequences of a level of x; an element is a row, or a sequence of the levels
/// below. This is a recurrent layer without a memory: the row-wise operators of `f` run once for all elements.
///
///     auto sentences = layer::map_fn(
///         texts, [](auto sentence) { return layer::sequence_pool(sentence); }, {.level = 0});
///
/// shapes   x [n, ...] with levels -> [elements, ...] with the levels of x down to options.level, then those of the
///          result of `f`
/// errors   as layer::rnn
/// cost     as layer::rnn
template <class T, class Device, class F>
auto map_fn(Var<T, Device> const& x, F const& f, RnnOptions const& options = {}) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    auto const step = [&](Var<T, Device> const& x_t, auto const&) {
        return Step<R, Device>{f(x_t), std::vector<Var<R, Device>>{}};
    };
    return rowan::detail::recurrence<R>(x, std::span<Memory const>(), options, step).output;
}

/// Applies `f` to every slot of an array, in order.
/// shapes   n slots -> n slots of the shape of the result of `f`
/// errors   as layer::while_loop
/// cost     as layer::while_loop
template <class T, class Device, class F>
auto map_fn(Array<T, Device> const& array, F const& f) {
    using R = typename std::invoke_result_t<F const&, Var<T, Device> const&>::value_type;
    using Index = Var<std::int64_t, Device>;
    auto const size = array_size(array);
    auto const slot =
        std::make_shared<VarSpec>(rowan::detail::array_of(tensor_spec<R>({})));  // set below, from the result of f
    Array<R, Device> const none(
        rowan::detail::result_of<typename rowan::detail::array_kernels<R, Device>::create>({}, slot));
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
