// rowan/layer/sequence_conv.hpp: layer::sequence_conv and sequence_enumerate: windows of sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/sequence/declared.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace rowan::inline v0::layer {

/// The settings of layer::sequence_enumerate.
struct SequenceEnumerateOptions {
    std::int64_t size = 2;       ///< the number of ids of a window
    std::int64_t pad_value = 0;  ///< the id after the end of a sequence
};

/// Each id and those that follow it in its sequence: n-grams.
///     auto grams = layer::sequence_enumerate(words, {.size = 2});      // [7 8 9] [5]  ->  [7 8] [8 9] [9 0]  [5 0]
/// shapes   x [n] with levels -> [n, size], with the levels of x
/// errors   ShapeError if x has no levels or a rank above 2, or size is not in [1, 2^31)
/// cost     as rowan::sequence_context, when the net runs
template <id_type I, class Device>
Var<I, Device> sequence_enumerate(Var<I, Device> const& x, SequenceEnumerateOptions const& options = {}) {
    return sequence_context(x, {0, options.size, static_cast<double>(options.pad_value)});
}

/// The settings of layer::sequence_conv.
struct SequenceConvOptions {
    std::int64_t output_size = 0;            ///< 0: the width of the input
    std::int64_t length = 3;                 ///< the number of rows of the filter
    std::optional<std::int64_t> start = {};  ///< its first row, relative to that of the result; default -(length / 2)
    bool train_padding = false;              ///< whether the rows outside of sequences are parameters instead of zeros
    std::optional<Initializer> weight = {};  ///< initial weights; default XavierUniform{}
    Bias bias = {};                          ///< initial bias, or false for none; default zeros
    std::string name = {};                   ///< if not empty, the parameters are name.w_0, name.b_0 and name.w_1
};

/// A convolution along the sequences of the last level: the product of the rows i + start, …, i + start + length - 1
/// with weights [length * width, output_size], plus a bias. Paddle's sequence_conv. The padding w_1 begins with zeros.
///     auto features = layer::tanh(layer::sequence_conv(rows, {.output_size = 64, .length = 5}));
/// shapes   x [n, width] with levels -> [n, output_size], with the levels of x
/// errors   ShapeError if x has no levels, is not a matrix or its width is unknown, or start or length is out of range;
///          as layer::fc
/// cost     as rowan::sequence_context and rowan::fc, when the net runs
template <class T, class Device>
Var<T, Device> sequence_conv(Var<T, Device> const& x, SequenceConvOptions const& options = {}) {
    spec::matrix("layer::sequence_conv: x", x->spec());
    std::int64_t const width = x->spec().dims[1];
    SequenceContextOptions const window{options.start.value_or(-(options.length / 2)), options.length, 0};
    auto const around = rowan::detail::rows_of_context(window);
    rowan::detail::LayerRollback added;
    auto const context = [&] {
        if (!options.train_padding || around.both() == 0) return sequence_context(x, window);
        if (width == UNK) throw ShapeError("layer::sequence_conv: x width", "unknown", "a number, for its padding");
        auto const padding = parameter<T, Device>({around.both(), width}, Initializer(),
                                                  rowan::detail::parameter_name(options.name, "w_1"));
        return sequence_context(x, padding, window);
    }();
    auto const y = fc(context, {.output_size = options.output_size == 0 && width != UNK ? width : options.output_size,
                                .weight = options.weight,
                                .bias = options.bias,
                                .name = options.name});
    added.keep();
    return y;
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/sequence/sequence_context.hpp>
#endif
