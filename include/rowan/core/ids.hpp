// rowan/core/ids.hpp: Ids, the parameter type for row numbers.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0 {

/// An integer type of row numbers.
template <class I>
concept id_type = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

namespace detail {

/// An integer type whose numbers can be copied to row numbers: neither bool nor char, whose lists are masks and texts.
template <class I>
concept id_number = std::integral<I> && !std::same_as<I, bool> && !std::same_as<I, char>;

/// The ids as int64: themselves, or a copy. For functions that do much more with each than to read it, so that they are
/// compiled once.
template <id_type I>
Tensor<std::int64_t> ids_of_64_bits(Tensor<I> const& ids) {
    if constexpr (std::is_same_v<I, std::int64_t>) {
        return ids.share();
    } else {
        auto all = Tensor<std::int64_t>::from_shape(ids.shape());
        std::copy_n(ids.data(), ids.size(), all.data());
        return all;
    }
}

}  // namespace detail

/// A read-only view of row numbers of any shape: a braced list, a vector, a span or a Tensor, of int32 or int64. Lists
/// and xtensor expressions of other integers, such as std::size_t, are copied.
/// requires   use as a function parameter only: the view refers to the caller's memory, which for a braced list ends
///            with the full expression
template <>
class Ids<Cpu> {
public:
    using shape_type = Tensor<std::int64_t>::shape_type;

    Ids() : shape_{0} {}  ///< no ids
    /// A braced list such as `{2, 0, 2}`, valid until the end of the full expression.
    Ids(std::initializer_list<std::int64_t> ids) : size_(ids.size()), shape_{size_} { view(ids.begin()); }

    /// The elements of a tensor; the ids have its shape.
    /// errors   none
    /// cost     O(1)
    template <id_type I>
    Ids(Tensor<I> const& ids) : Ids(std::span<I const>(ids.data(), ids.size()), ids.shape()) {}

    /// A flat list: the ids have shape [size].
    /// errors   none
    /// cost     O(1)
    template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && id_type<std::ranges::range_value_t<R>> &&
        (!xt::is_xexpression<R>::value)Ids(R const& ids)
        : size_(std::ranges::size(ids)), shape_{size_} {
        view(std::ranges::data(ids));
    }

    /// A list of other integers.
    /// errors   IndexError for a number above 2^63 - 1
    /// cost     one allocation and one copy
    template <std::ranges::forward_range R>
    requires std::ranges::sized_range<R> && detail::id_number<std::ranges::range_value_t<R>> &&
        (!std::ranges::contiguous_range<R> ||
         !id_type<std::ranges::range_value_t<R>>)&&(!xt::is_xexpression<R>::value)Ids(R const& ids)
        : size_(std::ranges::size(ids)), shape_{size_} {
        copy(ids.begin());
    }

    /// A container or expression of xtensor of any integers; the ids have its shape.
    /// errors   IndexError for a number above 2^63 - 1; exceptions of the expression
    /// cost     one allocation and one copy
    template <class E>
    requires detail::id_number<typename E::value_type> Ids(xt::xexpression<E> const& e)
        : size_(e.derived_cast().size()), shape_(e.derived_cast().shape().begin(), e.derived_cast().shape().end()) {
        copy(e.derived_cast().begin());
    }

    // A mistake, which does not compile.
    template <std::ranges::range R>
    requires std::floating_point<typename R::value_type> Ids(R const&) {
        static_assert(
            std::integral<typename R::value_type>,
            "rowan: ids and rows are integers: convert the numbers, for example to std::vector<std::int64_t>");
    }

    std::size_t size() const noexcept { return size_; }          ///< the number of ids
    shape_type const& shape() const noexcept { return shape_; }  ///< the leading dims of a lookup's result
    /// Id i in row-major order, not bounds-checked.
    std::int64_t operator[](std::size_t i) const noexcept { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }

    /// Calls f with a span of the ids in their stored type, int32 or int64.
    /// errors   exceptions of f
    /// cost     the cost of f
    template <class F>
    decltype(auto) visit(F&& f) const {
        if (narrow_ != nullptr) return f(std::span(narrow_, size_));
        return f(std::span(wide_, size_));
    }

    /// The memory of the ids, for overlap checks.
    /// errors   none
    /// cost     O(1)
    std::span<std::byte const> bytes() const {
        auto const* const list = narrow_ != nullptr ? static_cast<void const*>(narrow_) : wide_;
        return {static_cast<std::byte const*>(list), size_ * (narrow_ != nullptr ? sizeof *narrow_ : sizeof *wide_)};
    }

private:
    template <class D>
    friend class Ids;  // which views device memory

    template <id_type I>
    Ids(std::span<I const> ids, shape_type const& shape) : size_(ids.size()), shape_(shape) {
        view(ids.data());
    }

    void view(std::int64_t const* ids) noexcept { wide_ = ids; }
    void view(std::int32_t const* ids) noexcept { narrow_ = ids; }

    template <class Iterator>
    void copy(Iterator from) {
        copied_ = std::shared_ptr<std::int64_t[]>(new std::int64_t[size_]);
        std::int64_t* const to = copied_.get();
        for (std::size_t i = 0; i < size_; ++i, ++from) {
            auto const id = *from;
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            if (std::cmp_greater(id, most)) throw IndexError("row numbers", i, id, most);
            to[i] = static_cast<std::int64_t>(id);
        }
        wide_ = to;
    }

    std::shared_ptr<std::int64_t[]> copied_;
    std::int64_t const* wide_ = nullptr;
    std::int32_t const* narrow_ = nullptr;
    std::size_t size_ = 0;
    shape_type shape_;
};

namespace detail {

/// Whether an id is not in [least, bound).
template <class I>
bool has_bad_id(std::span<I const> ids, std::int64_t least, std::int64_t bound) {
    auto const from = static_cast<std::uint64_t>(least), size = static_cast<std::uint64_t>(bound) - from;
    bool bad = false;  // no early exit, so that the loop is vectorised
    for (I const id : ids) bad |= static_cast<std::uint64_t>(std::int64_t{id}) - from >= size;
    return bad;
}

/// Throws IndexError for the first id that is not in [least, bound), which there is. ids[0] is id `first` of the field.
template <class I>
[[noreturn]] void bad_id(char const* field, std::span<I const> ids, std::int64_t least, std::int64_t bound,
                         std::size_t first = 0) {
    std::size_t i = 0;
    while (!has_bad_id(ids.subspan(i, 1), least, bound)) ++i;
    throw IndexError(field, first + i, ids[i], bound);
}

/// Checks that all ids are in [0, bound).
/// errors   IndexError for the first id that is not in [0, bound)
/// cost     one pass, in parallel for many ids
ROWAN_IF_CALLED void check_ids(Cpu exec, char const* field, Ids<> const& ids, std::int64_t bound);

/// to[i] = ids[i].
ROWAN_IF_CALLED void copy_ids(Ids<> const& ids, std::int64_t* to);

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/core/ids_inl.hpp>
