// rowan/op/sequence/sequence_expand.hpp: sequence_expand_op, rows or sequences repeated by another input's lengths.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_expand.hpp>

#include <optional>

namespace rowan::inline v0 {

/// See sequence_expand; the levels are those of y.
struct sequence_expand_op : detail::declared<sequence_expand_op> {
    using grad = gradient<sequence_expand_op, uses<slot::x, slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, SequenceExpandOptions const& options = {}) {
        spec::rows("sequence_expand: x", x);
        spec::has_levels("sequence_expand: y", y);
        spec::has_level("sequence_expand: level", y, options.level.value_or(0));
        return spec::with_rows(x, UNK, x.lod_level == 0 ? 1 : x.lod_level);
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                               SequenceExpandOptions const& options = {}) {
        return sequence_expand(exec, x, y.lod(), options.level);
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                                    LoDTensor<T, D> const& out_grad, SequenceExpandOptions const& options = {}) {
        return sequence_expand_grad(exec, out_grad.value(), x, y.lod(), options.level);
    }
};

}  // namespace rowan::inline v0
