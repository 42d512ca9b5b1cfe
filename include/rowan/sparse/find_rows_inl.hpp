// rowan/sparse/find_rows_inl.hpp: definitions of rowan/sparse/find_rows.hpp.
#pragma once

#include <rowan/sparse/find_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void find_rows(char const* field, std::span<std::int64_t const> rows, bool merged, std::int64_t height,
                              Ids<> const& ids, std::optional<std::int64_t> skip, std::int64_t* to) {
    check_ids(Cpu{}, field, ids, height);
    bool const all = merged && static_cast<std::int64_t>(rows.size()) == height;
    ids.visit([&](auto list) {
        std::unordered_map<std::int64_t, std::int64_t> first;  // of the ids, if the rows are not sorted
        if (!merged) {
            for (auto const id : list) first.try_emplace(id, -1);
            std::size_t missing = first.size();
            for (std::size_t i = 0; i < rows.size() && missing > 0; ++i) {
                auto const found = first.find(rows[i]);
                if (found == first.end() || found->second >= 0) continue;
                found->second = static_cast<std::int64_t>(i);
                --missing;
            }
        }
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::int64_t const id = list[i];
            if (id == skip) {
                to[i] = 0;
            } else if (all) {
                to[i] = id;
            } else if (!merged) {
                to[i] = first.at(id);
            } else {
                auto const at = std::ranges::lower_bound(rows, id);
                to[i] = at != rows.end() && *at == id ? at - rows.begin() : -1;
            }
            if (to[i] < 0) throw IndexError(field, i, id, "is not a row of the table");
        }
    });
}

ROWAN_FUNCTION void known_rows(std::span<std::int64_t const> rows, bool merged, std::int64_t height, Ids<> const& ids,
                               std::int64_t unknown, std::optional<std::int64_t> skip, std::int64_t* to) {
    if (unknown < 0 || unknown >= height) throw IndexError("unknown", unknown, height);
    ids.visit([&](auto list) {
        std::unordered_map<std::int64_t, bool> found;  // of the ids, if the rows are not sorted
        if (!merged) {
            found.try_emplace(unknown, false);
            for (auto const id : list) found.try_emplace(id, false);
            for (std::int64_t const row : rows) {
                if (auto const at = found.find(row); at != found.end()) at->second = true;
            }
        }
        auto const known = [&](std::int64_t id) {
            return id == skip || (merged ? std::ranges::binary_search(rows, id) : found.at(id));
        };
        if (!known(unknown)) throw IndexError("unknown", IndexError::no_position, unknown, "is not a row of the table");
        for (std::size_t i = 0; i < list.size(); ++i) to[i] = known(list[i]) ? std::int64_t{list[i]} : unknown;
    });
}

}  // namespace rowan::inline v0::detail

#endif
