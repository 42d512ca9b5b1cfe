// rowan/op/sequence/lod_reset.hpp: lod_reset_op and lod_from_offsets_op, rows with other levels.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/drop_levels.hpp>
#include <rowan/sequence/lod_tensor.hpp>

namespace rowan::inline v0 {

/// The rows of x with the levels of y, an alias. Paddle's lod_reset.
/// errors   ShapeError if y has no levels; LodError if they do not cover the rows of x
struct lod_reset_op : detail::declared<lod_reset_op> {
    static constexpr bool row_output = false;
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<drop_levels_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::rows("lod_reset: x", x);
        spec::dense("lod_reset: y", y);
        spec::has_levels("lod_reset: y", y);
        return spec::with_dims(x, x.dims, y.lod_level);
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y) {
        return {x.value().share(), y.lod()};
    }
};

/// The rows of x as sequences of one level: sequence s is rows [offset[s], offset[s + 1]); an alias.
/// errors   LodError if the offsets do not begin with 0, decrease, or do not end with the number of rows
struct lod_from_offsets_op : detail::declared<lod_from_offsets_op> {
    static constexpr bool row_output = false;
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<drop_levels_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& offset) {
        spec::rows("lod_from_offsets: x", x);
        spec::id_list("lod_from_offsets: offset", offset);
        return spec::with_dims(x, x.dims, 1);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& offset) {
        detail::HostIds<D> const offsets(exec, offset.value());
        return {x.value().share(), Lod{static_cast<Ids<> const&>(offsets)}};
    }
};

}  // namespace rowan::inline v0
