// rowan/distributed/detail/saved_shards_inl.hpp: the functions of saved_shards.hpp.
#pragma once

#include <rowan/distributed/detail/saved_shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>
#include <rowan/io/detail/naming_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

namespace rowan::inline v0::detail {

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
inline void check_saved_rows(CheckpointReader const& reader, CheckpointRecord const& r, Partition const& saved, int f,
                             std::string const& what) {
    std::array<std::int64_t, 4096> rows;
    std::uint32_t sum = 0;
    std::int64_t const all = saved.rows_of(f);
    for (std::int64_t begin = 0; begin < all;) {
        auto const some = std::span(rows).first(
            static_cast<std::size_t>(std::min(all - begin, static_cast<std::int64_t>(rows.size()))));
        reader.read_next(r, r.rows(), static_cast<std::uint64_t>(begin) * sizeof(std::int64_t),
                         std::as_writable_bytes(some), sum);
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
            naming_file(shard.path(), [&] { check_saved_rows(reader, r, from, f, what); });
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
    std::vector<std::uint32_t> sums(files_.size());
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
            auto const& reader = OpenedFile::reader(opened.second);
            auto const r = reader.record(reader.find(name));
            naming_file(opened.second.path(), [&] {
                reader.read_next(r, r.elements(), static_cast<std::uint64_t>(first) * unit, read,
                                 sums[static_cast<std::size_t>(rank)]);
                CheckpointEntry::check_elements(r, read,
                                                r.elements().offset + static_cast<std::uint64_t>(first) * unit);
            });
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
    std::uint32_t sum = 0;
    for (std::int64_t round = 0, all = rounds.count(); round < all; ++round) {
        ShardPiece const mine = rounds.piece(rank_, round);
        read.resize(static_cast<std::size_t>(mine.end - mine.begin) * unit);
        if (!read.empty()) {
            keep([&] {
                auto const& shard = files_.at(mine.file);
                auto const& reader = OpenedFile::reader(shard);
                auto const r = reader.record(reader.find(rows.name));
                std::uint64_t const begin = static_cast<std::uint64_t>(mine.begin) * unit;
                if (begin == 0) sum = 0;
                naming_file(shard.path(), [&] {
                    reader.read_next(r, r.elements(), begin, read, sum);
                    CheckpointEntry::check_elements(r, read, r.elements().offset + begin);
                });
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

}  // namespace rowan::inline v0::detail

#endif
