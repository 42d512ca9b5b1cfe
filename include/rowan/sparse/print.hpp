// rowan/sparse/print.hpp: a SelectedRows as text: `std::cout << gradient`.
#pragma once

#include <rowan/core/print.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <iosfwd>

namespace rowan::inline v0 {

/// Writes height, rows and value; of more than 1000 rows, the first and last three.
///     height 6, rows [4, 1], value
///     [[1, 2],
///      [3, 4]]
/// errors   those of the stream
/// cost     one write per row and element
template <class T, class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, SelectedRows<T> const& g) {
    auto const rows = g.rows();
    out << "height " << g.height() << ", rows ";
    detail::print_list(out, rows.size(), rows.size() <= 1000, ", ", [&](std::size_t i) { out << rows[i]; });
    return out << ", value\n" << g.value();
}

}  // namespace rowan::inline v0
