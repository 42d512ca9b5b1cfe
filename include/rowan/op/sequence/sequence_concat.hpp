// rowan/op/sequence/sequence_concat.hpp: sequence_concat_op, the i-th sequences of several batches joined.
#pragma once

#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/sequence_concat.hpp>

#include <optional>
#include <span>

namespace rowan::inline v0 {

/// See sequence_concat. The slot `x` holds all batches as a std::vector.
struct sequence_concat_op : detail::declared<sequence_concat_op> {
    using grad = gradient<sequence_concat_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> x, SequenceConcatOptions const& options = {}) {
        detail::check_some(x.size());
        spec::rows("sequence_concat: x", x[0]);
        spec::has_levels("sequence_concat: x", x[0]);
        spec::has_level("sequence_concat: level", x[0], options.level.value_or(0));
        VarSpec out = x[0];
        out.dims[0] = UNK;
        for (std::size_t k = 1; k < x.size(); ++k) {
            detail::with_part_name("sequence_concat: x", k, [&](char const* name) {
                VarSpec part = x[k];
                spec::dense(name, part);
                spec::same_dtype(name, part, out);
                spec::has_rows(name, part);
                part.dims[0] = UNK;
                out.dims = spec::same_dims(name, part, out);
                spec::same_levels(name, part, out);
            });
        }
        return out;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, std::vector<LoDTensor<T, D>> const& x,
                               SequenceConcatOptions const& options = {}) {
        return sequence_concat(exec, x, options.level);
    }

    /// Splits the gradient of the result into the gradients of the inputs.
    template <class T, class D>
    static std::vector<LoDTensor<T, D>> backward(D exec, std::vector<LoDTensor<T, D>> const& x,
                                                 LoDTensor<T, D> const& out_grad,
                                                 SequenceConcatOptions const& options = {}) {
        std::vector<Lod> lods;
        for (auto const& part : x) lods.push_back(part.lod());
        return sequence_concat_grad(exec, out_grad, lods, options.level);
    }
};

}  // namespace rowan::inline v0
