// rowan/distributed/detail/text_table.hpp: numbers as text, and lines with aligned columns.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// "1.5 MiB"
std::string bytes_text(double bytes);

/// "1.050"
std::string ratio_text(double x);

/// Writes lines, with the columns aligned: to the right, but those in `left`.
void print_lines(std::ostream& out, std::vector<std::vector<std::string>> const& lines,
                 std::vector<std::size_t> const& left);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/text_table_inl.hpp>
