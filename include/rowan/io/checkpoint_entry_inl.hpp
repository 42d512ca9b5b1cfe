// rowan/io/checkpoint_entry_inl.hpp: definitions of rowan/io/checkpoint_entry.hpp.
#pragma once

#include <rowan/io/checkpoint_entry.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE void CheckpointEntry::check() const {
    detail::CheckpointRecord record{desc, type_name, element_size, {}};
    for (std::size_t l = 0; l < lod->levels(); ++l) record.sections.push_back({0, (*lod)[l].size_bytes(), 0});
    if (record.has_rows()) record.sections.push_back({0, rows->size() * sizeof(std::int64_t), 0});
    record.sections.push_back({0, elements.size(), 0});
    record.check(0);
    try {
        if (!lod->empty()) lod->check_rows(record.shape()[0]);
        if (record.has_rows()) detail::check_ids(Cpu{}, "rows", *rows, record.tensor().dims[0]);
    } catch (Error const& e) {
        throw FormatError(0, desc.name, {"is wrong: ", e.what()});
    }
    check_elements(record, elements, 0);
}

ROWAN_FUNCTION ROWAN_RARE void CheckpointEntry::check_elements(detail::CheckpointRecord const& record,
                                                               std::span<std::byte const> some, std::uint64_t offset) {
    if (record.tensor().data_type != dtype<bool>::wire) return;
    auto const bad = std::ranges::find_if(some, [](std::byte b) { return b > std::byte{1}; });
    if (bad == some.end()) return;
    throw FormatError(offset + static_cast<std::uint64_t>(bad - some.begin()), record.desc.name,
                      {"has an element ", std::to_integer<int>(*bad), ", which is neither 0 nor 1"});
}

}  // namespace rowan::inline v0

#endif
