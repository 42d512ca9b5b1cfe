// rowan/sequence/sub_lod_inl.hpp: definitions of rowan/sequence/sub_lod.hpp.
#pragma once

#include <rowan/sequence/sub_lod.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>

#include <vector>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end) {
    detail::check_range("sequences", begin, end, lod.sequences(level));
    std::vector<std::vector<std::int64_t>> levels;
    for (; level < lod.levels(); ++level) {
        auto const part = lod[level].subspan(begin, end - begin + 1);
        auto& offsets = levels.emplace_back(part.begin(), part.end());
        for (std::int64_t& offset : offsets) offset -= part.front();
        begin = static_cast<std::size_t>(part.front());
        end = static_cast<std::size_t>(part.back());
    }
    return {Lod(levels), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
}

}  // namespace rowan::inline v0

#endif
