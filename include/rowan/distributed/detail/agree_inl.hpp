// rowan/distributed/detail/agree_inl.hpp: the functions of agree.hpp.
#pragma once

#include <rowan/distributed/detail/agree.hpp>

#include <algorithm>
#include <cstring>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

inline constexpr std::size_t longest_remote_text = 512;

/// The text of an error, for the other ranks.
inline std::string text_of(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

inline std::vector<Notice> all_notices(ProcessGroup const& group, Notice const& mine) {
    std::vector<Notice> all(static_cast<std::size_t>(group.size()));
    group.allgather(std::as_bytes(std::span(&mine, 1)), bytes_of(all));
    return all;
}

/// Two numbers for what must be the same on all ranks. Their sums are those of equal numbers only if all are equal, but
/// for one case in 2^100, so that all ranks conclude the same.
inline std::array<std::uint64_t, 2> hashes_of(Notice const& n, Told told) {
    std::array<std::uint64_t, 2> hashes{0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU};
    auto const add = [&](std::int64_t word) {
        for (auto& h : hashes) {
            h = (h ^ static_cast<std::uint64_t>(word)) * (h | 1);
            h ^= h >> 29;
        }
    };
    add(static_cast<std::int64_t>(n.operation));
    for (auto const word : n.same) add(word);
    for (auto const word : n.own) add(told == Told::all ? 0 : word);
    return hashes;
}

/// Whether no rank has thrown or ended, and what must be the same is.
inline bool all_agree(ProcessGroup const& group, Notice const& mine, Told told) {
    auto const hashes = hashes_of(mine, told);
    std::array<std::int64_t, 3> sums{mine.failed, static_cast<std::int64_t>(hashes[0]),
                                     static_cast<std::int64_t>(hashes[1])};
    group.sum(sums);
    auto const ranks = static_cast<std::uint64_t>(group.size());
    return sums[0] == 0 && static_cast<std::uint64_t>(sums[1]) == ranks * hashes[0] &&
           static_cast<std::uint64_t>(sums[2]) == ranks * hashes[1];
}

/// The notices that an agreement is about.
inline std::vector<Notice> tell(ProcessGroup const& group, Notice const& mine, Told told) {
    if (group.size() <= group.few_ranks() || !all_agree(group, mine, told)) return all_notices(group, mine);
    if (told == Told::differences) return {mine};
    std::vector<std::array<std::int64_t, 3>> own(static_cast<std::size_t>(group.size()));
    group.allgather(bytes_of(mine.own), bytes_of(own));
    std::vector<Notice> all(own.size(), mine);
    for (std::size_t r = 0; r < own.size(); ++r) all[r].own = own[r];
    return all;
}

/// Tells the text of this rank's error, if it has one, to all, and throws.
[[noreturn]] inline void throw_remote(ProcessGroup const& group, std::exception_ptr const& mine,
                                      std::vector<Notice> const& all) {
    std::vector<char> texts;
    after_agreement(group, [&] {
        std::vector<char> text(longest_remote_text);
        texts.resize(text.size() * all.size());
        if (mine) std::strncpy(text.data(), text_of(mine).c_str(), text.size() - 1);
        group.allgather(bytes_of(text), bytes_of(texts));
    });
    if (mine) std::rethrow_exception(mine);
    auto const failed = std::ranges::find_if(all, [](Notice const& n) { return n.failed != 0; }) - all.begin();
    throw RemoteError(static_cast<int>(failed), texts.data() + longest_remote_text * static_cast<std::size_t>(failed));
}

inline void check_same(std::vector<Notice> const& all) {
    static constexpr std::array<char const*, 9> operations{
        "together", "row_allreduce", "dense_allreduce", "ShardedTable", "gather", "exchange", "load", "train", "infer"};
    static constexpr std::array<char const*, 3> names{"the element type", "height", "the row size"};
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (all[r].operation != all[0].operation)
            throw Error(std::string("rank ")
                            .append(std::to_string(r))
                            .append(" calls ")
                            .append(operations[static_cast<std::size_t>(all[r].operation)])
                            .append(" where rank 0 calls ")
                            .append(operations[static_cast<std::size_t>(all[0].operation)]));
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (all[r].same[i] == all[0].same[i]) continue;
            throw ShapeError(std::string(names[i]).append(" on rank ").append(std::to_string(r)),
                             std::to_string(all[r].same[i]), std::to_string(all[0].same[i]).append(", as on rank 0"));
        }
    }
}

/// The first rank whose own[word] is not that of rank 0; 0: none.
inline std::size_t first_other(std::vector<Notice> const& notices, std::size_t word) {
    for (std::size_t r = 1; r < notices.size(); ++r) {
        if (notices[r].own[word] != notices[0].own[word]) return r;
    }
    return 0;
}

ROWAN_FUNCTION void check_same_number(std::vector<Notice> const& notices, std::size_t word, char const* what) {
    std::size_t const r = first_other(notices, word);
    if (r == 0) return;
    throw ShapeError(std::string(what).append(" on rank ").append(std::to_string(r)),
                     std::to_string(notices[r].own[word]),
                     std::to_string(notices[0].own[word]).append(", as on rank 0"));
}

ROWAN_FUNCTION void check_same_hash(std::vector<Notice> const& notices, std::size_t word, char const* what) {
    std::size_t const r = first_other(notices, word);
    if (r == 0) return;
    throw ShapeError(std::string(what).append(" of rank ").append(std::to_string(r)), "another", "that of rank 0");
}

ROWAN_FUNCTION std::vector<Notice> agree(ProcessGroup const& group, Collective operation, Told told,
                                         std::function<void(Notice&)> const& f) {
    Notice mine;
    std::exception_ptr error;
    try {
        f(mine);
    } catch (...) {
        error = std::current_exception();
        mine.failed = 1;
    }
    mine.operation = operation;
    auto all = after_agreement(group, [&] { return tell(group, mine, told); });
    if (std::ranges::any_of(all, [](Notice const& n) { return n.failed != 0; })) throw_remote(group, error, all);
    check_same(all);
    return all;
}

ROWAN_FUNCTION void farewell(ProcessGroup const& group) {
    for (;;) {
        Notice mine;
        mine.failed = 2;
        auto const all = tell(group, mine, Told::all);
        if (std::ranges::all_of(all, [](Notice const& n) { return n.failed == 2; })) return;
        try {
            throw_remote(group, std::make_exception_ptr(Error("has ended, where others go on")), all);
        } catch (Error const&) {
        }
    }
}

}  // namespace rowan::inline v0::detail

#endif
