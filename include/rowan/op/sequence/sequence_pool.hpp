// rowan/op/sequence/sequence_pool.hpp: sequence_pool_op, one pooled row for each sequence.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_pool.hpp>

namespace rowan::inline v0 {

/// See sequence_pool.
struct sequence_pool_op : detail::declared<sequence_pool_op> {
    using grad = gradient<sequence_pool_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, SequencePoolOptions const& = {}) {
        spec::sequences("sequence_pool: x", x);
        return spec::with_rows(x, UNK, x.lod_level - 1);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, SequencePoolOptions const& options = {}) {
        return sequence_pool(exec, x, options.pool, options.pad_value);
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad,
                                    SequencePoolOptions const& options) {
        return sequence_pool_grad(exec, x, out_grad.value(), options.pool);
    }
};

}  // namespace rowan::inline v0
