// rowan/op/sequence/pick_sequences.hpp: pick_sequences_op, the sequences of a batch that a list names.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/pick_sequences.hpp>

namespace rowan::inline v0 {

/// See pick_sequences.
struct pick_sequences_op : detail::declared<pick_sequences_op> {
    static constexpr bool row_output = false;
    using grad = gradient<pick_sequences_op, uses<slot::x, slot::ids, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& ids) {
        spec::rows("pick_sequences: x", x);
        spec::id_list("pick_sequences: ids", ids);
        return spec::with_rows(x, x.lod_level == 0 ? ids.dims[0] : UNK, x.lod_level);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& ids) {
        return pick_sequences(exec, x, ids.value());
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& ids,
                                    LoDTensor<T, D> const& out_grad) {
        return pick_sequences_grad(exec, out_grad.value(), x, ids.value());
    }
};

}  // namespace rowan::inline v0
