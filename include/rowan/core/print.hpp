// rowan/core/print.hpp: a Tensor as text: `std::cout << tensor`.
#pragma once

#include <rowan/core/tensor.hpp>

#include <cstddef>
#include <iosfwd>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Writes an element: bytes and bools as numbers, elements of other types than C++'s in their type of sums.
template <class Out, class T>
void print_element(Out& out, T const& x) {
    if constexpr (std::is_arithmetic_v<T>) {
        out << +x;
    } else if constexpr (requires { out << dtype<T>::widen(x); }) {
        out << dtype<T>::widen(x);
    } else {
        out << static_cast<double>(dtype<T>::widen(x));
    }
}

/// Writes `count` items in brackets, separated by `between`. If they are many and some are left out, the first and last
/// three.
template <class Out, class Item>
void print_list(Out& out, std::size_t count, bool all, char const* between, Item const& item) {
    out << '[';
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) out << between;
        if (!all && count > 6 && i == 3) {
            out << "…" << between;
            i = count - 3;
        }
        item(i);
    }
    out << ']';
}

template <class Out, class T>
void print_dims(Out& out, Tensor<T> const& t, std::size_t axis, T const* data) {
    std::size_t const rank = t.dimension();
    if (axis == rank) return print_element(out, *data);
    bool const numbers = axis + 1 == rank;
    char between[2 + max_tensor_rank + 1] = ", ";
    if (!numbers) {  // each row on its own line, below the one before it
        between[1] = '\n';
        for (std::size_t i = 0; i <= axis; ++i) between[2 + i] = ' ';
        between[3 + axis] = '\0';
    }
    std::size_t const step = product_from(t.shape(), axis + 1);
    print_list(out, t.shape()[axis], t.size() <= 1000 && t.shape()[axis] <= 1000, between,
               [&](std::size_t i) { print_dims(out, t, axis + 1, data + i * step); });
}

}  // namespace detail

/// Writes the elements, a row per line, as NumPy does. Of a tensor of more than 1000 elements, the first and last three
/// of each dim.
///     [[1, 2],
///      [3, 4]]
/// errors   those of the stream
/// cost     one write per element
template <class T, class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Tensor<T> const& tensor) {
    detail::print_dims(out, tensor, 0, tensor.data());
    return out;
}

}  // namespace rowan::inline v0
