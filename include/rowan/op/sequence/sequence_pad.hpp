// rowan/op/sequence/sequence_pad.hpp: sequence_pad_op, sequences as padded rows, and their lengths.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/padded.hpp>

#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// The last level of x alone.
template <class T, class D>
LoDTensor<T, D> of_last_level(D const& exec, LoDTensor<T, D> const& x) {
    check_sequences(exec, "x", x);
    std::size_t const levels = x.lod().levels();
    return {x.value().share(), x.lod().slice_levels(levels - 1, levels)};
}

/// Writes a row of padding, unless a row of x is there.
template <class T>
struct PadPlace {
    bool const* present;
    T const* padding;
    std::size_t width;
    T* to;

    ROWAN_HD void operator()(std::size_t place) const {
        if (present[place]) return;
        for (std::size_t k = 0; k < width; ++k) to[place * width + k] = padding[k];
    }
};

[[noreturn]] inline void bad_pad_values(std::size_t size, std::size_t width) {
    throw ShapeError("pad_values.size()", size, {width, ", one for each column"});
}

/// The values as a row of padding.
/// errors   ShapeError unless there are `width`; ValueError if the element type is an integer and cannot represent one
template <class T>
Tensor<T> padding_row(std::vector<double> const& values, std::size_t width) {
    if (values.size() != width) bad_pad_values(values.size(), width);
    auto row = Tensor<T>::from_shape({width});
    for (std::size_t k = 0; k < width; ++k)
        row.data()[k] = checked_number<T>(("pad_values[" + std::to_string(k) + "]").c_str(), values[k]);
    return row;
}

}  // namespace detail

/// to_padded for the last level: row s of the result is sequence s, followed by padding. The slot `length` holds the
/// lengths of the sequences. Both have the upper levels of x. Paddle's sequence_pad.
/// shapes   x [n, ...] of s sequences -> [s, m, ...] and [s] of int64, where m is options.length or the greatest length
/// errors   ShapeError if pad_values is neither empty nor has a value for each column; as to_padded
struct sequence_pad_op : detail::declared<sequence_pad_op> {
    using grad = gradient<sequence_pad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    // Without a length, the dims of a part of a batch depend on its longest sequence.
    static constexpr bool row_wise(SequencePadOptions const& options) { return options.length.has_value(); }

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, SequencePadOptions const& options = {}) {
        spec::sequences("sequence_pad: x", x);
        if (!options.pad_values.empty()) {
            std::size_t width = 1;
            bool known = true;
            for (std::size_t i = 1; i < x.dims.size(); ++i) {
                known = known && x.dims[i] != UNK;
                if (known) width *= static_cast<std::size_t>(x.dims[i]);
            }
            if (known && options.pad_values.size() != width) detail::bad_pad_values(options.pad_values.size(), width);
        }
        VarSpec out = x;
        out.dims = {UNK, options.length ? static_cast<std::int64_t>(*options.length) : UNK};
        for (std::size_t i = 1; i < x.dims.size(); ++i) out.dims.push_back(x.dims[i]);
        --out.lod_level;
        return {out, tensor_spec<std::int64_t>({UNK}, out.lod_level)};
    }

    template <class T, class D>
    static std::tuple<LoDTensor<T, D>, LoDTensor<std::int64_t, D>> run(D exec, LoDTensor<T, D> const& x,
                                                                       SequencePadOptions const& options = {}) {
        auto const last = detail::of_last_level(exec, x);
        std::size_t const width = x.value().row_size();
        Tensor<T> row;
        if (!options.pad_values.empty()) row = detail::padding_row<T>(options.pad_values, width);
        std::array<std::int64_t, 1> const length{static_cast<std::int64_t>(options.length.value_or(0))};
        auto padded = options.length ? to_padded(exec, last, options.pad_value, length)
                                     : to_padded(exec, last, options.pad_value);
        if (!options.pad_values.empty()) {
            auto const padding = to_device(exec, std::move(row));
            detail::ElementLoops<D>::each(
                exec, padded.mask.size(), width,
                detail::PadPlace<T>{padded.mask.data(), padding.data(), width, padded.value.data()});
        }
        auto lengths = to_device(exec, Tensor<std::int64_t>::from_values({last.size()}, last.lod().lengths(0)));
        Lod const upper = detail::upper_levels(x.lod());
        return {LoDTensor<T, D>(std::move(padded.value), upper), LoDTensor<std::int64_t, D>(std::move(lengths), upper)};
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad) {
        auto rows = from_padded(exec, out_grad.value(), detail::of_last_level(exec, x).lod());
        return {std::move(rows.value()), x.lod()};
    }
};

}  // namespace rowan::inline v0
