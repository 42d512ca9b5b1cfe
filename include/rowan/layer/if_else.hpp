// rowan/layer/if_else.hpp: layer::if_else, layers for some rows of a batch and other layers for the rest.
#pragma once

#include <rowan/layer/operators.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/sequence/declared.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// The rows of a batch that the mask marks, and the others.
template <class T, class Device>
struct Divided {
    Var<T, Device> marked;                ///< rows, or sequences, whose mask is true
    Var<T, Device> others;                ///< the rest
    Var<std::int64_t, Device> is_marked;  ///< the mask as 0 and 1
};

/// Divides the rows of x, or its first-level sequences, by a mask: Paddle's split_lod_tensor.
/// shapes   mask [n], x of n rows or sequences -> two batches that together have n, with the levels of x
/// errors   ShapeError if mask is not of rank 1 or has another length than x
/// cost     as rowan::pick_sequences twice, when the net runs
template <class T, class Device>
Divided<T, Device> divide_rows(Var<bool, Device> const& mask, Var<T, Device> const& x) {
    spec::rank("layer::divide_rows: mask", mask->spec(), 1, "1");
    auto const marks = cast<std::int64_t>(mask);
    auto const part = [&](std::int64_t value) { return pick_sequences(x, apply<nonzero_rows_op>({value}, marks, x)); };
    return {part(1), part(0), marks};
}

/// `then` of the rows or sequences of x whose mask is true, and `otherwise` of the others, merged again in the order of
/// x: Paddle's IfElse. Both are called once, with a part of x, which may have no rows, and must return a row for each
/// row or sequence of it. Gradients flow to both; also in a loop and in the step of a recurrent layer.
///     auto y = layer::if_else(mask, x, [](auto a) { return layer::tanh(a); },
///                             [](auto b) { return layer::scale(b, 2); });
/// shapes   mask [n], x of n rows or sequences; results [marked, ...] and [others, ...] -> [n, ...]
/// errors   ShapeError if mask is not of rank 1, or the trailing dims of the results differ; TypeError if their element
///          types differ; when the net runs, ShapeError if a result has another number of rows
/// cost     that of both functions, on their rows; one copy of every row to divide and one to merge them
template <class T, class Device, class Then, class Otherwise>
auto if_else(Var<bool, Device> const& mask, Var<T, Device> const& x, Then const& then, Otherwise const& otherwise) {
    auto const parts = divide_rows(mask, x);
    auto const yes = then(parts.marked), no = otherwise(parts.others);
    return apply<interleave_rows_op>({}, parts.is_marked, yes, no);
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/sequence/interleave_rows.hpp>
#endif
