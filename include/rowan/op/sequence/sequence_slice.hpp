// rowan/op/sequence/sequence_slice.hpp: sequence_slice_op, a slice of each sequence.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_slice.hpp>

namespace rowan::inline v0 {

/// See sequence_slice. Offsets and lengths have the same element type.
struct sequence_slice_op : detail::declared<sequence_slice_op> {
    using grad = gradient<sequence_slice_op, uses<slot::x, slot::offset, slot::length, grad_of<slot::out>>,
                          makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& offset, VarSpec const& length) {
        spec::sequences("sequence_slice: x", x);
        spec::id_list("sequence_slice: offset", offset);
        spec::dense("sequence_slice: length", length);
        spec::same_dtype("sequence_slice: length", length, offset);
        spec::same_dims("sequence_slice: length", length, offset);
        return spec::with_rows(x, UNK, x.lod_level);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& offset,
                               LoDTensor<I, D> const& length) {
        return sequence_slice(exec, x, offset.value(), length.value());
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& offset,
                                    LoDTensor<I, D> const& length, LoDTensor<T, D> const& out_grad) {
        return sequence_slice_grad(exec, out_grad, x.lod(), offset.value(), length.value());
    }
};

}  // namespace rowan::inline v0
