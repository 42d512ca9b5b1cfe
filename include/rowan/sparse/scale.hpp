// rowan/sparse/scale.hpp: scale, the product of a gradient and a number.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <concepts>
#include <utility>

namespace rowan::inline v0 {

/// A factor for values of `T`: a number, for integer types an integer.
template <class T, class F>
concept factor_for = std::integral<F> ||(std::floating_point<F> && !std::integral<detail::sum_t<T>>);

namespace detail {

template <class T, class F>
constexpr void check_factor() {
    static_assert(factor_for<T, F>,
                  "rowan::scale: the factor must be a number, and an integer where the elements are integers");
}

/// x * factor
template <class F>
struct multiply_by {
    F factor;

    ROWAN_FORMULA V operator()(V const& x) const {
        if constexpr (std::integral<V>) {
            return product(x, static_cast<V>(factor));
        } else {
            return product(x, constant<V>(static_cast<double>(factor)));
        }
    }
};

}  // namespace detail

/// `g` with all elements multiplied by `factor`, computed in dtype<T>::sum. The rows are those of `g`.
/// shapes   g -> the same height, rows and row shape
/// errors   ShapeError if g.value() does not have one row for each row of g; a non-finite factor is not an error
/// cost     O(n * width)
template <class T, class F, device D>
SelectedRows<T, D> scale(D const& exec, SelectedRows<T, D> const& g, F factor) {
    using Loops = detail::ElementLoops<D>;
    using Access = detail::SelectedRowsAccess;
    detail::check_factor<T, F>();
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    Loops::check(exec, g.rows(), g.value());
    auto value = detail::new_tensor<T>(exec, g.value().shape());
    Loops::template zip<detail::sum_t<T>>(exec, value.size(), detail::multiply_by<F>{factor}, value.data(),
                                          g.value().data());
    return Access::adopt(g.height(), Loops::copy(exec, Access::rows(g)), std::move(value), g.merged());
}

template <class T, class Device, class F>
SelectedRows<T, Device> scale(SelectedRows<T, Device> const& g, F factor) {
    return scale(g.device(), g, factor);
}

}  // namespace rowan::inline v0
