// rowan/op/detail/running.hpp: running sums and products along an axis.
#pragma once

#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_lanes.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/declared.hpp>

namespace rowan::inline v0::detail {

/// What running sums and products of elements of T are kept in: double for floats and 16-bit elements.
template <class T>
using running_t = std::conditional_t<std::is_same_v<sum_t<T>, float>, double, sum_t<T>>;

/// Folds the elements of lanes in order, and stores what they are folded to up to each.
template <class Fold, class T>
struct RunningLanes {
    T const* x;
    T* out;
    std::size_t n, inner;
    bool exclusive, reverse;

    ROWAN_NO_EXEC_CHECK
    template <class V, std::size_t count>
    ROWAN_HD_INLINE void lanes(std::size_t first, std::size_t apart, std::size_t) const {
        auto const step = reverse ? -static_cast<std::ptrdiff_t>(inner) : static_cast<std::ptrdiff_t>(inner);
        T const* from = x + (first + (reverse ? (n - 1) * inner : 0));
        T* to = out + (from - x);
        if (exclusive) {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED { store(constant<V>(Fold::start), to + k * apart); });
            if (n == 1) return;
            to += step;
        }
        V kept[count];
        unrolled<count>([&](std::size_t k) ROWAN_INLINED {
            kept[k] = load<V>(from + k * apart);
            store(kept[k], to + k * apart);
        });
        for (std::size_t i = exclusive ? 2 : 1; i < n; ++i) {
            from += step;
            to += step;
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                kept[k] = Fold::fold(kept[k], load<V>(from + k * apart));
                store(kept[k], to + k * apart);
            });
        }
    }
};

template <class Fold, class T, class D, class Options>
Tensor<T, D> running(D const& exec, Tensor<T, D> const& x, Options const& options) {
    ElementLoops<D>::check(exec, x);
    std::size_t const axis = checked_axis(options.axis, x.dimension());
    auto out = new_tensor<T>(exec, x.shape());
    if (x.size() == 0) return out;
    each_lane_along<running_t<T>>(
        exec, x.shape(), axis,
        RunningLanes<Fold, T>{x.data(), out.data(), x.shape(axis), product_from(x.shape(), axis + 1), options.exclusive,
                              options.reverse});
    return out;
}

/// The base of the operators.
template <class Op>
struct running_op : declared<Op> {
    using Options = typename declared<Op>::attributes;
    static constexpr Options normal(VarSpec const& x, Options const& options) {
        return axes_from_first(x.dims.size(), options);
    }
    static constexpr bool row_wise(Options const& options) { return options.axis > 0; }
    static constexpr VarSpec infer(VarSpec const& x, Options const& options = {}) {
        spec::dense(joined_name<Op, x_suffix>::value.data(), x);
        checked_axis(options.axis, x.dims.size());
        return x;
    }
};

}  // namespace rowan::inline v0::detail
