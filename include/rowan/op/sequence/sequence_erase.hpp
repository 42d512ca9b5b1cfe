// rowan/op/sequence/sequence_erase.hpp: sequence_erase_op, sequences without given tokens.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_erase.hpp>

namespace rowan::inline v0 {

/// See sequence_erase.
struct sequence_erase_op : detail::declared<sequence_erase_op> {
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, SequenceEraseOptions const&) {
        spec::tokens("sequence_erase: x", "sequence_erase: x.row_size()", x);
        return spec::with_rows(x, UNK, x.lod_level);
    }

    template <id_type I, class D>
    static LoDTensor<I, D> run(D exec, LoDTensor<I, D> const& x, SequenceEraseOptions const& options) {
        return sequence_erase(exec, x, options.tokens);
    }
};

}  // namespace rowan::inline v0
