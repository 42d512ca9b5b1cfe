// rowan/distributed/detail/agree_inl.hpp: the functions of agree.hpp.
#pragma once

#include <rowan/distributed/detail/agree.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/op/detail/dtype_text.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

namespace rowan::inline v0::detail {

inline constexpr std::size_t longest_remote_text = 511;

/// The text of an error, for the other ranks.
ROWAN_IF_CALLED inline std::string text_of(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

ROWAN_IF_CALLED inline std::vector<Notice> all_notices(ProcessGroup const& group, Notice const& mine) {
    std::vector<Notice> all(static_cast<std::size_t>(group.size()));
    group.allgather(std::as_bytes(std::span(&mine, 1)), bytes_of(all));
    return all;
}

/// Two numbers for what must be the same on all ranks. Their sums are those of equal numbers only if all are equal, but
/// for one case in 2^100, so that all ranks conclude the same.
ROWAN_IF_CALLED inline std::array<std::uint64_t, 2> hashes_of(Notice const& n, Told told) {
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
ROWAN_IF_CALLED inline bool all_agree(ProcessGroup const& group, Notice const& mine, Told told) {
    auto const hashes = hashes_of(mine, told);
    std::array<std::int64_t, 3> sums{mine.failed, static_cast<std::int64_t>(hashes[0]),
                                     static_cast<std::int64_t>(hashes[1])};
    group.sum(sums);
    auto const ranks = static_cast<std::uint64_t>(group.size());
    return sums[0] == 0 && static_cast<std::uint64_t>(sums[1]) == ranks * hashes[0] &&
           static_cast<std::uint64_t>(sums[2]) == ranks * hashes[1];
}

/// The notices that an agreement is about. Memory is allocated before ranks meet, so that none fails when others go on.
ROWAN_IF_CALLED inline std::vector<Notice> tell(ProcessGroup const& group, Notice const& mine, Told told) {
    if (group.size() <= group.few_ranks()) return all_notices(group, mine);
    using Own = std::array<std::int64_t, 4>;
    bool const every = told == Told::all;
    std::vector<Notice> all(every ? static_cast<std::size_t>(group.size()) : 1, mine);
    std::vector<Own> own(every ? all.size() : 0);
    if (!all_agree(group, mine, told)) return all_notices(group, mine);
    if (!every) return all;
    Own const words{mine.own[0], mine.own[1], mine.own[2], mine.number};
    group.allgather(bytes_of(words), bytes_of(own));
    for (std::size_t r = 0; r < own.size(); ++r) {
        all[r].own = {own[r][0], own[r][1], own[r][2]};
        all[r].number = own[r][3];
    }
    return all;
}

ROWAN_CALLED_FUNCTION std::vector<std::string> all_texts(ProcessGroup const& group, std::string_view mine) {
    return after_agreement(group, [&] {
        std::size_t const size = mine.size();
        std::vector<std::size_t> sizes(static_cast<std::size_t>(group.size()));
        group.allgather(std::as_bytes(std::span(&size, 1)), bytes_of(sizes));
        std::string all(total(sizes), '\0');
        group.allgatherv(1, std::as_bytes(std::span(mine)), bytes_of(all), sizes)->wait();
        std::vector<std::string> texts;
        for (std::size_t r = 0, at = 0; r < sizes.size(); at += sizes[r++]) texts.push_back(all.substr(at, sizes[r]));
        return texts;
    });
}

/// Tells the text of this rank's error, if it has one, to all, and throws.
ROWAN_IF_CALLED [[noreturn]] inline void throw_remote(ProcessGroup const& group, std::exception_ptr const& mine,
                                                      std::vector<Notice> const& all) {
    auto const texts = after_agreement(group, [&] {
        auto const text = mine ? text_of(mine) : std::string();
        return all_texts(group, std::string_view(text).substr(0, longest_remote_text));
    });
    if (mine) std::rethrow_exception(mine);
    auto const failed = std::ranges::find_if(all, [](Notice const& n) { return n.failed != 0; }) - all.begin();
    throw RemoteError(static_cast<int>(failed), texts[static_cast<std::size_t>(failed)]);
}

/// `rank 1`
ROWAN_IF_CALLED inline std::string rank_text(std::size_t rank) {
    return std::string("rank ").append(std::to_string(rank));
}

inline constexpr std::array collective_names{"together",
                                             "row_allreduce",
                                             "dense_allreduce",
                                             "ShardedTable",
                                             "ShardedKeyedTable",
                                             "find",
                                             "find_or_insert",
                                             "gather",
                                             "exchange",
                                             "exchange of a lookup",
                                             "get",
                                             "save",
                                             "load",
                                             "infer",
                                             "the end of infer",
                                             "train",
                                             "the load of options.checkpoint",
                                             "Trainer",
                                             "Trainer::step with tables by keys",
                                             "Trainer::step with sharded tables",
                                             "Trainer::step",
                                             "options.check_every",
                                             "on_batch or on_epoch",
                                             "the save of options.checkpoint",
                                             "the end of an epoch",
                                             "the end of train"};
static_assert(collective_names.size() == static_cast<std::size_t>(collective_of(TrainCall::end)) + 1);

ROWAN_CALLED_FUNCTION std::array<char, 80> expected_text(TrainCall call, std::int64_t step) {
    char const* part = nullptr;  // of a step
    if (call == TrainCall::keys) part = "keys";
    if (call == TrainCall::fetch) part = "fetch";
    if (call == TrainCall::step) part = "gradients";
    if (call == TrainCall::check) part = "options.check_every";
    std::array<char, 80> text;
    if (part != nullptr) {
        std::snprintf(text.data(), text.size(), "step %lld's %s", static_cast<long long>(step), part);
    } else {
        std::snprintf(text.data(), text.size(), "%s", collective_names[static_cast<std::size_t>(collective_of(call))]);
    }
    return text;
}

/// errors   Error if a rank's operation is another than that of rank 0
ROWAN_IF_CALLED inline void check_operation(std::size_t rank, Collective other, Collective first) {
    if (other == first) return;
    auto const is = [&](TrainCall c) { return other == collective_of(c) || first == collective_of(c); };
    if (is(TrainCall::epoch_end) && (is(TrainCall::keys) || is(TrainCall::fetch) || is(TrainCall::step)))
        throw Error({"train: ", rank_text(rank), " has another number of batches than rank 0"});
    throw Error(rank_text(rank)
                    .append(" calls ")
                    .append(collective_names[static_cast<std::size_t>(other)])
                    .append(" where rank 0 calls ")
                    .append(collective_names[static_cast<std::size_t>(first)]));
}

ROWAN_IF_CALLED inline void check_same(std::vector<Notice> const& all) {
    static constexpr std::array<char const*, 3> names{"the element type", "height", "the row size"};
    for (std::size_t r = 1; r < all.size(); ++r) {
        check_operation(r, all[r].operation, all[0].operation);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (all[r].same[i] == all[0].same[i]) continue;
            if (all[0].operation == Collective::get)
                throw Error(rank_text(r).append(
                    " ends another operation than rank 0: all call get(), or destroy what is pending, in one order"));
            if (all[0].operation >= Collective::train)
                throw Error(rank_text(r).append(" calls step of another Trainer than rank 0"));
            auto const text = [&](std::size_t rank) {
                auto const word = all[rank].same[i];
                return i == 0 ? dtype_text(static_cast<std::int32_t>(word)) : std::to_string(word);
            };
            throw ShapeError({names[i], " on ", rank_text(r)}, text(r), text(0).append(", as on rank 0"));
        }
    }
}

/// The first rank whose own[word] is not that of rank 0; 0: none.
ROWAN_IF_CALLED inline std::size_t first_other(std::vector<Notice> const& notices, std::size_t word) {
    for (std::size_t r = 1; r < notices.size(); ++r) {
        if (notices[r].own[word] != notices[0].own[word]) return r;
    }
    return 0;
}

ROWAN_CALLED_FUNCTION void check_same_number(std::vector<Notice> const& notices, std::size_t word, char const* what) {
    std::size_t const r = first_other(notices, word);
    if (r == 0) return;
    throw ShapeError({what, " on ", rank_text(r)}, notices[r].own[word], {notices[0].own[word], ", as on rank 0"});
}

ROWAN_CALLED_FUNCTION std::optional<RankDifference> difference(ProcessGroup const& group,
                                                               std::vector<Notice> const& notices, std::size_t word,
                                                               NamedValues const& mine) {
    std::size_t const r = first_other(notices, word);
    if (r == 0) return {};
    auto const texts = all_texts(group, mine.text());
    return RankDifference{first_difference(texts[0], texts[r]), r};
}

ROWAN_CALLED_FUNCTION void check_same_values(ProcessGroup const& group, std::vector<Notice> const& notices,
                                             std::size_t word, NamedValues const& mine) {
    auto const d = difference(group, notices, word, mine);
    if (!d) return;
    throw ShapeError({d->name, " on ", rank_text(d->rank)}, d->other, {d->first, ", as on rank 0"});
}

ROWAN_CALLED_FUNCTION std::vector<Notice> agree(ProcessGroup const& group, Collective operation, Told told,
                                                std::function<void(Notice&)> const& f) {
    static std::atomic<std::int64_t> numbers{0};
    Notice mine;
    mine.number = ++numbers;
    std::exception_ptr error;
    try {
        f(mine);
    } catch (...) {
        error = std::current_exception();
        mine.failed = 1;
    }
    mine.operation = operation;
    std::vector<Notice> all;
    try {
        all = after_agreement(group, [&] { return tell(group, mine, told); });
    } catch (RemoteError const&) {
        if (error) std::rethrow_exception(error);  // which has ended all ranks
        throw;
    }
    if (std::ranges::any_of(all, [](Notice const& n) { return n.failed != 0; })) throw_remote(group, error, all);
    check_same(all);
    return all;
}

ROWAN_CALLED_FUNCTION std::int64_t agree_on_values(ProcessGroup const& group, Collective operation,
                                                   std::function<void(NamedValues&)> const& f) {
    NamedValues mine;
    auto const notices = agree(group, operation, Told::all, [&](Notice& n) {
        f(mine);
        n.own[0] = mine.hash();
    });
    if (auto const d = difference(group, notices, 0, mine)) {
        throw Error({operation == Collective::infer ? "infer: " : "train: ", d->name, " is ", d->other, " on ",
                     rank_text(d->rank), ", ", d->first, " on rank 0"});
    }
    return notices[0].number;
}

ROWAN_CALLED_FUNCTION void farewell(ProcessGroup const& group) {
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
