// rowan/core/tensor.hpp: Tensor<T>, a row-major array of rank 0 to 8, and an xtensor container.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/nested.hpp>
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/detail/xtensor.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace xt {

template <class T>
struct xcontainer_inner_types<rowan::Tensor<T, rowan::Cpu>> {
    using storage_type = rowan::detail::Storage<T>;
    using reference = T&;
    using const_reference = T const&;
    using size_type = std::size_t;
    using shape_type = svector<std::size_t, 8>;  // inline storage for max_rank dims
    using strides_type = get_strides_t<shape_type>;
    using backstrides_type = strides_type;
    using inner_shape_type = shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = strides_type;
    using temporary_type = rowan::Tensor<T, rowan::Cpu>;
    static constexpr layout_type layout = layout_type::row_major;
};

template <class T>
struct xiterable_inner_types<rowan::Tensor<T, rowan::Cpu>> : xcontainer_iterable_types<rowan::Tensor<T, rowan::Cpu>> {};

}  // namespace xt

namespace rowan::inline v0 {

/// A row-major array of `T`, of rank 0 to max_rank. It can be used in xtensor expressions: `t = xt::exp(t) + 1`.
///
/// Copies are deep. `share()`, `slice()` and `reshaped()` return aliases, which share the elements and keep them alive.
/// `=` replaces the contents and never writes through an alias; compound assignment, element access and
/// `xt::noalias(t) = …` write in place and are visible in all aliases. A default-constructed or moved-from tensor has
/// shape [0]. As in xtensor, `t(i, j)` is not bounds-checked; `at(i, j)`, `row` and `slice` are.
template <class T>
class Tensor<T, Cpu> : public xt::xstrided_container<Tensor<T, Cpu>>, public xt::xcontainer_semantic<Tensor<T, Cpu>> {
    static_assert(detail::is_element<T>(), "rowan::Tensor<T>: specialize rowan::dtype<T> for this element type");

    using container = xt::xstrided_container<Tensor>;
    using semantic = xt::xcontainer_semantic<Tensor>;
    // Scalars for which xtensor's in-place operators do not compile, because the result does not convert back to T.
    template <class S>
    static constexpr bool own_scalar = !std::is_arithmetic_v<T> && !xt::is_xexpression<S>::value;

public:
    using shape_type = typename container::shape_type;
    static constexpr std::size_t max_rank = 8;  ///< shapes are stored inline, so that a move does not allocate or throw

    Tensor() { resize(shape_type{0}); }  ///< shape [0]

    /// A tensor from nested braced lists: `{1, 2}` has rank 1, `{{1, 2}, {3, 4}}` and `{{1}, {2}}` have rank 2.
    /// errors   ShapeError if lists of the same depth differ in length or the depth exceeds max_rank; ValueError if T
    ///          is an integer type and a number is not an integer or not in its range
    /// cost     one allocation and one write of the elements
    Tensor(std::initializer_list<detail::Nested<T>> list);

    /// Evaluates an xtensor expression.
    /// errors   as from_shape; exceptions of the expression
    /// cost     the cost of the expression, on one thread
    template <class E>
    Tensor(xt::xexpression<E> const& e);

    /// A tensor with uninitialised elements. The shape [] has one element.
    /// errors   ShapeError if the size in bytes exceeds 2^63 - 1 or there are more than max_rank dims; std::bad_alloc
    /// cost     one allocation
    static Tensor from_shape(shape_type const& shape);
    /// A tensor with all elements equal to `value`.
    /// errors   as from_shape
    /// cost     one allocation and one write of the elements
    static Tensor full(shape_type const& shape, T value);
    /// The same with zeros.
    /// errors   as full
    /// cost     as full
    static Tensor zeros(shape_type const& shape) { return full(shape, dtype<T>::narrow(typename dtype<T>::sum{})); }

    Tensor(Tensor const&) = default;
    Tensor(Tensor&& other) noexcept : Tensor() { swap(other); }
    Tensor& operator=(Tensor const& other) {
        if (this->shape() == other.shape()) {
            data_ = other.data_;
        } else {
            Tensor copy(other);
            swap(copy);
        }
        return *this;
    }
    Tensor& operator=(Tensor&& other) noexcept {
        Tensor moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~Tensor() = default;

    template <class E>
    Tensor& operator=(xt::xexpression<E> const& e) {
        return *this = Tensor(e);
    }

    /// An alias with the current shape. Constness is shallow, as with std::span.
    Tensor share() const { return alias(0, this->size(), this->shape()); }

    /// An alias of rows [begin, end).
    /// errors   IndexError unless begin <= end <= shape(0); ShapeError for rank 0
    /// cost     O(1), no allocation
    Tensor slice(std::size_t begin, std::size_t end) const;

    /// An alias with another shape.
    /// errors   ShapeError if the number of elements differs or there are more than max_rank dims
    /// cost     O(1), no allocation
    Tensor reshaped(shape_type const& shape) const;

    /// Changes the shape. The contents are lost if the size changes. Memory is reused if it suffices and has no alias.
    /// errors   as from_shape; the tensor is unchanged on error
    /// cost     at most one allocation; elements are not initialised
    template <class Shape = shape_type>
    void resize(Shape const& shape, bool = false);

    /// Changes the shape in place, keeping the elements; one dim may be -1 and is inferred from the others.
    /// errors   ShapeError if the number of elements differs or there are more than max_rank dims
    /// cost     O(1), no allocation
    template <class Shape = std::initializer_list<std::ptrdiff_t>>
    Tensor& reshape(Shape const& shape);

    /// The number of elements per row: the product of all dims except the first.
    std::size_t row_size() const noexcept { return detail::product_from(this->shape(), 1); }

    /// The elements of row `i`.
    /// errors   IndexError unless i < shape(0); ShapeError for rank 0
    /// cost     O(1)
    std::span<T> row(std::size_t i) { return {data_.data() + checked_row(i) * row_size(), row_size()}; }
    std::span<T const> row(std::size_t i) const { return {data_.data() + checked_row(i) * row_size(), row_size()}; }

    void swap(Tensor& other) noexcept;

    // These write in place; xtensor's operators would evaluate into new memory, and aliases would not see the result.
    // errors   ShapeError if the result would have another shape
    using semantic::operator+=, semantic::operator-=, semantic::operator*=, semantic::operator/=, semantic::operator%=;
    using semantic::operator&=, semantic::operator|=, semantic::operator^=;
    template <class S>
    requires own_scalar<S> Tensor& operator+=(S const& x) { return write(*this + x); }
    template <class S>
    requires own_scalar<S> Tensor& operator-=(S const& x) { return write(*this - x); }
    template <class S>
    requires own_scalar<S> Tensor& operator*=(S const& x) { return write(*this * x); }
    template <class S>
    requires own_scalar<S> Tensor& operator/=(S const& x) { return write(*this / x); }
    template <class E>
    Tensor& operator+=(xt::xexpression<E> const& e) {
        return write(*this + e.derived_cast());
    }
    template <class E>
    Tensor& operator-=(xt::xexpression<E> const& e) {
        return write(*this - e.derived_cast());
    }
    template <class E>
    Tensor& operator*=(xt::xexpression<E> const& e) {
        return write(*this * e.derived_cast());
    }
    template <class E>
    Tensor& operator/=(xt::xexpression<E> const& e) {
        return write(*this / e.derived_cast());
    }
    template <class E>
    Tensor& operator%=(xt::xexpression<E> const& e) {
        return write(*this % e.derived_cast());
    }
    template <class E>
    Tensor& operator&=(xt::xexpression<E> const& e) {
        return write(*this & e.derived_cast());
    }
    template <class E>
    Tensor& operator|=(xt::xexpression<E> const& e) {
        return write(*this | e.derived_cast());
    }
    template <class E>
    Tensor& operator^=(xt::xexpression<E> const& e) {
        return write(*this ^ e.derived_cast());
    }

private:
    friend class xt::xcontainer<Tensor>;
    detail::Storage<T>& storage_impl() noexcept { return data_; }
    detail::Storage<T> const& storage_impl() const noexcept { return data_; }

    Tensor alias(std::size_t begin, std::size_t size, shape_type const& shape) const;

    Tensor& write(Tensor const& result);

    static void check_rank(std::size_t rank);
    std::size_t checked_rows() const;
    std::size_t checked_row(std::size_t i) const;

    detail::Storage<T> data_;
};

template <class T>
Tensor<T, Cpu>::Tensor(std::initializer_list<detail::Nested<T>> list) {
    shape_type shape;
    detail::Nested<T>::shape_of(list, shape);
    resize(shape);
    detail::Nested<T>::copy(list, shape, 0, data_.data());
}

template <class T>
template <class E>
Tensor<T, Cpu>::Tensor(xt::xexpression<E> const& e) {
    if constexpr (std::convertible_to<typename E::value_type, T>) {
        semantic::assign(e);
    } else {  // no implicit conversion, e.g. float to bfloat16: use narrow()
        E const& values = e.derived_cast();
        resize(values.shape());
        std::transform(values.begin(), values.end(), data_.begin(),
                       [](auto const& x) { return dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x)); });
    }
}

template <class T>
auto Tensor<T, Cpu>::from_shape(shape_type const& shape) -> Tensor {
    Tensor t;
    t.resize(shape);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::full(shape_type const& shape, T value) -> Tensor {
    Tensor t = from_shape(shape);
    std::fill(t.data_.begin(), t.data_.end(), value);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::slice(std::size_t begin, std::size_t end) const -> Tensor {
    detail::check_range("slice", begin, end, checked_rows());
    shape_type shape = this->shape();
    shape[0] = end - begin;
    return alias(begin * row_size(), (end - begin) * row_size(), shape);
}

template <class T>
auto Tensor<T, Cpu>::reshaped(shape_type const& shape) const -> Tensor {
    check_rank(shape.size());
    if (detail::checked_size("reshaped", shape, sizeof(T)) != this->size()) {
        throw ShapeError("reshaped shape", detail::shape_text(shape), std::to_string(this->size()) + " elements");
    }
    return alias(0, this->size(), shape);
}

template <class T>
template <class Shape>
void Tensor<T, Cpu>::resize(Shape const& shape, bool) {
    check_rank(shape.size());
    shape_type dims(shape.begin(), shape.end());
    std::size_t const size = detail::checked_size("tensor", dims, sizeof(T));
    typename container::strides_type strides(dims.size());
    typename container::backstrides_type backstrides(dims.size());
    xt::compute_strides<xt::layout_type::row_major>(dims, xt::layout_type::row_major, strides, backstrides);
    data_.resize(size);  // the last operation that may throw
    std::swap(container::shape_impl(), dims);
    std::swap(container::strides_impl(), strides);
    std::swap(container::backstrides_impl(), backstrides);
}

template <class T>
template <class Shape>
auto Tensor<T, Cpu>::reshape(Shape const& shape) -> Tensor& {
    shape_type dims(shape.begin(), shape.end());
    auto const open = std::find(dims.begin(), dims.end(), std::numeric_limits<std::size_t>::max());
    if (std::signed_integral<typename Shape::value_type> && open != dims.end()) {
        *open = 1;
        std::size_t const rest = detail::checked_size("reshape", dims, sizeof(T));
        *open = rest == 0 ? 0 : this->size() / rest;
    }
    if (detail::checked_size("reshape", dims, sizeof(T)) != this->size()) {
        throw ShapeError("reshape shape", detail::shape_text(dims), std::to_string(this->size()) + " elements");
    }
    resize(dims);
    return *this;
}

template <class T>
void Tensor<T, Cpu>::swap(Tensor& other) noexcept {
    std::swap(container::shape_impl(), other.container::shape_impl());
    std::swap(container::strides_impl(), other.container::strides_impl());
    std::swap(container::backstrides_impl(), other.container::backstrides_impl());
    std::swap(data_, other.data_);
}

template <class T>
auto Tensor<T, Cpu>::alias(std::size_t begin, std::size_t size, shape_type const& shape) const -> Tensor {
    Tensor t;
    t.data_ = data_.alias(begin, size);
    t.container::resize(shape, true);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::write(Tensor const& result) -> Tensor& {
    if (result.shape() != this->shape()) {
        throw ShapeError("result of compound assignment", detail::shape_text(result.shape()),
                         detail::shape_text(this->shape()));
    }
    std::copy_n(result.data_.data(), result.size(), data_.data());
    return *this;
}

template <class T>
void Tensor<T, Cpu>::check_rank(std::size_t rank) {
    if (rank > max_rank) throw ShapeError("rank", std::to_string(rank), "at most " + std::to_string(max_rank));
}

template <class T>
std::size_t Tensor<T, Cpu>::checked_rows() const {
    if (this->dimension() == 0) throw ShapeError("tensor rank", "0", "at least 1");
    return this->shape()[0];
}

template <class T>
std::size_t Tensor<T, Cpu>::checked_row(std::size_t i) const {
    std::size_t const rows = checked_rows();
    if (i >= rows) throw IndexError("row", 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(rows));
    return i;
}

ROWAN_TEMPLATE(class Tensor<float>)
ROWAN_TEMPLATE(void Tensor<float>::resize(Tensor<float>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<double>)
ROWAN_TEMPLATE(void Tensor<double>::resize(Tensor<double>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int32_t>)
ROWAN_TEMPLATE(void Tensor<std::int32_t>::resize(Tensor<std::int32_t>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int64_t>)
ROWAN_TEMPLATE(void Tensor<std::int64_t>::resize(Tensor<std::int64_t>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<bool>)
ROWAN_TEMPLATE(void Tensor<bool>::resize(Tensor<bool>::shape_type const&, bool))

}  // namespace rowan::inline v0
