// rowan/distributed/detail/text_table.hpp: TextTable, texts in aligned columns, and numbers as text.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// "1.5 MiB"
ROWAN_IF_CALLED std::string bytes_text(double bytes);

/// "1.050"
ROWAN_IF_CALLED std::string ratio_text(double x);

/// Lines of texts in columns, which are aligned to the right, but two of them to the left.
class TextTable {
public:
    TextTable(std::size_t columns, std::pair<std::size_t, std::size_t> left) : columns_(columns), left_(left) {}
    void add(std::string cell) { cells_.push_back(std::move(cell)); }  ///< line by line
    ROWAN_IF_CALLED std::string text() const;

private:
    std::size_t columns_;
    std::pair<std::size_t, std::size_t> left_;
    std::vector<std::string> cells_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/text_table_inl.hpp>
