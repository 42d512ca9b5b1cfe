// rowan/layer/selected_rows_inl.hpp: definitions of rowan/layer/selected_rows.hpp.
#pragma once

#include <rowan/layer/selected_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_parameter_rows(Dims const& dims, std::vector<std::int64_t> const& rows) {
    if (dims.empty()) throw ShapeError("the rank of a SelectedRows", "0", "at least 1");
    check_ids(Cpu{}, "rows", rows, dims[0]);
    std::unordered_set<std::int64_t> seen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!seen.insert(rows[i]).second) throw IndexError("rows", i, rows[i], "is a repeated row");
    }
}

}  // namespace rowan::inline v0::detail

#endif
