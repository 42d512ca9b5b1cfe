// rowan/core/ids.hpp: Ids, what functions take where they want row numbers.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>

namespace rowan::inline v0 {

/// An integer type that row numbers may have.
template <class I>
concept id_type = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// A read-only view of row numbers of any shape: a braced list, a vector, a span or a Tensor, of int32 or int64.
/// requires   as a parameter only: it refers to the caller's memory, for a braced list to the end of the expression
template <>
class Ids<Cpu> {
public:
    using shape_type = Tensor<std::int64_t>::shape_type;

    Ids() : shape_{0} {}  ///< none
    /// `{2, 0, 2}`, to the end of the expression.
    Ids(std::initializer_list<std::int64_t> ids) : Ids(std::span(ids.begin(), ids.end())) {}

    /// Ids of the tensor's shape.
    /// errors   none
    /// cost     O(1)
    template <id_type I>
    Ids(Tensor<I> const& ids) : Ids(std::span<I const>(ids.data(), ids.size())) {
        shape_ = ids.shape();
    }

    /// A flat list.
    /// errors   none
    /// cost     O(1)
    template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && id_type<std::ranges::range_value_t<R>> &&
        (!xt::is_xexpression<R>::value)Ids(R const& ids)
        : size_(std::ranges::size(ids)), shape_{size_} {
        if constexpr (sizeof(std::ranges::range_value_t<R>) == 8) {
            wide_ = std::ranges::data(ids);
        } else {
            narrow_ = std::ranges::data(ids);
        }
    }

    std::size_t size() const noexcept { return size_; }          ///< how many ids
    shape_type const& shape() const noexcept { return shape_; }  ///< that the result of a lookup begins with
    /// Id i of all, in row-major order.
    std::int64_t operator[](std::size_t i) const noexcept { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }

    /// Calls f with a span of the ids as they are, int32 or int64.
    /// errors   what f throws
    /// cost     that of f
    template <class F>
    decltype(auto) visit(F&& f) const {
        if (narrow_ != nullptr) return f(std::span(narrow_, size_));
        return f(std::span(wide_, size_));
    }

    /// Where the ids lie, to see whether a call would write over them.
    /// errors   none
    /// cost     O(1)
    std::span<std::byte const> bytes() const {
        return visit([](auto list) { return std::as_bytes(list); });
    }

private:
    std::int64_t const* wide_ = nullptr;
    std::int32_t const* narrow_ = nullptr;
    std::size_t size_ = 0;
    shape_type shape_;
};

namespace detail {

/// Every id must be in [0, bound); the error names the first that is not.
/// cost     one pass, in parallel where there are many
inline void check_ids(Cpu exec, char const* field, Ids<> const& ids, std::int64_t bound) {
    auto const limit = static_cast<std::uint64_t>(bound);
    ids.visit([&](auto list) {
        std::atomic<bool> good{true};
        parallel_for(exec, list.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
            bool bad = false;  // no early exit: the loop vectorises
            for (std::size_t i = begin; i < end; ++i) bad |= static_cast<std::uint64_t>(std::int64_t{list[i]}) >= limit;
            if (bad) good = false;
        });
        if (good) return;
        std::size_t i = 0;
        while (static_cast<std::uint64_t>(std::int64_t{list[i]}) < limit) ++i;
        throw IndexError(field, i, list[i], bound);
    });
}

}  // namespace detail

}  // namespace rowan::inline v0
