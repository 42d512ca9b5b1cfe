// rowan/core/detail/nested.hpp: Nested, braced lists of any depth: `{{1, 2}, {3, 4}}`.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/xtensor.hpp>
#include <rowan/core/dtype.hpp>

#include <algorithm>  // for the concepts of ranges, without the views of <ranges>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// A number or a list of Nested. Unlike in xtensor's typed lists, `{1}` inside `{{1}, {2}}` is always a list.
/// It refers to the memory of the braced list, so it is valid until the end of the full expression.
template <class T>
class Nested {
public:
    template <class U>
    requires std::convertible_to<U, T> || std::is_arithmetic_v<U> Nested(U const& number)
        : number_(convert(number)), scalar_(true) {}
    Nested(std::initializer_list<Nested> list) : list_(list) {}

    /// The number as an element, rounded only once.
    /// errors   ValueError if T is an integer type and the number is not an integer or not in its range
    template <class U>
    static T convert(U const& number) {
        if constexpr (std::is_arithmetic_v<U> && !std::is_arithmetic_v<T>) {
            return dtype<T>::narrow(static_cast<typename dtype<T>::sum>(number));
        } else if constexpr (std::is_arithmetic_v<U> && std::integral<T> && !std::same_as<T, bool>) {
            if constexpr (std::integral<U> && !std::same_as<U, bool>) {
                if (!std::in_range<T>(number)) throw bad_number(static_cast<double>(number));
            } else if (!is_whole<T>(static_cast<double>(number))) {
                throw bad_number(static_cast<double>(number));
            }
            return static_cast<T>(number);
        } else {
            return static_cast<T>(number);
        }
    }

    /// Appends the dims of a list, the outermost first.
    template <class Shape>
    static void shape_of(std::initializer_list<Nested> list, Shape& shape) {
        shape.push_back(list.size());
        if (list.size() != 0 && !list.begin()->scalar_) shape_of(list.begin()->list_, shape);
    }

    /// Writes the numbers of `list` to `out` and returns the end of the output.
    /// errors   ShapeError if the dims of `list` are not those of `shape` from `axis` on
    template <class Shape>
    static T* copy(std::initializer_list<Nested> list, Shape const& shape, std::size_t axis, T* out) {
        if (list.size() != shape[axis]) bad(shape, axis, std::to_string(list.size()) + " long");
        for (Nested const& item : list) {
            bool const innermost = axis + 1 == shape.size();
            if (item.scalar_ != innermost)
                bad(shape, axis + 1, item.scalar_ ? "a number" : std::to_string(item.list_.size()) + " long");
            if (innermost) {
                *out++ = item.number_;
            } else {
                out = copy(item.list_, shape, axis + 1, out);
            }
        }
        return out;
    }

private:
    template <class Shape>
    [[noreturn]] static void bad(Shape const& shape, std::size_t axis, std::string const& found) {
        throw ShapeError({"braced list of ", shape_text(shape), " at depth ", axis}, found,
                         axis < shape.size() ? std::to_string(shape[axis]) + " long" : "a number");
    }

    static ValueError bad_number(double number) {
        return ValueError("number in a list", number, "a whole number that the element type holds");
    }

    T number_{};
    std::initializer_list<Nested> list_{};
    bool scalar_ = false;
};

/// A range of numbers, such as a vector. Expressions of xtensor, which have a shape, are none.
template <class R, class T>
concept numbers_for =
    !xt::is_xexpression<R>::value && std::ranges::forward_range<R const> && std::ranges::sized_range<R const> &&
    (std::convertible_to<std::ranges::range_value_t<R const>, T> ||
     std::is_arithmetic_v<std::ranges::range_value_t<R const>>);

/// A range of ranges, such as a vector of vectors.
template <class R>
concept lists_of_lists = !xt::is_xexpression<R>::value && std::ranges::range<std::ranges::range_value_t<R const>>;

}  // namespace rowan::inline v0::detail
