// rowan/core/detail/tensor_members.hpp: the members of Tensor<T>.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/fill.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

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
auto Tensor<T, Cpu>::operator=(Tensor const& other) -> Tensor& {
    if (this->shape() == other.shape()) {
        data_ = other.data_;
    } else {
        Tensor copy(other);
        swap(copy);
    }
    return *this;
}

template <class T>
auto Tensor<T, Cpu>::operator=(Tensor&& other) noexcept -> Tensor& {
    if (this == &other) return *this;
    data_ = std::move(other.data_);
    set_shape(other.shape());
    other.set_shape(detail::no_elements);
    return *this;
}

template <class T>
auto Tensor<T, Cpu>::from_shape(shape_type const& shape) -> Tensor {
    Tensor t;
    t.resize(shape);
    return t;
}

template <class T>
template <detail::numbers_for<T> R>
auto Tensor<T, Cpu>::from_values(shape_type const& shape, R const& values) -> Tensor {
    detail::check_reshaped("from_values", shape, std::ranges::size(values), sizeof(T));
    Tensor t = from_shape(shape);
    T* to = t.data();
    for (std::ranges::range_value_t<R const> const x : values) *to++ = detail::Nested<T>::convert(x);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::full(shape_type const& shape, T value) -> Tensor {
    Tensor t = from_shape(shape);
    detail::fill_elements(t.data(), t.size(), value);
    return t;
}

template <class T>
template <class Owner>
auto Tensor<T, Cpu>::borrow(T* data, shape_type const& shape, Owner&& owner) -> Tensor {
    detail::check_tensor_rank(shape.size());
    std::size_t const size = detail::checked_size("tensor", shape, sizeof(T));
    detail::check_lent(data, alignof(T), size);
    Tensor t;
    t.data_ = detail::Storage<T>::of_others(detail::lend(data, std::forward<Owner>(owner)), size);
    t.set_shape(shape);
    return t;
}

template <class T>
template <detail::lends R, class Owner>
auto Tensor<T, Cpu>::borrow(R&& values, shape_type const& shape, Owner&& owner) -> detail::Lent<Tensor, R> {
    constexpr bool lasts = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;
    static_assert(lasts || std::same_as<Owner, std::nullptr_t>,
                  "rowan::Tensor<T>::borrow: a temporary is the owner of its memory: pass no other owner");
    static_assert(std::same_as<std::remove_cv_t<std::remove_pointer_t<decltype(detail::lent_data(values))>>, T>,
                  "rowan::Tensor<T>::borrow: the elements must be of type T: use Tensor<T>(values), which converts");
    detail::check_reshaped("borrow", shape, detail::product_from(detail::lent_shape<shape_type>(values), 0), sizeof(T));
    if constexpr (lasts) {
        return borrow(detail::lent_data(values), shape, std::forward<Owner>(owner));
    } else {
        auto const kept = std::make_shared<std::remove_cvref_t<R>>(std::forward<R>(values));
        return borrow(detail::lent_data(*kept), shape, kept);
    }
}

template <class T>
auto Tensor<T, Cpu>::slice(std::size_t begin, std::size_t end) const -> Tensor {
    return alias(begin * row_size(), (end - begin) * row_size(), detail::slice_shape(this->shape(), begin, end));
}

template <class T>
auto Tensor<T, Cpu>::reshaped(shape_type const& shape) const -> Tensor {
    detail::check_reshaped("reshaped", shape, this->size(), sizeof(T));
    return alias(0, this->size(), shape);
}

template <class T>
template <class Shape>
void Tensor<T, Cpu>::resize(Shape const& shape, bool) {
    detail::check_tensor_rank(shape.size());
    data_.resize(detail::checked_size("tensor", shape, sizeof(T)));  // the last operation that may throw
    set_shape(shape);
}

template <class T>
template <class Shape>
void Tensor<T, Cpu>::set_shape(Shape const& shape) noexcept {
    auto& dims = container::shape_impl();
    dims.resize(shape.size());
    std::copy(shape.begin(), shape.end(), dims.begin());
    container::strides_impl().resize(shape.size());
    container::backstrides_impl().resize(shape.size());
    xt::compute_strides<xt::layout_type::row_major>(dims, xt::layout_type::row_major, container::strides_impl(),
                                                    container::backstrides_impl());
}

template <class T>
template <class Shape>
auto Tensor<T, Cpu>::reshape(Shape const& shape) & -> Tensor& {
    detail::check_tensor_rank(shape.size());
    if (std::any_of(shape.begin(), shape.end(), [](auto d) { return std::cmp_less(d, -1); }))
        throw ShapeError("reshape shape", detail::shape_text(shape), "dims of 0 or more, or one -1");
    shape_type dims(shape.begin(), shape.end());
    auto const open = std::find(dims.begin(), dims.end(), std::numeric_limits<std::size_t>::max());
    if (std::signed_integral<typename Shape::value_type> && open != dims.end()) {
        *open = 1;
        std::size_t const rest = detail::checked_size("reshape", dims, sizeof(T));
        *open = rest == 0 ? 0 : this->size() / rest;
    }
    detail::check_reshaped("reshape", dims, this->size(), sizeof(T));
    resize(dims);
    return *this;
}

template <class T>
void Tensor<T, Cpu>::swap(Tensor& other) noexcept {
    shape_type const dims = this->shape();
    set_shape(other.shape());
    other.set_shape(dims);
    std::swap(data_, other.data_);
}

template <class T>
auto Tensor<T, Cpu>::alias(std::size_t begin, std::size_t size, shape_type const& shape) const -> Tensor {
    Tensor t;
    t.data_ = data_.alias(begin, size);
    t.set_shape(shape);
    return t;
}

template <class T>
auto Tensor<T, Cpu>::write(Tensor const& result) -> Tensor& {
    std::copy_n(result.data_.data(), result.size(), data_.data());
    return *this;
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator+=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this + checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator-=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this - checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator*=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this * checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator/=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this / checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator%=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this % checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator&=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this & checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator|=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this | checked_operand(e));
}

template <class T>
template <class E>
auto Tensor<T, Cpu>::operator^=(xt::xexpression<E> const& e) -> Tensor& {
    return write(*this ^ checked_operand(e));
}

template <class T>
template <class E>
E const& Tensor<T, Cpu>::checked_operand(xt::xexpression<E> const& e) const {
    E const& operand = e.derived_cast();
    shape_type const& to = this->shape();
    shape_type from;
    try {
        from = shape_type(operand.shape().begin(), operand.shape().end());
    } catch (xt::broadcast_error const&) {
        throw ShapeError("compound assignment", "an expression of shapes that do not match", "shapes that broadcast");
    }
    bool fits = from.size() <= to.size();
    for (std::size_t i = 1; fits && i <= from.size(); ++i) {
        std::size_t const dim = from[from.size() - i];
        fits = dim == 1 || dim == to[to.size() - i];
    }
    if (!fits)
        throw ShapeError("operand of compound assignment", detail::shape_text(from),
                         {"a shape that broadcasts to ", detail::shape_text(to)});
    return operand;
}

template <class T>
void Tensor<T, Cpu>::too_few(std::size_t indices) const {
    throw ShapeError("operator(): number of indices", indices,
                     {"at least ", this->dimension(), ", the number of dims"});
}

template <class T>
template <std::integral... I>
void Tensor<T, Cpu>::check_index(I... i) const {
    auto const& shape = this->shape();
    if (sizeof...(i) != shape.size()) throw ShapeError("at: number of indices", sizeof...(i), shape.size());
    std::size_t axis = 0;
    auto const check = [&](auto index) {
        if (std::cmp_less(index, 0) || std::cmp_greater_equal(index, shape[axis]))
            throw IndexError("at", axis, index, shape[axis]);
        ++axis;
    };
    (check(i), ...);
}

template <class T>
std::size_t Tensor<T, Cpu>::checked_row(std::size_t i) const {
    std::size_t const rows = detail::checked_rows(this->shape());
    if (i >= rows) throw IndexError("row", i, rows);
    return i;
}

ROWAN_TEMPLATE(class Tensor<float>)
ROWAN_TEMPLATE(void Tensor<float>::resize(Tensor<float>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int64_t>)
ROWAN_TEMPLATE(void Tensor<std::int64_t>::resize(Tensor<std::int64_t>::shape_type const&, bool))

}  // namespace rowan::inline v0
