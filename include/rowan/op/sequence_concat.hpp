// rowan/op/sequence_concat.hpp: sequence_concat_op, the i-th sequences of several batches joined.
#pragma once

#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/sequence/sequence_concat.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// Splits the gradient of the result into the gradients of the inputs.
struct sequence_concat_grad_op {
    static constexpr std::string_view name = "sequence_concat_grad";
    using inputs = slots<slot::x, grad_of<slot::out>>;  // only the levels of x are used
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;

    static constexpr std::vector<VarSpec> infer(std::span<VarSpec const> x, VarSpec const&) {
        return {x.begin(), x.end()};
    }

    template <class T, class D>
    static std::vector<LoDTensor<T, D>> run(D exec, std::vector<LoDTensor<T, D>> const& x,
                                            LoDTensor<T, D> const& out_grad) {
        std::vector<Lod> lods;
        for (auto const& part : x) lods.push_back(part.lod());
        return sequence_concat_grad(exec, out_grad, lods);
    }
};

/// See sequence_concat. The slot `x` holds all batches as a std::vector.
struct sequence_concat_op {
    static constexpr std::string_view name = "sequence_concat";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<sequence_concat_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> x) {
        detail::check_some(x.size());
        spec::dense("sequence_concat: x", x[0]);
        spec::has_rows("sequence_concat: x", x[0]);
        spec::has_levels("sequence_concat: x", x[0]);
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
    static LoDTensor<T, D> run(D exec, std::vector<LoDTensor<T, D>> const& x) {
        return sequence_concat(exec, x);
    }
};

}  // namespace rowan::inline v0
