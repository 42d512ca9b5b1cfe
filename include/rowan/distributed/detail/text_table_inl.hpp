// rowan/distributed/detail/text_table_inl.hpp: the functions of text_table.hpp.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/distributed/detail/text_table.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cmath>
#include <iterator>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::string bytes_text(double bytes) {
    static constexpr char const* units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    auto const tenths = std::llround(bytes * 10);
    std::string text = std::to_string(tenths / 10);
    if (unit != 0) text.append(".").append(std::to_string(tenths % 10));
    return text.append(units[unit]);
}

ROWAN_CALLED_FUNCTION std::string ratio_text(double x) {
    auto const n = std::llround(x * 1000);
    return std::to_string(n / 1000).append(".").append(std::to_string(1000 + n % 1000).substr(1));
}

ROWAN_CALLED_FUNCTION std::string TextTable::text() const {
    std::string text;
    std::vector<std::size_t> widths(columns_);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        auto& width = widths[i % columns_];
        if (cells_[i].size() > width) width = cells_[i].size();
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        std::size_t const column = i % columns_, space = widths[column] - cells_[i].size();
        bool const left = column == left_.first || column == left_.second, last = column + 1 == columns_;
        if (column != 0) text.append("  ");
        if (!left) text.append(space, ' ');
        text.append(cells_[i]);
        if (left && !last) text.append(space, ' ');
        if (last) text.append("\n");
    }
    return text;
}

}  // namespace rowan::inline v0::detail

#endif
