// rowan/sequence/sequence_slice_inl.hpp: definitions of rowan/sequence/sequence_slice.hpp.
#pragma once

#include <rowan/sequence/sequence_slice.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> slice_offsets(Lod const& lod, Ids<> const& offset, Ids<> const& length) {
    auto const offsets = last_level(lod);
    std::size_t const n = offsets.size() - 1;
    auto const check_size = [&](char const* field, Ids<> const& list) {
        if (list.size() != n) throw ShapeError(field, list.size(), {n, ", the number of sequences"});
    };
    check_list("offset", offset);
    check_list("length", length);
    check_size("offset.size()", offset);
    check_size("length.size()", length);
    std::vector<std::int64_t> result{0};
    result.reserve(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t const most = offsets[i + 1] - offsets[i];
        check_at_most("offset", offset, i, most);
        check_at_most("length", length, i, most - offset[i]);
        result.push_back(result.back() + length[i]);
    }
    return result;
}

}  // namespace rowan::inline v0::detail

#endif
