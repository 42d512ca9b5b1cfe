// rowan/core/tensor.hpp: Tensor<T>, a row-major array of rank 0 to 8, and an xtensor container.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/kept_span.hpp>
#include <rowan/core/detail/lend.hpp>
#include <rowan/core/detail/nested.hpp>
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/detail/xtensor.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>

namespace xt {

template <class T>
struct xcontainer_inner_types<rowan::Tensor<T, rowan::Cpu>> {
    using storage_type = rowan::detail::Storage<T>;
    using reference = T&;
    using const_reference = T const&;
    using size_type = std::size_t;
    using shape_type = svector<std::size_t, rowan::detail::max_tensor_rank>;  // stored inline
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

namespace detail {

inline constexpr std::array<std::size_t, 1> no_elements{0};  // the shape [0]

}  // namespace detail

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
    static constexpr std::size_t max_rank = detail::max_tensor_rank;  ///< the highest rank: 8

    Tensor() noexcept { set_shape(detail::no_elements); }  ///< shape [0]

    /// A tensor from nested braced lists: `{1, 2}` has rank 1, `{{1, 2}, {3, 4}}` and `{{1}, {2}}` have rank 2.
    /// errors   ShapeError if lists of the same depth differ in length or the depth exceeds max_rank; ValueError if T
    ///          is an integer type and a number is not an integer or not in its range
    /// cost     one allocation and one write of the elements
    Tensor(std::initializer_list<detail::Nested<T>> list);

    /// A copy of a vector, an array or a span of numbers, of rank 1. `from_values` takes a shape too, `borrow` copies
    /// nothing.
    /// errors   ValueError as for a braced list
    /// cost     one allocation and one write of the elements
    template <detail::numbers_for<T> R>
    explicit Tensor(R const& values) : Tensor(from_values({std::ranges::size(values)}, values)) {}
    /// A copy of a vector, an array or a span with a shape, as from_values: `Tensor<float>({rows, width}, numbers)`.
    template <detail::numbers_for<T> R>
    Tensor(shape_type const& shape, R const& values) : Tensor(from_values(shape, values)) {}

    // Mistakes, which do not compile.
    template <detail::lists_of_lists R>
    explicit Tensor(R const&) {
        static_assert(!detail::lists_of_lists<R>,
                      "rowan::Tensor: the numbers are in one list: Tensor<T>::from_values({rows, width}, numbers); for "
                      "lists of several lengths LoDTensor<T>::from_nested(lists)");
    }
    template <std::integral... I>
    requires(sizeof...(I) > 1) explicit Tensor(I...) {
        static_assert(sizeof...(I) == 0, "rowan::Tensor: a shape is in braces: Tensor<T>::zeros({3, 4})");
    }

    /// Evaluates an xtensor expression.
    /// errors   as from_shape; exceptions of the expression
    /// cost     the cost of the expression, on one thread
    template <class E>
    Tensor(xt::xexpression<E> const& e);

    /// A tensor with uninitialised elements. The shape [] has one element.
    /// errors   ShapeError if the size in bytes exceeds 2^63 - 1 or there are more than max_rank dims; std::bad_alloc
    /// cost     one allocation
    static Tensor from_shape(shape_type const& shape);
    static Tensor from_shape(Cpu const&, shape_type const& shape) { return from_shape(shape); }
    /// A tensor of this shape with the numbers of a vector, an array or a span, in row-major order.
    /// errors   as from_shape; ShapeError if the shape has another number of elements; ValueError as for a braced list
    /// cost     one allocation and one write of the elements
    template <detail::numbers_for<T> R>
    static Tensor from_values(shape_type const& shape, R const& values);
    /// A tensor with all elements equal to `value`.
    /// errors   as from_shape
    /// cost     one allocation and one write of the elements
    static Tensor full(shape_type const& shape, T value);
    static Tensor full(Cpu const&, shape_type const& shape, T value) { return full(shape, value); }
    /// A tensor with all elements 0.
    /// errors   as full
    /// cost     as full
    static Tensor zeros(shape_type const& shape) { return full(shape, dtype<T>::narrow(typename dtype<T>::sum{})); }
    static Tensor zeros(Cpu const&, shape_type const& shape) { return zeros(shape); }
    template <std::integral... I>
    requires(sizeof...(I) > 0) static Tensor zeros(I... dims) { return Tensor(0, dims...); }  // a mistake too

    /// A tensor of the caller's memory, row-major, without a copy: each sees what the other writes. `=` and `resize`
    /// give the tensor memory of its own. `owner` is any movable object, such as a shared_ptr, that keeps the memory
    /// alive; it is destroyed with the last alias of the tensor.
    /// requires   the memory outlives all aliases, if there is no owner
    /// errors   ShapeError as from_shape, or if data is null and there are elements; Error if data is not aligned for
    ///          T; then the owner is not moved
    /// cost     no copy; one allocation for an owner that is not a shared_ptr
    template <class Owner = std::nullptr_t>
    static Tensor borrow(T* data, shape_type const& shape, Owner&& owner = {});
    /// A tensor of memory that is only read, otherwise as borrow of a T*: keep the result const.
    template <class Owner = std::nullptr_t>
    static Tensor const borrow(T const* data, shape_type const& shape, Owner&& owner = {}) {
        return borrow(const_cast<T*>(data), shape, std::forward<Owner>(owner));
    }

    /// A tensor of the memory of a vector, an array or a span, which give rank 1, or of one of xtensor's containers,
    /// which give their shape. A temporary moves into the tensor and is its owner: `borrow(std::move(values))`.
    /// requires   the memory outlives all aliases, if `values` is not a temporary
    /// errors   ShapeError as from_shape, or if the elements of an xtensor container are not in row-major order
    /// cost     no copy; one allocation for a temporary that is not a span
    template <detail::lends R>
    static detail::Lent<Tensor, R> borrow(R&& values) {
        auto const shape = detail::lent_shape<shape_type>(values);
        return borrow(std::forward<R>(values), shape);
    }
    /// A tensor of a container's memory with another shape, otherwise as borrow of the container.
    /// errors   ShapeError if the number of elements differs, and as borrow of the container
    /// cost     no copy; one allocation for a temporary that is not a span
    template <detail::lends R, class Owner = std::nullptr_t>
    static detail::Lent<Tensor, R> borrow(R&& values, shape_type const& shape, Owner&& owner = {});

    Tensor(Tensor const&) = default;
    Tensor(Tensor&& other) noexcept : data_(std::move(other.data_)) {
        set_shape(other.shape());
        other.set_shape(detail::no_elements);
    }
    Tensor& operator=(Tensor const& other);
    Tensor& operator=(Tensor&& other) noexcept;
    ~Tensor() = default;

    template <class E>
    Tensor& operator=(xt::xexpression<E> const& e) {
        return *this = Tensor(e);
    }

    /// The execution of calls that are given none.
    Cpu device() const noexcept { return {}; }

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
    Tensor& reshape(Shape const& shape) &;
    template <class Shape = std::initializer_list<std::ptrdiff_t>>
    Tensor reshape(Shape const& shape) && {
        return std::move(reshape(shape));
    }

    /// The dims.
    shape_type const& shape() const& noexcept { return container::shape(); }
    shape_type shape() const&& noexcept { return container::shape(); }
    std::size_t shape(std::size_t i) const { return container::shape(i); }  ///< dim i

    /// The number of elements per row: the product of all dims except the first.
    std::size_t row_size() const noexcept { return detail::product_from(this->shape(), 1); }

    /// The elements of row `i`.
    /// errors   IndexError unless i < shape(0); ShapeError for rank 0
    /// cost     O(1)
    std::span<T> row(std::size_t i) & { return {data_.data() + checked_row(i) * row_size(), row_size()}; }
    std::span<T const> row(std::size_t i) const& { return {data_.data() + checked_row(i) * row_size(), row_size()}; }
    detail::KeptSpan<T> row(std::size_t i) && { return {row(i), data_.memory()}; }
    detail::KeptSpan<T const> row(std::size_t i) const&& { return {row(i), data_.memory()}; }

    /// The element at one index per dim, which must be in range: `at` checks that. Of more indices the last ones count, as
    /// an expression passes all of its own to each operand: `(matrix + row)(i, j)`. `t[i]` and `t[{i, j}]` are the same.
    /// requires   each index is in [0, its dim)
    /// errors   ShapeError if there are fewer than dims
    /// cost     O(number of indices)
    template <class... I>
    T& operator()(I... i) {
        check_count(sizeof...(I));
        return container::operator()(i...);
    }
    template <class... I>
    T const& operator()(I... i) const {
        check_count(sizeof...(I));
        return container::operator()(i...);
    }
    /// The element at the indices of a range, as many as operator() takes.
    /// requires   each index is in [0, its dim)
    /// errors   ShapeError if there are fewer than dims
    /// cost     O(number of indices)
    template <class I>
    T& element(I first, I last) {
        check_count(static_cast<std::size_t>(std::distance(first, last)));
        return container::element(first, last);
    }
    template <class I>
    T const& element(I first, I last) const {
        check_count(static_cast<std::size_t>(std::distance(first, last)));
        return container::element(first, last);
    }

    /// The element at one index per dim.
    /// errors   IndexError unless each index is in [0, its dim); ShapeError if there are not as many as dims
    /// cost     O(rank)
    template <std::integral... I>
    T& at(I... i) & {
        check_index(i...);
        return (*this)(i...);
    }
    template <std::integral... I>
    T const& at(I... i) const& {
        check_index(i...);
        return (*this)(i...);
    }
    template <std::integral... I>
    T at(I... i) && {
        return at(i...);
    }

    void swap(Tensor& other) noexcept;

    // These write in place; xtensor's operators would evaluate into new memory, and aliases would not see the result.
    // errors   ShapeError if the operand does not broadcast to this shape
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
    Tensor& operator+=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator-=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator*=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator/=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator%=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator&=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator|=(xt::xexpression<E> const& e);
    template <class E>
    Tensor& operator^=(xt::xexpression<E> const& e);

private:
    friend class xt::xcontainer<Tensor>;
    detail::Storage<T>& storage_impl() noexcept { return data_; }
    detail::Storage<T> const& storage_impl() const noexcept { return data_; }

    // Sets the shape, of at most max_rank dims, and the strides: they are stored inline.
    template <class Shape>
    void set_shape(Shape const& shape) noexcept;

    Tensor alias(std::size_t begin, std::size_t size, shape_type const& shape) const;

    Tensor& write(Tensor const& result);

    template <class E>
    E const& checked_operand(xt::xexpression<E> const& e) const;

    // xtensor would take the last dims, and index 0 of the others.
    void check_count(std::size_t indices) const {
        if (indices < this->dimension()) too_few(indices);
    }
    [[noreturn]] void too_few(std::size_t indices) const;

    template <std::integral... I>
    void check_index(I... i) const;

    std::size_t checked_row(std::size_t i) const;

    detail::Storage<T> data_;
};

}  // namespace rowan::inline v0

#include <rowan/core/detail/tensor_members.hpp>
