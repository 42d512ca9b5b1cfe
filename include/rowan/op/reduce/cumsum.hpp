// rowan/op/reduce/cumsum.hpp: cumsum, the running sums along an axis.
#pragma once

#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_lanes.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// The settings of cumsum.
struct CumsumOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool exclusive = false;  ///< whether the element itself is left out of its sum
    bool reverse = false;    ///< whether to sum from the end
    ROWAN_OPTIONS(CumsumOptions, axis, exclusive, reverse)
};

namespace detail {

/// The running sums of lanes; those of floats are kept in double, as a sum of many floats no longer grows.
template <class T>
struct SumLanes {
    T const* x;
    T* out;
    std::size_t n, inner;
    bool exclusive, reverse;

    ROWAN_NO_EXEC_CHECK
    template <std::size_t N>
    ROWAN_HD void lanes(std::size_t first, std::size_t) const {
        using S = sum_t<T>;
        using Wide = std::conditional_t<std::is_same_v<S, float>, double, S>;
        Wide sums[N];
        for (std::size_t e = 0; e < N; ++e) sums[e] = constant<Wide>(0.0);
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t const at = first + (reverse ? n - 1 - i : i) * inner;
            for (std::size_t e = 0; e < N; ++e) {
                Wide const more(load<S>(x + (at + e))), sum = i == 0 ? more : plus(sums[e], more);
                store(static_cast<S>(exclusive ? sums[e] : sum), out + (at + e));
                sums[e] = sum;
            }
        }
    }
};

}  // namespace detail

/// The running sums along an axis: each element becomes the sum of all elements up to it.
///     cumsum([1 2 3])                                           ->   [1 3 6]
///     cumsum([1 2 3], {.exclusive = true})                      ->   [0 1 3]
///     cumsum([1 2 3], {.exclusive = true, .reverse = true})     ->   [5 3 0]
/// Sums are formed in order: of floats and 16-bit elements in double, of other types in dtype<T>::sum. Each is rounded
/// to T once. So a sum of n floats has an error of at most half a last bit and n · 2^-53 · Σ|x|.
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     one read of x and one write of the result; a thread sums whole lanes
template <class T, device D>
Tensor<T, D> cumsum(D const& exec, Tensor<T, D> const& x, CumsumOptions const& options = {}) {
    detail::ElementLoops<D>::check(exec, x);
    std::size_t const axis = detail::checked_axis(options.axis, x.dimension());
    auto out = detail::new_tensor<T>(exec, x.shape());
    if (x.size() == 0) return out;
    detail::each_lane_along(
        exec, x.shape(), axis,
        detail::SumLanes<T>{x.data(), out.data(), x.shape(axis), detail::product_from(x.shape(), axis + 1),
                            options.exclusive, options.reverse});
    return out;
}

template <class T = void, class X>  // as many parameters as xtensor's
requires detail::tensor_argument<X>
auto cumsum(X&& x) { return cumsum(x.device(), x, CumsumOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto cumsum(X&& x, CumsumOptions options) { return cumsum(x.device(), x, options); }

/// See cumsum.
struct cumsum_op : detail::builtin_op<cumsum_op, slots<slot::x>, slots<slot::out>, CumsumOptions> {
    static constexpr std::string_view name = "cumsum", brief = "Running sums along an axis.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr CumsumOptions normal(VarSpec const& x, CumsumOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }
    using grad = gradient<cumsum_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr bool row_wise(CumsumOptions const& options) { return options.axis > 0; }

    static constexpr VarSpec infer(VarSpec const& x, CumsumOptions const& options = {}) {
        spec::dense("cumsum: x", x);
        detail::checked_axis(options.axis, x.dims.size());
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, CumsumOptions const& options = {}) {
        return cumsum(exec, x, options);
    }

    /// The gradient of x: the running sums of that of the result from the other end.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad, CumsumOptions options = {}) {
        options.reverse = !options.reverse;
        return cumsum(exec, out_grad, options);
    }
};

}  // namespace rowan::inline v0
