// rowan/op/reduce/argmax.hpp: argmax and argmin, the position of the greatest or smallest element along an axis.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_folds.hpp>
#include <rowan/op/detail/axis_lanes.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// The axis of argmax and argmin.
struct ArgmaxOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool keep_dims = false;  ///< whether the result has a dim of 1 for the axis
    ROWAN_OPTIONS(ArgmaxOptions, axis, keep_dims)
};

namespace detail {

/// Finds the extrema of lanes.
template <bool greatest, class T>
struct FindExtrema {
    T const* x;
    std::int64_t* out;
    std::size_t n, inner;

    ROWAN_NO_EXEC_CHECK
    template <std::size_t N>
    ROWAN_HD void lanes(std::size_t first, std::size_t result) const {
        sum_t<T> best[N];
        std::size_t at[N] = {};
        for (std::size_t e = 0; e < N; ++e) best[e] = load<sum_t<T>>(x + (first + e));
        for (std::size_t i = 1; i < n; ++i) {
            for (std::size_t e = 0; e < N; ++e) {
                auto const now = load<sum_t<T>>(x + (first + i * inner + e));
                if (!more_extreme<greatest>{}(now, best[e])) continue;
                best[e] = now;
                at[e] = i;
            }
        }
        for (std::size_t e = 0; e < N; ++e) out[result + e] = static_cast<std::int64_t>(at[e]);
    }
};

template <bool greatest, class T, class D>
Tensor<std::int64_t, D> find_extrema(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options) {
    ElementLoops<D>::check(exec, x);
    std::size_t const axis = checked_axis(options.axis, x.dimension());
    std::array<bool, 8> reduced{};
    reduced[axis] = true;
    auto out = new_tensor<std::int64_t>(exec, reduced_shape(x.shape(), reduced, options.keep_dims));
    if (out.size() == 0) return out;
    if (x.size() == 0) no_extremum(shape_text(x.shape()));
    each_lane_along(exec, x.shape(), axis,
                    FindExtrema<greatest, T>{x.data(), out.data(), x.shape(axis), product_from(x.shape(), axis + 1)});
    return out;
}

template <bool greatest>
struct argmax_name {
    static constexpr std::string_view name = greatest ? "argmax" : "argmin";
};

}  // namespace detail

/// The position along an axis of the greatest element: of the first one of equal ones, of the first NaN if there is one.
///     argmax([[1 7 7] [4 2 3]])   ->   [1 0]
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it
/// errors   IndexError if the axis is not in [-rank, rank); ShapeError if there is a result of no elements
/// cost     one read of x; a thread reads whole lanes
template <class T, device D>
Tensor<std::int64_t, D> argmax(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options = {}) {
    return detail::find_extrema<true>(exec, x, options);
}

/// The position along an axis of the smallest element, as argmax.
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it
/// errors   IndexError if the axis is not in [-rank, rank); ShapeError if there is a result of no elements
/// cost     one read of x; a thread reads whole lanes
template <class T, device D>
Tensor<std::int64_t, D> argmin(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options = {}) {
    return detail::find_extrema<false>(exec, x, options);
}

template <class T, class Device>
Tensor<std::int64_t, Device> argmax(Tensor<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return argmax(x.device(), x, options);
}
template <class T, class Device>
Tensor<std::int64_t, Device> argmin(Tensor<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return argmin(x.device(), x, options);
}

/// See argmax and argmin.
template <bool greatest>
struct arg_extreme_op : detail::builtin_op<arg_extreme_op<greatest>, slots<slot::x>, slots<slot::out>, ArgmaxOptions> {
    static constexpr std::string_view name = detail::argmax_name<greatest>::name;
    static constexpr std::string_view brief = greatest ? "The positions of the greatest elements along an axis."
                                                       : "The positions of the smallest elements along an axis.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr ArgmaxOptions normal(VarSpec const& x, ArgmaxOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }

    static constexpr bool row_wise(ArgmaxOptions const& options) { return options.axis > 0; }
    static constexpr bool row_output(ArgmaxOptions const& options) { return options.axis > 0; }

    static constexpr VarSpec infer(VarSpec const& x, ArgmaxOptions const& options = {}) {
        spec::dense(detail::joined_name<detail::argmax_name<greatest>, detail::x_suffix>::value.data(), x);
        std::size_t const axis = detail::checked_axis(options.axis, x.dims.size());
        std::array<bool, 8> reduced{};
        reduced[axis] = true;
        return {.type = VarType::LOD_TENSOR,
                .dtype = rowan::dtype<std::int64_t>::wire,
                .dims = detail::reduced_shape(x.dims, reduced, options.keep_dims),
                .lod_level = axis == 0 ? 0 : x.lod_level};
    }

    template <class T, class D>
    static Tensor<std::int64_t, D> run(D exec, Tensor<T, D> const& x, ArgmaxOptions const& options = {}) {
        return detail::find_extrema<greatest>(exec, x, options);
    }
};

using argmax_op = arg_extreme_op<true>;   ///< See argmax.
using argmin_op = arg_extreme_op<false>;  ///< See argmin.

}  // namespace rowan::inline v0
