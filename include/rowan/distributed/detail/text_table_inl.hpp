// rowan/distributed/detail/text_table_inl.hpp: the functions of text_table.hpp.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/distributed/detail/text_table.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string bytes_text(double bytes) {
    std::array<char const*, 6> const units{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1024;
    auto const tenths = std::llround(bytes * 10);
    std::string text = std::to_string(tenths / 10);
    if (unit != 0) text.append(".").append(std::to_string(tenths % 10));
    return text.append(units[unit]);
}

ROWAN_FUNCTION std::string ratio_text(double x) {
    auto const n = std::llround(x * 1000);
    return std::to_string(n / 1000).append(".").append(std::to_string(1000 + n % 1000).substr(1));
}

ROWAN_FUNCTION void print_lines(std::ostream& out, std::vector<std::vector<std::string>> const& lines,
                                std::vector<std::size_t> const& left) {
    std::vector<std::size_t> widths;
    for (auto const& line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    for (auto const& line : lines) {
        std::string text;
        for (std::size_t i = 0; i < line.size(); ++i) {
            std::string const space(widths[i] - line[i].size(), ' ');
            bool const to_left = std::ranges::find(left, i) != left.end();
            text.append(i == 0 ? "" : "  ").append(to_left ? line[i] + space : space + line[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out << text << '\n';
    }
}

}  // namespace rowan::inline v0::detail

#endif
