// rowan/sequence/strings.hpp: Strings, a batch of strings, or of sequences of strings.
#pragma once

#include <rowan/sequence/lod.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class X>
inline constexpr bool is_string = std::same_as<X, std::string> || std::same_as<X, std::string_view>;

/// The levels of a list of strings: 1, of a list of such lists 2, and so on; 0 of anything else.
template <class X>
consteval std::size_t string_levels() {
    if constexpr (!std::ranges::forward_range<X const> || is_string<X>) {
        return 0;
    } else {
        using E = std::remove_cvref_t<std::ranges::range_value_t<X const>>;
        if constexpr (is_string<E>) {
            return 1;
        } else {
            return string_levels<E>() == 0 ? 0 : 1 + string_levels<E>();
        }
    }
}

/// Appends the strings of a list to `bytes`, and to lengths[0] the number of its elements, and so on: last of all the bytes
/// of each string.
template <class R>
void append_strings(R const& list, std::vector<std::int64_t>* lengths, std::string& bytes) {
    for (auto const& element : list) {
        lengths->push_back(static_cast<std::int64_t>(std::ranges::distance(element)));
        if constexpr (string_levels<R>() == 1) {
            bytes.append(element);
        } else {
            append_strings(element, lengths + 1, bytes);
        }
    }
}

}  // namespace detail

/// Strings of bytes, such as the users and items of a batch. They may form sequences, as the rows of a LoDTensor do:
///
///     Strings(std::vector<std::string>{"ann", "bob"})                                    two strings
///     Strings(std::vector<std::vector<std::string>>{{"a", "bc"}, {}, {"a"}})             three sequences of strings
///     bytes   a b c a      levels {{0, 2, 2, 3}, {0, 1, 3, 4}}      the last level: where each string begins
///
/// Memory is that of an Arrow array: the bytes of all, and where each begins. They do not change, and copies share them.
class Strings {
public:
    ROWAN_IF_CALLED Strings();  ///< no strings

    /// A list of strings, or of lists of strings, each with a level of sequences.
    /// errors   LodError if there are Lod::max_levels levels of sequences
    /// cost     one read and one write of every byte
    template <class R>
    requires(detail::string_levels<R>() != 0) Strings(R const& list) : Strings() {
        std::vector<std::vector<std::int64_t>> lengths(detail::string_levels<R>());
        std::string bytes;
        detail::append_strings(list, lengths.data(), bytes);
        *this = Strings(std::move(bytes), Lod::from_lengths(lengths));
    }

    /// Bytes, and levels of which the last one are the strings.
    /// errors   ShapeError if there is no level; LodError if the last one does not end with the number of bytes
    /// cost     O(1)
    ROWAN_IF_CALLED Strings(std::string bytes, Lod levels);

    ROWAN_IF_CALLED std::size_t size() const noexcept;                          ///< the number of strings
    ROWAN_IF_CALLED std::string_view operator[](std::size_t i) const noexcept;  ///< string i, not bounds-checked
    std::string_view bytes() const noexcept { return bytes_; }                  ///< of all strings
    Lod const& levels() const& noexcept { return levels_; }                     ///< of sequences, and then of strings
    /// The levels of sequences; none if the strings form no sequences.
    /// errors   std::bad_alloc
    /// cost     O(sequences)
    ROWAN_IF_CALLED Lod lod() const;

    Strings share() const { return *this; }  ///< the same strings
    /// Bytes [begin, end) with these levels: of sequences or strings that lie there.
    /// errors   as the constructor
    /// cost     O(1)
    ROWAN_IF_CALLED Strings part(std::size_t begin, std::size_t end, Lod levels) const;

    /// Whether strings and levels are the same.
    friend bool operator==(Strings const& a, Strings const& b) {
        return a.levels_ == b.levels_ && a.bytes_ == b.bytes_;
    }

private:
    ROWAN_IF_CALLED std::span<std::int64_t const> begins() const noexcept;

    std::shared_ptr<std::string const> memory_;
    std::string_view bytes_;
    Lod levels_;
};

}  // namespace rowan::inline v0

#include <rowan/sequence/strings_inl.hpp>
