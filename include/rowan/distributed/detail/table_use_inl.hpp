// rowan/distributed/detail/table_use_inl.hpp: the functions of table_use.hpp.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/distributed/detail/table_use.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_table(TableToPlace const& t, std::size_t i) {
    auto const check = [&](char const* field, std::int64_t n, bool good, std::string const& expected) {
        if (!good) throw ShapeError({"tables[", i, "].", field}, n, expected);
    };
    check("height", t.height, t.height >= 0, "at least 0");
    check("width", t.width, t.width >= 0, "at least 0");
    check("lookups", t.lookups, t.lookups >= 0, "at least 0");
    check("element_bytes", t.element_bytes, t.element_bytes >= 1, "at least 1");
    check("state_bytes", t.state_bytes, t.state_bytes >= 0, "at least 0");
    std::int64_t const most = t.lookups < t.height ? t.lookups : t.height;
    check("different", t.different, t.different >= 0 && t.different <= most,
          std::string("in [0, ").append(std::to_string(most)).append("], the lookups and the height"));
}

ROWAN_CALLED_FUNCTION NamedRows::NamedRows(TableToPlace const& t, int ranks) {
    auto const n = static_cast<double>(t.lookups), height = static_cast<double>(t.height);
    if (t.lookups == 0 || t.height == 0) return;
    all = t.different != 0 ? static_cast<double>(t.different) : n * height / (n + height);
    of_rank = n * all / (n + (ranks - 1) * all);
}

ROWAN_CALLED_FUNCTION double table_bytes(TableToPlace const& t) {
    return static_cast<double>(t.height) *
           (static_cast<double>(t.width) * static_cast<double>(t.element_bytes) + static_cast<double>(t.state_bytes));
}

}  // namespace rowan::inline v0::detail

#endif
