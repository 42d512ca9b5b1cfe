// rowan/op/sequence/sequence_reverse.hpp: sequence_reverse_op, the rows of each sequence in reverse order.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_reverse.hpp>

namespace rowan::inline v0 {

/// See sequence_reverse.
struct sequence_reverse_op : detail::declared<sequence_reverse_op> {
    using grad = gradient<sequence_reverse_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::sequences("sequence_reverse: x", x);
        return x;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x) {
        return sequence_reverse(exec, x);
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad) {
        return sequence_reverse(exec, LoDTensor<T, D>(out_grad.value().share(), x.lod()));
    }
};

}  // namespace rowan::inline v0
