// rowan/op/sequence/sequence_mask.hpp: sequence_mask_op, a mask of the valid entries of padded sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_mask.hpp>

#include <optional>

namespace rowan::inline v0 {

/// See sequence_mask. The slot `x` holds the lengths.
struct sequence_mask_op : detail::declared<sequence_mask_op> {
    // Without max_length, the width for a part of a batch depends on its lengths.
    static constexpr bool row_wise(SequenceMaskOptions const& options) { return options.max_length.has_value(); }

    static constexpr VarSpec infer(VarSpec const& x, SequenceMaskOptions const& options = {}) {
        spec::dense("sequence_mask: lengths", x);
        spec::ids("sequence_mask: lengths", x);
        VarSpec mask = x;
        mask.dtype = rowan::dtype<bool>::wire;
        mask.dims.push_back(options.max_length ? static_cast<std::int64_t>(*options.max_length) : UNK);
        return mask;
    }

    template <id_type I, class D>
    static Tensor<bool, D> run(D exec, Tensor<I, D> const& x, SequenceMaskOptions const& options = {}) {
        return sequence_mask(exec, x, options.max_length);
    }
};

}  // namespace rowan::inline v0
