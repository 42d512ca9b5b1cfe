// rowan/distributed/detail/shard_files_inl.hpp: the other functions of shard_files.hpp.
#pragma once

#include <rowan/distributed/detail/shard_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/naming_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION SectionReader::SectionReader(CheckpointFile const& file, std::string const& name, bool offsets)
    : reader_(OpenedFile::reader(file)), record_(reader_.record(reader_.find(name))),
      section_(offsets ? record_.sections[0] : record_.elements()), elements_(!offsets) {}

ROWAN_CALLED_FUNCTION void SectionReader::read(std::span<std::byte> to) {
    reader_.read_next(record_, section_, begin_, to, sum_);
    if (elements_) CheckpointEntry::check_elements(record_, to, section_.offset + begin_);
    begin_ += to.size();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE SavePlace::SavePlace(std::string const& path) {
    std::filesystem::path const whole(path);
    folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
    name = whole.filename().string();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::size_t entry_row_bytes(CheckpointEntry const& value) {
    std::size_t bytes = value.element_size;
    auto const& dims = tensor_of(value.desc).dims;
    for (std::size_t i = 1; i < dims.size(); ++i) bytes *= static_cast<std::size_t>(dims[i]);
    return bytes;
}

ROWAN_FUNCTION ROWAN_RARE SavedShards::SavedShards(std::string const& path, int rank, int ranks,
                                                   std::string const& files)
    : file(open_saved(path)), index(naming_file(path, [&] { return TableIndex(file); })), rank_(rank), ranks_(ranks),
      place_(path) {
    if (!files.empty()) place_.name = files;
    for (int f = rank; f < index.partition.ranks; f += ranks)
        files_.emplace(f, open_shard(index, place_.folder, place_.name, f));
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void SavedShards::share_values(ProcessGroup const& group) {
    std::string mine;
    if (auto const first = files_.find(0); first != files_.end()) {
        auto const& reader = OpenedFile::reader(first->second);
        if (!reader.places.empty())
            mine.assign(reinterpret_cast<char const*>(reader.descriptors.data()) + reader.places[0],
                        reader.descriptors.size() - static_cast<std::size_t>(reader.places[0]));
    }
    auto const texts = all_texts(group, mine);
    for (ByteReader reader(std::as_bytes(std::span(texts[0]))); reader.left() != 0;) {
        auto const r = read_record(reader, true);
        CheckpointEntry value;
        value.desc = r.desc;
        value.type_name = r.type_name;
        value.element_size = static_cast<std::size_t>(r.element_size);
        values_.emplace(r.desc.name, std::move(value));
    }
}

ROWAN_FUNCTION ROWAN_RARE CheckpointEntry const& SavedShards::value(std::string const& name,
                                                                    Partition const& own) const {
    auto const path = shard_path(0);
    auto const& found = saved_value(values_, path, name);
    auto const& desc = found.desc;
    auto const what = std::string(path).append(": ").append(name);
    auto const& dims = tensor_of(desc).dims;
    if (dims.empty() || levels_of(desc) != 0) throw FormatError(0, what, "is not rows of a table");
    if (desc.type == VarType::SELECTED_ROWS) {
        check_height(what, {.height = dims[0]}, own);
    } else if (dims[0] != index.partition_of(name, own.height).rows_of(0)) {
        throw FormatError(0, what, "has too many or too few rows");
    }
    return found;
}

/// Checks the row numbers of a SelectedRows in a file of a save.
inline void check_saved_rows(SectionReader reader, Partition const& saved, int f, std::string const& what) {
    std::array<std::int64_t, 4096> rows;
    std::int64_t const all = saved.rows_of(f);
    for (std::int64_t begin = 0; begin < all;) {
        auto const some = std::span(rows).first(
            static_cast<std::size_t>(std::min(all - begin, static_cast<std::int64_t>(rows.size()))));
        reader.read(std::as_writable_bytes(some));
        for (std::int64_t const row : some) {
            if (row != saved.global(f, begin++)) throw FormatError(0, what, "has other rows than its index says");
        }
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void SavedShards::check(ShardRows const& rows) const {
    auto const& like = value(rows.name, rows.own);
    Partition const from = index.partition_of(rows.name, rows.own.height);
    for (auto const& opened : files_) {
        int const f = opened.first;
        auto const& shard = opened.second;
        check_has(shard, rows.name);
        auto const& reader = OpenedFile::reader(shard);
        auto const r = reader.record(reader.find(rows.name));
        auto const what = std::string(shard.path()).append(": ").append(rows.name);
        auto dims = r.tensor().dims;
        if (!dims.empty()) dims[0] = tensor_of(like.desc).dims[0];
        if (r.desc.type != like.desc.type || r.tensor().data_type != tensor_of(like.desc).data_type ||
            r.type_name != like.type_name || r.element_size != like.element_size || r.levels() != 0 ||
            dims != tensor_of(like.desc).dims)
            throw FormatError(0, what, "is not as in the first file of the save");
        if (r.shape()[0] != static_cast<std::size_t>(from.rows_of(f)))
            throw FormatError(0, what, "has too many or too few rows");
        if (r.has_rows()) {
            check_height(what, {.height = r.tensor().dims[0]}, from);
            naming_file(shard.path(), [&] { check_saved_rows(SectionReader(shard, rows.name, true), from, f, what); });
        }
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::int64_t SavedShards::height(std::string const& name) const {
    auto const& first = values_.at(name);
    if (first.desc.type == VarType::SELECTED_ROWS) return tensor_of(first.desc).dims[0];
    if (index.partition.height != 0) return index.partition.height;
    std::int64_t rows = 0;
    for (auto const& opened : files_) {
        check_has(opened.second, name);
        auto const desc = opened.second.desc(name);
        auto const& dims = tensor_of(desc).dims;
        if (!dims.empty()) rows += dims[0];
    }
    return rows;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void SavedShards::each_piece(
    std::string const& name, std::size_t piece, std::function<void(std::span<std::byte const>)> const& f) const {
    std::size_t const unit = entry_row_bytes(values_.at(name));
    if (unit == 0) return;
    Partition const from = index.partition_of(name, height(name));
    auto const most = static_cast<std::int64_t>(std::max<std::size_t>(1, piece / unit));
    std::vector<SectionReader> sections;
    for (auto const& opened : files_) sections.emplace_back(opened.second, name);
    std::vector<std::byte> read, all;
    for (std::int64_t begin = 0, end = 0; begin < from.height; begin = end) {
        end = std::min(from.height, begin + most);
        all.resize(static_cast<std::size_t>(end - begin) * unit);
        for (auto const& opened : files_) {
            int const rank = opened.first;
            auto const rows_before = [&](std::int64_t row) {
                return Partition{row, from.block, from.ranks, from.first}.rows_of(rank);
            };
            std::int64_t const first = rows_before(begin), last = rows_before(end);
            if (first == last) continue;
            read.resize(static_cast<std::size_t>(last - first) * unit);
            naming_file(opened.second.path(), [&] { sections[static_cast<std::size_t>(rank)].read(read); });
            for (std::int64_t i = first, n = 0; i < last; i += n) {
                std::int64_t const row = from.global(rank, i);
                n = std::min(from.block - row % from.block, last - i);
                std::memcpy(all.data() + static_cast<std::size_t>(row - begin) * unit,
                            read.data() + static_cast<std::size_t>(i - first) * unit,
                            static_cast<std::size_t>(n) * unit);
            }
        }
        f(all);
    }
}

/// Rows [begin, end) of those of a file.
struct ShardPiece {
    int file = 0;
    std::int64_t begin = 0, end = 0;
};

/// How rows travel from the ranks that read the files of a save to those that have them: in rounds, in each of which a
/// rank deals a piece of a file. All ranks know all pieces.
struct ShardRounds {
    Partition from, own;
    std::int64_t rows;  // of a piece

    std::int64_t pieces(int file) const {
        std::int64_t const all = from.rows_of(file);
        return all / rows + (all % rows != 0);
    }
    std::int64_t count() const {
        std::int64_t most = 0;
        for (int r = 0; r < own.ranks; ++r) {
            std::int64_t n = 0;
            for (int f = r; f < from.ranks; f += own.ranks) n += pieces(f);
            most = std::max(most, n);
        }
        return most;
    }
    /// What a rank deals in a round: no rows when it has dealt all.
    ShardPiece piece(int rank, std::int64_t round) const {
        for (int f = rank; f < from.ranks; f += own.ranks) {
            std::int64_t const n = pieces(f);
            if (round < n) return {f, round * rows, std::min(from.rows_of(f), (round + 1) * rows)};
            round -= n;
        }
        return {};
    }
    /// Calls f(i, n, place): n rows of a piece, from its i-th on, are at this place and after it.
    template <class F>
    void each_run(ShardPiece const& p, F const& f) const {
        for (std::int64_t at = p.begin, n = 0; at < p.end; at += n) {
            std::int64_t const row = from.global(p.file, at);
            n = std::min({from.block - row % from.block, own.block - row % own.block, p.end - at});
            f(static_cast<std::size_t>(at - p.begin), static_cast<std::size_t>(n), own.place(row));
        }
    }
};

/// Where each rank's bytes begin.
inline std::vector<std::size_t> begins_of(std::span<std::size_t const> counts, std::size_t unit) {
    std::vector<std::size_t> begins(counts.size());
    for (std::size_t r = 1; r < counts.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1] * unit;
    return begins;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void SavedShards::deal(ProcessGroup const& group, ShardRows const& rows,
                                                        std::size_t piece, std::exception_ptr& damage) const {
    auto const keep = [&](auto const& f) {
        if (damage) return;
        try {
            f();
        } catch (...) {
            damage = std::current_exception();
        }
    };
    std::size_t const unit = entry_row_bytes(values_.at(rows.name));
    if (unit == 0) return;
    Partition const from = index.partition_of(rows.name, rows.own.height);
    if (from == rows.own) {
        auto const& mine = files_.at(rank_);
        keep([&] { naming_file(mine.path(), [&] { mine.load_into(rows.name, rows.to); }); });
        return;
    }
    int const readers = std::min(from.ranks, rows.own.ranks);
    ShardRounds const rounds{
        from, rows.own,
        static_cast<std::int64_t>(std::max<std::size_t>(1, piece / unit / static_cast<std::size_t>(readers)))};
    auto const me = static_cast<std::size_t>(rank_);
    std::vector<std::size_t> counts(static_cast<std::size_t>(ranks_)), came_counts(counts.size());
    std::vector<std::byte> read, send, came;
    std::optional<SectionReader> section;
    for (std::int64_t round = 0, all = rounds.count(); round < all; ++round) {
        ShardPiece const mine = rounds.piece(rank_, round);
        read.resize(static_cast<std::size_t>(mine.end - mine.begin) * unit);
        if (!read.empty()) {
            keep([&] {
                auto const& shard = files_.at(mine.file);
                if (mine.begin == 0) section.emplace(shard, rows.name);
                naming_file(shard.path(), [&] { section->read(read); });
            });
        }
        std::ranges::fill(counts, 0);
        std::ranges::fill(came_counts, 0);
        rounds.each_run(mine, [&](std::size_t, std::size_t n, Partition::Place place) {
            if (place.rank != rank_) counts[static_cast<std::size_t>(place.rank)] += n;
        });
        auto at = begins_of(counts, unit);
        send.resize(total(counts) * unit);
        rounds.each_run(mine, [&](std::size_t i, std::size_t n, Partition::Place place) {
            auto const r = static_cast<std::size_t>(place.rank);
            auto* const to =
                r == me ? rows.to.data() + static_cast<std::size_t>(place.local) * unit : send.data() + at[r];
            std::memcpy(to, read.data() + i * unit, n * unit);
            at[r] += n * unit;
        });
        auto const each_of_mine = [&](auto const& f) {
            for (int s = 0; s < readers; ++s) {
                if (s == rank_) continue;
                rounds.each_run(rounds.piece(s, round), [&](std::size_t, std::size_t n, Partition::Place place) {
                    if (place.rank == rank_) f(static_cast<std::size_t>(s), n, static_cast<std::size_t>(place.local));
                });
            }
        };
        each_of_mine([&](std::size_t s, std::size_t n, std::size_t) { came_counts[s] += n; });
        came.resize(total(came_counts) * unit);
        group.alltoallv(unit, send, counts, came, came_counts)->wait();
        auto const* next = came.data();
        each_of_mine([&](std::size_t, std::size_t n, std::size_t local) {
            std::memcpy(rows.to.data() + local * unit, next, n * unit);
            next += n * unit;
        });
    }
}

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
