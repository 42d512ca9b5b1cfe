// rowan/sparse/keys.hpp: Keys, the parameter type for keys: numbers of 64 bits, or strings.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/random.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// A type of keys.
template <class Key>
concept key_type =
    std::same_as<Key, std::int64_t> || std::same_as<Key, std::uint64_t> || std::same_as<Key, std::string>;

namespace detail {

/// A key as it is passed: a number, or the view of a string.
template <class Key>
using KeyView = std::conditional_t<std::same_as<Key, std::string>, std::string_view, Key>;

/// A LoDTensor of keys, which this room does not know by name.
template <class X, class Key>
concept sequences_of_keys = std::same_as<Key, std::int64_t> && requires(X const& x) {
    { x.value() } -> std::convertible_to<Tensor<std::int64_t> const&>;
    X(x.value(), x.lod());
};

}  // namespace detail

/// A read-only view of keys of any shape: a braced list, a vector, a span, or a tensor of std::int64_t; keys that are
/// strings may also be a list of views.
/// requires   use as a function parameter only: the view refers to the caller's memory, which for a braced list ends
///            with the full expression
template <key_type Key>
class Keys {
public:
    using value_type = detail::KeyView<Key>;  ///< a number, or std::string_view
    using shape_type = Tensor<std::int64_t>::shape_type;

    /// A braced list, valid until the end of the full expression.
    Keys(std::initializer_list<value_type> keys) : Keys(std::span<value_type const>(keys.begin(), keys.size())) {}

    /// A flat list: the keys have shape [size].
    /// errors   none
    /// cost     O(1)
    template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> &&
        (std::same_as<std::ranges::range_value_t<R>, Key> ||
         std::same_as<std::ranges::range_value_t<R>, value_type>)&&(!xt::is_xexpression<R>::value)Keys(R const& keys)
        : size_(std::ranges::size(keys)), shape_{size_} {
        if constexpr (std::same_as<std::ranges::range_value_t<R>, value_type>) {
            views_ = std::ranges::data(keys);
        } else {
            strings_ = std::ranges::data(keys);
        }
    }

    /// A list with a shape.
    /// errors   ShapeError if the shape has another number of elements
    /// cost     O(1)
    Keys(std::span<Key const> keys, shape_type const& shape) : Keys(keys) {
        std::size_t size = 1;
        for (std::size_t const dim : shape) size *= dim;
        if (size != size_) throw ShapeError("keys.size()", size_, size);
        shape_ = shape;
    }

    /// The elements of a tensor; the keys have its shape.
    /// errors   none
    /// cost     O(1)
    Keys(Tensor<std::int64_t> const& keys) requires std::same_as<Key, std::int64_t>
        : Keys(std::span<Key const>(keys.data(), keys.size()), keys.shape()) {}

    std::size_t size() const noexcept { return size_; }          ///< the number of keys
    shape_type const& shape() const noexcept { return shape_; }  ///< the shape of the result of a lookup
    /// Key i in row-major order, not bounds-checked.
    value_type operator[](std::size_t i) const noexcept {
        if constexpr (std::same_as<Key, std::string>) {
            return strings_ != nullptr ? value_type(strings_[i]) : views_[i];
        } else {
            return views_[i];
        }
    }

private:
    Key const* strings_ = nullptr;  // of keys that are strings and not views
    value_type const* views_ = nullptr;
    std::size_t size_;
    shape_type shape_;
};

/// A number of 64 bits that depends on all bits of a key and on the seed, the same on all machines. Different numbers
/// have different hashes; so have nearly all strings.
/// errors   none
/// cost     O(1), of a string O(bytes)
ROWAN_HD constexpr std::uint64_t hash_key(std::uint64_t key, std::uint64_t seed) {
    return detail::mix_bits(key + detail::mix_bits(seed + detail::golden_step));
}
ROWAN_HD constexpr std::uint64_t hash_key(std::int64_t key, std::uint64_t seed) {
    return hash_key(static_cast<std::uint64_t>(key), seed);
}
inline std::uint64_t hash_key(std::string_view key, std::uint64_t seed) {
    // Words of 8 bytes, little endian; the last has zeros behind the text, whose size is mixed first.
    std::uint64_t hash = hash_key(key.size(), seed);
    for (; !key.empty(); key.remove_prefix(std::min<std::size_t>(8, key.size()))) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data(), std::min<std::size_t>(8, key.size()));
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        hash = detail::mix_bits((hash ^ word) + detail::golden_step);
    }
    return hash;
}

}  // namespace rowan::inline v0
