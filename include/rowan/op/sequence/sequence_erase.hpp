// rowan/op/sequence/sequence_erase.hpp: sequence_erase_op, sequences without given tokens.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/sequence_erase.hpp>

namespace rowan::inline v0 {

/// The settings of sequence_erase.
struct SequenceEraseOptions {
    std::vector<std::int64_t> tokens = {};  ///< the tokens to remove
    ROWAN_OPTIONS(SequenceEraseOptions, tokens)
};

/// See sequence_erase.
struct sequence_erase_op
    : detail::builtin_op<sequence_erase_op, slots<slot::x>, slots<slot::out>, SequenceEraseOptions> {
    static constexpr std::string_view name = "sequence_erase", brief = "The sequences without these tokens.";
    static constexpr Elements elements = Elements::integers;
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
