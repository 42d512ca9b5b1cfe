// rowan/op/reduce/reduce_sum.hpp: reduce_sum, the sums of a tensor's elements along some axes.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The axes of a reduction.
struct ReduceOptions {
    std::vector<std::int64_t> axes{};  ///< in any order; -1 is the last one; empty: all axes
    bool keep_dims = false;            ///< whether the result has dims of 1 for these axes
    ROWAN_OPTIONS(ReduceOptions, axes, keep_dims)
};

namespace detail {

/// The sums along these axes, see reduce_sum.
template <class T, class D>
Tensor<T, D> summed_along(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> axes, bool keep_dims) {
    ElementLoops<D>::check(exec, x);
    auto const reduced = checked_axes(axes, x.dimension());
    auto const shape = reduced_shape(x.shape(), reduced, keep_dims);
    if (x.size() == 0) return Tensor<T, D>::zeros(exec, shape);
    auto out = new_tensor<T>(exec, shape);
    sum_axes(exec, reduction_of(x.shape(), reduced), x.data(), out.data());
    return out;
}

/// The spec of a reduction: the levels of x if axis 0 is kept.
constexpr VarSpec reduced_spec(char const* field, VarSpec const& x, ReduceOptions const& options) {
    spec::dense(field, x);
    auto const reduced = checked_axes(options.axes, x.dims.size());
    return {.type = VarType::LOD_TENSOR,
            .dtype = x.dtype,
            .dims = reduced_shape(x.dims, reduced, options.keep_dims),
            .lod_level = reduced[0] || x.dims.empty() ? 0 : x.lod_level};
}

}  // namespace detail

/// Sums the elements along some axes, by default along all of them.
///
///     reduce_sum([[1 2] [3 4]], {.axes = {0}})                       ->   [4 6]
///     reduce_sum([[1 2] [3 4]], {.axes = {1}, .keep_dims = true})    ->   [[3] [7]]
///     reduce_sum([[1 2] [3 4]])                                      ->   10
///
/// The contributions to each sum, in row-major order, are summed in blocks of 64, the sums of blocks in blocks of 64,
/// and so on, as in merge. They are computed in dtype<T>::sum and narrowed once; the sum of no elements is 0. The bits
/// are the same for any number of threads and on every device.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     one read of x; temporary memory for the sums of blocks: at most 1/32 of the elements of x
template <class T, device D>
Tensor<T, D> reduce_sum(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
    return detail::summed_along(exec, x, options.axes, options.keep_dims);
}

template <class T, class Device>
Tensor<T, Device> reduce_sum(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {
    return reduce_sum(x.device(), x, options);
}

/// The gradient of x: each element gets the gradient of the sum that it is part of.
/// shapes   x [...], out_grad the shape of the result -> the shape of x
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if out_grad does not have the
///          shape of the result
/// cost     one write of the result
template <class T, device D>
Tensor<T, D> reduce_sum_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                             ReduceOptions const& options = {}) {
    detail::ElementLoops<D>::check(exec, x, out_grad);
    auto const reduced = detail::checked_axes(options.axes, x.dimension());
    auto const shape = detail::reduced_shape(x.shape(), reduced, options.keep_dims);
    if (out_grad.shape() != shape)
        throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
    auto out = detail::new_tensor<T>(exec, x.shape());
    if (x.size() != 0) detail::repeat_sums(exec, x.shape(), reduced, out_grad.data(), out.data());
    return out;
}

struct reduce_sum_grad_op : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::x>>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_sum_grad";

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& out_grad, ReduceOptions const& options = {}) {
        spec::dense("reduce_sum_grad: x", x);
        spec::dense("reduce_sum_grad: out@GRAD", out_grad);
        spec::same_dtype("reduce_sum_grad: out@GRAD", out_grad, x);
        auto const reduced = detail::checked_axes(options.axes, x.dims.size());
        VarSpec const sums{.type = VarType::LOD_TENSOR,
                           .dtype = x.dtype,
                           .dims = detail::reduced_shape(x.dims, reduced, options.keep_dims),
                           .lod_level = 0};
        spec::same_dims("reduce_sum_grad: out@GRAD", out_grad, sums);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                            ReduceOptions const& options = {}) {
        return reduce_sum_grad(exec, x, out_grad, options);
    }
};

/// See reduce_sum.
struct reduce_sum_op : detail::builtin_op<slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_sum";
    static constexpr std::string_view brief =
        "The sums of the elements along these axes, by default along all of them.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr ReduceOptions normal(VarSpec const& x, ReduceOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }
    using grad = grad_rule<reduce_sum_grad_op>;

    /// Negative axes may be the first one: their number depends on the rank.
    static constexpr bool row_wise(ReduceOptions const& options) {
        return !options.axes.empty() && std::ranges::all_of(options.axes, [](std::int64_t axis) { return axis > 0; });
    }
    static constexpr bool row_output(ReduceOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, ReduceOptions const& options = {}) {
        return detail::reduced_spec("reduce_sum: x", x, options);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
        return reduce_sum(exec, x, options);
    }
};

/// The gradient of a value that was added to every row, such as a bias: the sum of the rows of out_grad.
struct bias_grad_op : operator_of<slots<grad_of<slot::out>>, slots<grad_of<slot::b>>> {
    static constexpr std::string_view name = "bias_grad";
    static constexpr unsigned row_inputs = 0b1;
    static constexpr bool sums_rows = true;

    static constexpr VarSpec infer(VarSpec const& out_grad) { return reduce_sum_op::infer(out_grad, {{0}}); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out_grad) {
        constexpr std::array<std::int64_t, 1> rows{0};  // ReduceOptions would allocate
        return detail::summed_along(exec, out_grad, rows, false);
    }
};

}  // namespace rowan::inline v0
