// rowan/distributed/detail/shard_files_inl.hpp: the functions of shard_files.hpp.
#pragma once

#include <rowan/distributed/detail/shard_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstddef>
#include <exception>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void load_shards(ProcessGroup const& group, std::string const& path,
                                std::function<std::int64_t(Notice&)> const& f) {
    std::exception_ptr damage;
    auto const notices = agree(group, Collective::load, [&](Notice& n) {
        try {
            n.own[1] = f(n);
        } catch (FormatError const&) {
            damage = std::current_exception();
            n.own[0] = 1;
        }
    });
    for (std::size_t r = 0; r < notices.size(); ++r) {
        if (notices[r].own[0] == 0) continue;
        if (damage) std::rethrow_exception(damage);
        throw FormatError(0, path, std::string("cannot be loaded on rank ").append(std::to_string(r)));
    }
    for (auto const& n : notices) {
        if (n.own[1] != notices[0].own[1]) throw FormatError(0, path, "is not the same file on all ranks");
    }
}

}  // namespace rowan::inline v0::detail

#endif
