// rowan/core/detail/lend.hpp: contiguous memory of other libraries' containers, for Tensor::borrow.
#pragma once

#include <rowan/core/detail/checked.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// A container or view of xtensor whose elements are in memory.
template <class R>
concept lends_strided = requires(R& r) {
    r.data() + r.data_offset();
    r.strides();
    r.shape();
};
/// The same, or a contiguous range.
template <class R>
concept lends = lends_strided<R> || requires(R& r) {
    std::span(r);
};

template <lends R>
auto* lent_data(R& values) {
    if constexpr (lends_strided<R>) {
        return values.data() + values.data_offset();
    } else {
        return std::data(values);
    }
}

/// `Tensor` for memory of R that may be written, else a const one.
template <class Tensor, class R>
using Lent = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(lent_data(std::declval<R&>()))>>,
                                Tensor const, Tensor>;

/// errors   ShapeError unless the strides are those of row-major order; `instead` tells what to call then
template <class Shape, class Strides>
void check_row_major(Shape const& shape, Strides const& strides, char const* instead) {
    std::ptrdiff_t compact = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != compact) {
            throw ShapeError({"strides[", i, "]"}, strides[i], {compact, ", as in row-major order: use ", instead});
        }
        compact *= static_cast<std::ptrdiff_t>(shape[i]);
    }
}

/// errors   ShapeError if the elements are not in row-major order, or there are more than max_tensor_rank dims
template <class Shape, class R>
Shape lent_shape(R const& values) {
    if constexpr (!lends_strided<R>) {
        return {std::size(values)};
    } else {
        check_tensor_rank(values.shape().size());
        Shape const shape(values.shape().begin(), values.shape().end());
        if (values.size() != 0) check_row_major(shape, values.strides(), "Tensor<T>(values)");
        return shape;
    }
}

/// The elements at `data`, which `owner` keeps alive; nullptr: the caller does.
template <class T, class Owner>
std::shared_ptr<T> lend(T* data, Owner&& owner) {
    using O = std::remove_cvref_t<Owner>;
    if constexpr (std::is_same_v<O, std::nullptr_t>) {
        return {std::shared_ptr<void>(), data};
    } else if constexpr (requires(O & o) { std::shared_ptr<T>(o, data); }) {
        return {std::forward<Owner>(owner), data};
    } else {
        return {std::make_shared<O>(std::forward<Owner>(owner)), data};
    }
}

/// errors   ShapeError if data is null and there are elements; Error if it is not a multiple of the alignment
void check_lent(void const* data, std::size_t alignment, std::size_t size);

}  // namespace rowan::inline v0::detail

#include <rowan/core/detail/lend_inl.hpp>
