// rowan/op/sequence/sequence_reshape.hpp: sequence_reshape_op, sequences with rows of another width.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_reshape.hpp>

namespace rowan::inline v0 {

/// See sequence_reshape.
struct sequence_reshape_op : detail::declared<sequence_reshape_op> {
    static constexpr bool row_wise = true;
    using grad = gradient<sequence_reshape_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, SequenceReshapeOptions const& options = {}) {
        detail::check_new_width("sequence_reshape: width", options.width);
        spec::sequences("sequence_reshape: x", x);
        return spec::with_dims(x, {UNK, options.width}, x.lod_level);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D, LoDTensor<T, D> const& x, SequenceReshapeOptions const& options = {}) {
        return sequence_reshape(x, options.width);
    }

    /// The gradient of the result with the shape and the levels of x, an alias.
    /// errors   ShapeError if out_grad does not have as many elements as x
    template <class T, class D>
    static LoDTensor<T, D> backward(D, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad) {
        return {out_grad.value().reshaped(x.shape()), x.lod()};
    }
};

}  // namespace rowan::inline v0
