// rowan/op/sequence/drop_levels.hpp: drop_levels_op, a batch without its outermost levels.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/drop_levels.hpp>

#include <optional>

namespace rowan::inline v0 {

/// The gradient of the rows, with the levels of x.
struct drop_levels_grad_op : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "drop_levels_grad";

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&) { return x; }

    template <class T, class D>
    static LoDTensor<T, D> run(D, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad) {
        detail::check_same_shape("out_grad", out_grad.value(), x.value());
        return {out_grad.value().share(), x.lod()};
    }
};

/// See drop_levels.
struct drop_levels_op : detail::declared<drop_levels_op> {
    static constexpr bool row_output = false;
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<drop_levels_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x, DropLevelsOptions const& options = {}) {
        spec::dense("drop_levels: x", x);
        auto const dropped = detail::levels_to_drop("drop_levels: levels", options.levels, x.lod_level);
        return spec::with_dims(x, x.dims, x.lod_level - dropped);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D, LoDTensor<T, D> const& x, DropLevelsOptions const& options = {}) {
        return drop_levels(x, options.levels);
    }
};

}  // namespace rowan::inline v0
