// rowan/op/sequence/sequence_unpad.hpp: sequence_unpad_op, the sequences at the beginning of padded rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/padded.hpp>

#include <span>

namespace rowan::inline v0 {

/// from_padded: sequence s of the result is the first length[s] elements of row s. If x has levels, they are above that
/// of the sequences. The inverse of sequence_pad_op, Paddle's sequence_unpad.
/// shapes   x [s, m, ...], length [s] -> [Σ length, ...]
struct sequence_unpad_op : detail::declared<sequence_unpad_op> {
    using grad = gradient<sequence_unpad_op, uses<slot::x, slot::length, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& length) {
        spec::rows_of_elements("sequence_unpad: x", x);
        spec::id_list("sequence_unpad: length", length);
        spec::same_dim("sequence_unpad: length.shape(0)", length.dims[0], x.dims[0]);
        VarSpec out = x;
        out.dims = {UNK};
        for (std::size_t i = 2; i < x.dims.size(); ++i) out.dims.push_back(x.dims[i]);
        ++out.lod_level;
        return out;
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& length) {
        x.check();
        auto rows = from_padded(exec, x.value(), length.value());
        if (x.lod().empty()) return rows;
        std::vector<std::span<std::int64_t const>> levels;
        for (std::size_t l = 0; l < x.lod().levels(); ++l) levels.push_back(x.lod()[l]);
        levels.push_back(rows.lod()[0]);
        return {std::move(rows.value()), Lod(levels)};
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& length,
                                    LoDTensor<T, D> const& out_grad) {
        detail::HostIds<D> const lengths(exec, length.value());
        LoDTensor<T, D> const rows(out_grad.value().share(), Lod::from_lengths({static_cast<Ids<> const&>(lengths)}));
        std::array<std::int64_t, 1> const padded{static_cast<std::int64_t>(x.shape()[1])};
        return {to_padded(exec, rows, 0, padded).value, x.lod()};
    }
};

}  // namespace rowan::inline v0
