// rowan/op/sequence/sequence_softmax.hpp: sequence_softmax_op, the softmax over the rows of each sequence.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_softmax.hpp>

namespace rowan::inline v0 {

/// See sequence_softmax.
struct sequence_softmax_op : detail::declared<sequence_softmax_op> {
    using grad = gradient<sequence_softmax_op, uses<slot::out, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::sequences("sequence_softmax: x", x);
        return x;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x) {
        return sequence_softmax(exec, x);
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& out, LoDTensor<T, D> const& out_grad) {
        return sequence_softmax_grad(exec, out, out_grad.value());
    }
};

}  // namespace rowan::inline v0
