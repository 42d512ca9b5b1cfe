// rowan/sparse/find_rows_inl.hpp: definitions of rowan/sparse/find_rows.hpp.
#pragma once

#include <rowan/sparse/find_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace rowan::inline v0::detail {

/// Where a table has the rows that a list of ids names.
class RowPositions {
public:
    /// `ids` and `also` are those that are asked for later.
    ROWAN_IF_CALLED RowPositions(std::span<std::int64_t const> rows, bool merged, std::int64_t height, Ids<> const& ids,
                                 std::optional<std::int64_t> also = {})
        : rows_(rows), merged_(merged), all_(merged && static_cast<std::int64_t>(rows.size()) == height) {
        if (merged) return;
        if (also) first_.try_emplace(*also, -1);
        for (std::size_t i = 0; i < ids.size(); ++i) first_.try_emplace(ids[i], -1);
        std::size_t missing = first_.size();
        for (std::size_t i = 0; i < rows.size() && missing > 0; ++i) {
            auto const found = first_.find(rows[i]);
            if (found == first_.end() || found->second >= 0) continue;
            found->second = static_cast<std::int64_t>(i);
            --missing;
        }
    }
    /// The first position of the row, or -1.
    ROWAN_IF_CALLED std::int64_t operator()(std::int64_t id) const {
        if (all_) return static_cast<std::uint64_t>(id) < rows_.size() ? id : -1;
        if (!merged_) return first_.at(id);
        auto const at = std::lower_bound(rows_.begin(), rows_.end(), id);
        return at != rows_.end() && *at == id ? at - rows_.begin() : -1;
    }

private:
    std::span<std::int64_t const> rows_;
    bool merged_, all_;
    std::unordered_map<std::int64_t, std::int64_t> first_;  // of the ids, if the rows are not sorted
};

ROWAN_CALLED_FUNCTION void find_rows(char const* field, std::span<std::int64_t const> rows, bool merged,
                                     std::int64_t height, Ids<> const& ids, std::optional<std::int64_t> skip,
                                     std::int64_t* to) {
    check_ids(Cpu{}, field, ids, height);
    RowPositions const position(rows, merged, height, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int64_t const id = ids[i];
        to[i] = id == skip ? 0 : position(id);
        if (to[i] < 0) throw IndexError(field, i, id, "is not a row of the table");
    }
}

ROWAN_CALLED_FUNCTION void known_rows(std::span<std::int64_t const> rows, bool merged, std::int64_t height,
                                      Ids<> const& ids, std::int64_t unknown, std::optional<std::int64_t> skip,
                                      std::int64_t* to) {
    if (unknown < 0 || unknown >= height) throw IndexError("unknown", unknown, height);
    RowPositions const position(rows, merged, height, ids, unknown);
    if (unknown != skip && position(unknown) < 0)
        throw IndexError("unknown", IndexError::no_position, unknown, "is not a row of the table");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int64_t const id = ids[i];
        to[i] = id == skip || position(id) >= 0 ? id : unknown;
    }
}

}  // namespace rowan::inline v0::detail

#endif
