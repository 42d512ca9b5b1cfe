// rowan/distributed/detail/shard_files_inl.hpp: the functions of shard_files.hpp.
#pragma once

#include <rowan/distributed/detail/shard_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE void add_places(NamedValues& same, std::string const& name,
                                                 Partition const& partition) {
    same.add(std::string("the rows in turn of ").append(name), partition.block);
    same.add(std::string("the first rank of ").append(name), std::int64_t{partition.first});
}

// An error may come after the index has been replaced. Then the save is whole, and no rank may remove its file: they look
// when all have been told.
ROWAN_CALLED_FUNCTION ROWAN_RARE void save_index(ProcessGroup const& group, std::string const& folder,
                                                 std::string const& name, std::int64_t number,
                                                 std::string const& previous, std::function<void()> const& save) {
    static_cast<void>(agree(group, Collective::save, [&](Notice&) {
        if (group.rank() != 0) return;
        save();
        remove_other_saves(folder, name, number, previous);
    }));
}

ROWAN_FUNCTION ROWAN_RARE std::vector<Notice> agree_on_load(ProcessGroup const& group, std::string const& path,
                                                            std::function<void(Notice&)> const& f) {
    std::exception_ptr damage;
    std::string text;
    auto notices = agree(group, Collective::load, [&](Notice& n) {
        try {
            f(n);
        } catch (FormatError const& e) {
            text = e.what();
            damage = std::current_exception();
            n.own[0] = 1;
        }
    });
    auto const bad = std::ranges::find_if(notices, [](Notice const& n) { return n.own[0] != 0; });
    if (bad != notices.end()) {
        auto const texts = all_texts(group, text);
        if (damage) std::rethrow_exception(damage);
        auto const r = static_cast<std::size_t>(bad - notices.begin());
        throw FormatError(0, path, {"cannot be loaded on rank ", r, ": ", texts[r]});
    }
    return notices;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void open_shards(ProcessGroup const& group, std::string const& path,
                                                  std::function<std::int64_t(Notice&)> const& f) {
    auto const notices = agree_on_load(group, path, [&](Notice& n) { n.own[1] = f(n); });
    check_same_number(notices, 2, "the number of the sharded table");
    for (auto const& n : notices) {
        if (n.own[1] != notices[0].own[1]) throw FormatError(0, path, "is not the same file on all ranks");
    }
}

ROWAN_FUNCTION ROWAN_RARE std::int64_t load_shards(
    ProcessGroup const& group, std::function<std::string(Notice&)> const& begin,
    std::function<std::vector<ShardRows>(SavedShards const&)> const& rows, std::size_t piece,
    std::string const& files) {
    std::string path;
    std::optional<SavedShards> saved;
    auto const open = [&](Notice& n) {
        path = begin(n);
        saved.emplace(path, group.rank(), group.size(), files);
        return static_cast<std::int64_t>(saved->file.id());
    };
    open_shards(group, path, std::cref(open));
    after_agreement(group, [&] { saved->share_values(group); });
    std::vector<ShardRows> all;
    NamedValues same;
    auto const check = [&](Notice& n) {
        all = rows(*saved);
        for (auto const& r : all) {
            saved->check(r);
            same.add(std::string("the height of ").append(r.name), r.own.height);
            add_places(same, r.name, r.own);
        }
        n.own[1] = same.hash();
    };
    auto const notices = agree_on_load(group, path, std::cref(check));
    check_same_values(group, notices, 1, same);
    std::exception_ptr damage;
    after_agreement(group, [&] {
        for (auto const& r : all) saved->deal(group, r, piece, damage);
    });
    auto const end = [&](Notice&) {
        if (damage) std::rethrow_exception(damage);
    };
    static_cast<void>(agree_on_load(group, path, std::cref(end)));
    return saved->index.step;
}

}  // namespace rowan::inline v0::detail

#endif
