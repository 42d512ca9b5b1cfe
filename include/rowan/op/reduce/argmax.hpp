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
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Finds the extrema of lanes.
template <bool greatest, class T>
struct FindExtrema {
    using Number = std::conditional_t<std::is_same_v<sum_t<T>, float>, double, sum_t<T>>;  // counts all elements
    T const* x;
    std::int64_t* out;
    std::size_t n, inner;

    ROWAN_NO_EXEC_CHECK
    template <class V, std::size_t count>
    ROWAN_HD_INLINE void lanes(std::size_t first, std::size_t apart, std::size_t result) const {
        using Position = std::conditional_t<is_register<V>, V, std::int64_t>;
        V best[count];
        Position at[count];
        unrolled<count>([&](std::size_t k) ROWAN_INLINED {
            best[k] = load<V>(x + (first + k * apart));
            at[k] = Position(0);
        });
        for (std::size_t i = 1; i < n; ++i) {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                V const now = load<V>(x + (first + i * inner + k * apart));
                auto const more = more_extreme<greatest>{}(now, best[k]);
                at[k] = choose(more, Position(static_cast<typename lane_of<Position>::type>(i)), at[k]);
                best[k] = choose(more, now, best[k]);
            });
        }
        unrolled<count>([&](std::size_t k) ROWAN_INLINED { store(at[k], out + (result + k * lanes_in<V>)); });
    }
};

/// The same for rows: their extrema, and then where the first one is.
template <bool greatest, class T>
void find_extrema_of_rows(Cpu exec, std::size_t rows, std::size_t n, T const* x, std::int64_t* out) {
    using S = sum_t<T>;
    Buffer<S> extrema(rows);
    fold_rows<S, keep_extreme<greatest>>(exec, rows, n, x, extrema.data());
    for_ranges(exec, rows, n, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin) {
            T const* const row = x + begin * n;
            std::size_t at = 0;
            while (!same_or_nan(load<S>(row + at), extrema[begin])) ++at;
            out[begin] = static_cast<std::int64_t>(at);
        }
    });
}

template <bool greatest, class T, class D>
Tensor<std::int64_t, D> find_extrema(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options) {
    ElementLoops<D>::check(exec, x);
    std::size_t const axis = checked_axis(options.axis, x.dimension());
    std::array<bool, 8> reduced{};
    reduced[axis] = true;
    auto out = new_tensor<std::int64_t>(exec, reduced_shape(x.shape(), reduced, options.keep_dims));
    if (out.size() == 0) return out;
    if (x.size() == 0) no_extremum(shape_text(x.shape()));
    if constexpr (std::same_as<D, Cpu> && RowFolds<D>::template has<sum_t<T>, keep_extreme<greatest>>) {
        std::size_t const n = x.shape(axis);
        if (n >= 32 && product_from(x.shape(), axis + 1) == 1) {
            find_extrema_of_rows<greatest>(exec, out.size(), n, x.data(), out.data());
            return out;
        }
    }
    each_lane_along<typename FindExtrema<greatest, T>::Number>(
        exec, x.shape(), axis,
        FindExtrema<greatest, T>{x.data(), out.data(), x.shape(axis), product_from(x.shape(), axis + 1)});
    return out;
}

}  // namespace detail

template <>
struct detail::function_of<argmax_op> {
    template <class T, class D>
    static Tensor<std::int64_t, D> run(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options) {
        return find_extrema<true>(exec, x, options);
    }
};

template <>
struct detail::function_of<argmin_op> {
    template <class T, class D>
    static Tensor<std::int64_t, D> run(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options) {
        return find_extrema<false>(exec, x, options);
    }
};

/// See argmax and argmin.
template <class Op>
struct arg_extreme_op : detail::declared<Op> {
    static constexpr ArgmaxOptions normal(VarSpec const& x, ArgmaxOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }

    static constexpr bool row_wise(ArgmaxOptions const& options) { return options.axis > 0; }
    static constexpr bool row_output(ArgmaxOptions const& options) { return options.axis > 0; }

    static constexpr VarSpec infer(VarSpec const& x, ArgmaxOptions const& options = {}) {
        spec::dense(detail::joined_name<detail::declared<Op>, detail::x_suffix>::value.data(), x);
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
        return detail::run_of<Op, Tensor<std::int64_t, D>>(exec, x, options);
    }
};

struct argmax_op : arg_extreme_op<argmax_op> {};  ///< See argmax.
struct argmin_op : arg_extreme_op<argmin_op> {};  ///< See argmin.

}  // namespace rowan::inline v0
