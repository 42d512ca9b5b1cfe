// rowan/op/shape/reshape.hpp: the operators reshape, squeeze and unsqueeze.
#pragma once

#include <rowan/op/detail/axis.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/aliases.hpp>
#include <rowan/op/shape/declared.hpp>

#include <algorithm>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Whether the result has the rows of x.
constexpr bool keeps_rows(Dims const& x, Dims const& result, std::vector<std::int64_t> const& shape) {
    if (x.empty() || result.empty()) return false;
    return shape[0] == 0 || (result.product_from(1) != UNK && result.product_from(1) == x.product_from(1));
}

/// For operators whose axes are positions of dims, whether rows remain: no axis can be the first one.
inline bool spares_rows(std::vector<std::int64_t> const& axes) {
    return std::ranges::all_of(axes, [](std::int64_t axis) { return axis > 0; });
}

}  // namespace detail

/// The gradient of x: that of the result with the shape of x, an alias.
struct reshape_grad_op : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "reshape_grad";
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&) { return x; }

    /// errors   ShapeError if out_grad does not have as many elements as x
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, Tensor<T, D> const& out_grad) {
        return out_grad.reshaped(x.shape());
    }
};

/// See reshape.
struct reshape_op : detail::declared<reshape_op> {
    /// A first dim of -1 is 0 where it is that of x, which a recurrent net can tell from another one.
    static constexpr ReshapeOptions normal(VarSpec const& x, ReshapeOptions options) {
        auto& shape = options.shape;
        Dims const dims = detail::reshaped_dims(x.dims, shape);
        if (!shape.empty() && shape[0] == -1 && detail::keeps_rows(x.dims, dims, shape)) shape[0] = 0;
        return options;
    }
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<reshape_grad_op>;

    static constexpr bool row_wise(ReshapeOptions const& options) {
        return !options.shape.empty() && options.shape[0] == 0;
    }
    static constexpr bool row_output(ReshapeOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, ReshapeOptions const& options = {}) {
        spec::dense("reshape: x", x);
        Dims const dims = detail::reshaped_dims(x.dims, options.shape);
        return spec::with_dims(x, dims, detail::keeps_rows(x.dims, dims, options.shape) ? x.lod_level : 0);
    }

    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, ReshapeOptions const& options = {}) {
        return reshape(x, options.shape);
    }
};

/// See squeeze; without axes, the shape remains.
struct squeeze_op : detail::declared<squeeze_op> {
    /// Without axes, those of the dims that are known to be 1.
    static constexpr SqueezeOptions normal(VarSpec const& x, SqueezeOptions options) {
        bool const all = options.axes.empty();
        for (std::size_t i = 0; all && i < x.dims.size(); ++i) {
            if (x.dims[i] == 1) options.axes.push_back(static_cast<std::int64_t>(i));
        }
        return detail::axes_from_first(x.dims.size(), std::move(options));
    }
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<reshape_grad_op>;

    static bool row_wise(SqueezeOptions const& options) { return detail::spares_rows(options.axes); }
    static bool row_output(SqueezeOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, SqueezeOptions const& options = {}) {
        spec::dense("squeeze: x", x);
        auto const at = axes_of(options, x.dims.size());
        return spec::with_dims(x, detail::squeezed_shape(x.dims, at), !at[0] ? x.lod_level : 0);
    }

    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, SqueezeOptions const& options = {}) {
        return x.reshaped(detail::squeezed_shape(x.shape(), axes_of(options, x.dimension())));
    }

private:
    static constexpr std::array<bool, 8> axes_of(SqueezeOptions const& options, std::size_t rank) {
        if (options.axes.empty()) return {};
        return detail::checked_axes(options.axes, rank);
    }
};

/// See unsqueeze.
struct unsqueeze_op : detail::declared<unsqueeze_op> {
    static constexpr SqueezeOptions normal(VarSpec const& x, SqueezeOptions const& options) {
        return detail::axes_from_first(x.dims.size() + options.axes.size(), options);
    }
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<reshape_grad_op>;

    static bool row_wise(SqueezeOptions const& options) { return detail::spares_rows(options.axes); }
    static bool row_output(SqueezeOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, SqueezeOptions const& options = {}) {
        spec::dense("unsqueeze: x", x);
        Dims const dims = detail::unsqueezed_shape(x.dims, options.axes);
        auto const rank = static_cast<std::int64_t>(dims.size());
        bool const before_rows =
            std::ranges::any_of(options.axes, [&](std::int64_t axis) { return axis == 0 || axis == -rank; });
        return spec::with_dims(x, dims, !before_rows ? x.lod_level : 0);
    }

    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, SqueezeOptions const& options = {}) {
        return unsqueeze(x, options.axes);
    }
};

}  // namespace rowan::inline v0
