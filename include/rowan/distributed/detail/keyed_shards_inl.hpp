// rowan/distributed/detail/keyed_shards_inl.hpp: the functions of keyed_shards.hpp.
#pragma once

#include <rowan/distributed/detail/keyed_shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/key_fetch.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/keyed_table.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/key_index_contents.hpp>
#include <rowan/sparse/key_index_options.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_undamaged(std::string const& path, std::function<void()> const& f) {
    try {
        naming_file(path, f);
    } catch (IndexError const& e) {
        throw FormatError(0, path, e.what());
    } catch (ShapeError const& e) {
        throw FormatError(0, path, e.what());
    } catch (TypeError const& e) {
        throw FormatError(0, path, e.what());
    }
}

ROWAN_CALLED_FUNCTION std::size_t check_sizes(CheckpointFile const& file, KeyedList const& list) {
    auto const& reader = OpenedFile::reader(file);
    auto const record = [&](std::string const& name) { return reader.record(reader.find(name)); };
    auto const same_size = [](std::string const& name, std::uint64_t size, std::uint64_t want) {
        if (size != want) throw ShapeError(name, size, want);
    };
    auto const keys = record(list.keys);
    check_key_rank(list.keys, keys.tensor().dims.size());
    if (list.strings && keys.levels() != 1) throw ShapeError(list.keys, {keys.levels(), " levels of sequences"}, "1");
    auto const size = keys.sections[0].bytes / sizeof(std::int64_t) - (list.strings ? 1 : 0);
    if (!list.rows.empty()) same_size(list.rows, record(list.rows).elements().bytes / sizeof(std::int64_t), size);
    for (auto const& c : list.columns) {
        if (c.of_rows) continue;
        auto const uses = record(c.name);
        auto const& dims = uses.tensor().dims;
        if (dims.size() != 2 || dims[1] != 2) throw ShapeError({c.name, ".shape()"}, shape_text(dims), "[n, 2]");
        if (dims[0] != 0 || list.rows.empty()) same_size(c.name, static_cast<std::uint64_t>(dims[0]), size);
    }
    return static_cast<std::size_t>(size);
}

ROWAN_CALLED_FUNCTION KeyedReader::KeyedReader(CheckpointFile const& file, KeyedList const& list, int rank, int ranks)
    : list_(list), rank_(rank), ranks_(ranks), keys_(file, list.keys),
      row_bytes_((list.strings ? 3 : 2) * sizeof(std::int64_t)), keys_left_(keys_.left() / sizeof(std::int64_t)),
      text_left_(keys_.left()) {
    for (auto const& c : list.columns) {
        columns_.emplace_back(file, c.name);
        row_bytes_ += c.unit;
    }
    if (list.strings) {
        offsets_.emplace(file, list.keys, true);
        keys_left_ = offsets_->left() / sizeof(std::int64_t) - 1;
        std::int64_t first = 0;
        offsets_->read(std::as_writable_bytes(std::span(&first, 1)));
        if (first != 0) throw IndexError(list.keys, 0, "does not begin at 0");
    }
    height_ = static_cast<std::int64_t>(keys_left_);
    if (list.rows.empty()) return;
    rows_.emplace(file, list.rows);
    height_ = tensor_of(file.desc(list.columns.back().name)).dims[0];
}

ROWAN_FUNCTION KeyedPiece KeyedReader::next(std::size_t bytes, int owners) {
    auto const most = static_cast<std::int64_t>(std::max<std::size_t>(1, bytes / row_bytes_));
    std::int64_t end = begin_ + std::min(most, height_ - begin_);
    fill(static_cast<std::size_t>(end - begin_));
    std::size_t n = 0, text = 0;
    for (; n < ahead_.size() && ahead_[n] < end; ++n) {
        if (!list_.strings) continue;
        if (n != 0 && text + lengths_[n] > bytes) {
            end = ahead_[n - 1] + 1;
            break;
        }
        text += lengths_[n];
    }
    KeyedPiece piece;
    piece.keys.resize(list_.strings ? text : n * sizeof(std::int64_t));
    keys_.read(piece.keys);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        auto const& column = list_.columns[c];
        std::vector<std::byte> values((column.of_rows ? static_cast<std::size_t>(end - begin_) : n) * column.unit);
        if (columns_[c].left() == 0) values.clear();  // there are no uses
        columns_[c].read(values);
        if (column.wanted) piece.columns.push_back(std::move(values));
    }
    take(n, owners, piece);
    begin_ = end;
    return piece;
}

/// Makes n keys ready, or as many as there are.
ROWAN_CALLED_FUNCTION void KeyedReader::fill(std::size_t n) {
    std::size_t const have = ahead_.size(),
                      more = static_cast<std::size_t>(std::min<std::uint64_t>(n - std::min(n, have), keys_left_));
    ahead_.resize(have + more);
    auto const rows = std::span(ahead_).subspan(have);
    if (rows_) {
        rows_->read(std::as_writable_bytes(rows));
        check_ascending(list_.rows.c_str(), rows, least_, height_, first_ + have);
    } else {
        std::iota(rows.begin(), rows.end(), least_);
    }
    if (more != 0) least_ = rows.back() + 1;
    keys_left_ -= more;
    if (list_.strings) fill_lengths(more, first_ + have);
}

ROWAN_CALLED_FUNCTION void KeyedReader::fill_lengths(std::size_t n, std::size_t first) {
    constexpr std::size_t longest = KeyIndex<std::string>::longest_key;
    std::vector<std::int64_t> ends(n);
    if (n != 0) offsets_->read(std::as_writable_bytes(std::span(ends)));
    for (std::size_t i = 0; i < n; ++i) {
        auto const length = static_cast<std::uint64_t>(ends[i]) - static_cast<std::uint64_t>(offset_);
        if (ends[i] < offset_ || length > text_left_)
            throw IndexError(list_.keys, first + i, "does not end in the text of the keys");
        if (length > longest)
            throw IndexError(list_.keys, first + i, {"has ", length, " bytes, the most are ", longest});
        lengths_.push_back(static_cast<std::uint16_t>(length));
        text_left_ -= length;
        offset_ = ends[i];
    }
    if (keys_left_ == 0 && text_left_ != 0)
        throw IndexError(list_.keys, IndexError::no_position, "has text after the last key");
}

/// Takes the first n of the keys that are ready, whose text the piece has.
ROWAN_CALLED_FUNCTION void KeyedReader::take(std::size_t n, int owners, KeyedPiece& piece) {
    auto const* text = piece.keys.data();
    auto const add = [&](auto const& key, std::size_t i) {
        if (key_owner(key, ranks_) != rank_) throw IndexError(list_.keys, first_ + i, "is the key of another rank");
        piece.owners.push_back(key_owner(key, owners));
        piece.rows.push_back(static_cast<std::size_t>(ahead_[i] - begin_));
    };
    for (std::size_t i = 0; i < n; ++i) {
        if (list_.strings) {
            add(std::string_view(reinterpret_cast<char const*>(text), lengths_[i]), i);
            text += lengths_[i];
        } else {
            std::int64_t key = 0;
            std::memcpy(&key, text, sizeof key);
            add(key, i);
            text += sizeof key;
        }
    }
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(n));
    if (list_.strings) {
        auto const end = lengths_.begin() + static_cast<std::ptrdiff_t>(n);
        piece.lengths.assign(lengths_.begin(), end);
        lengths_.erase(lengths_.begin(), end);
    }
    first_ += n;
}

ROWAN_FUNCTION std::size_t DealtKeys::size() const {
    std::size_t n = 0;
    for (auto const& part : parts_) n += part.size;
    return n;
}

ROWAN_CALLED_FUNCTION void DealtKeys::copy(std::size_t column, std::byte* to) const {
    for (auto const& part : parts_) {
        auto const& round = rounds_[part.round];
        auto const& all = round.columns[column];
        std::size_t const unit = all.size() / round.size;
        if (unit == 0) continue;
        std::memcpy(to, all.data() + part.at * unit, part.size * unit);
        to += part.size * unit;
    }
}

ROWAN_CALLED_FUNCTION std::vector<std::string> DealtKeys::texts() const {
    std::vector<std::string> texts;
    texts.reserve(size());
    for (auto const& part : parts_) {
        auto const& round = rounds_[part.round];
        auto const* text = reinterpret_cast<char const*>(round.text.data()) + part.text_at;
        for (std::size_t i = 0; i < part.size; ++i) {
            std::uint16_t length = 0;
            std::memcpy(&length, round.columns[keys].data() + (part.at + i) * sizeof length, sizeof length);
            texts.emplace_back(text, length);
            text += length;
        }
    }
    return texts;
}

/// What a rank sends: parts of a piece, ordered by ranks.
class KeyedMessage : public ByRank {
public:
    std::vector<std::size_t> texts;  // for each rank: bytes of text

    KeyedMessage(KeyedPiece const& piece, std::size_t ranks)
        : ByRank(piece.owners, ranks), texts(ranks), piece_(piece) {
        for (std::size_t i = 0; i < piece.lengths.size(); ++i)
            texts[static_cast<std::size_t>(piece.owners[i])] += piece.lengths[i];
    }

    /// Elements of `unit` bytes: element i of the keys, or of their rows.
    std::vector<std::byte> column(std::span<std::byte const> all, std::size_t unit, bool of_rows) const {
        std::vector<std::byte> sent(order.size() * unit);
        for (std::size_t k = 0; k < order.size() && unit != 0; ++k) {
            std::size_t const from = of_rows ? piece_.rows[order[k]] : order[k];
            std::memcpy(sent.data() + k * unit, all.data() + from * unit, unit);
        }
        return sent;
    }
    std::vector<std::byte> text() const {
        std::vector<std::size_t> begins(piece_.lengths.size());
        std::exclusive_scan(piece_.lengths.begin(), piece_.lengths.end(), begins.begin(), std::size_t{0});
        std::vector<std::byte> sent(total(texts));
        auto* to = sent.data();
        for (std::size_t const i : order) to = std::copy_n(piece_.keys.data() + begins[i], piece_.lengths[i], to);
        return sent;
    }

private:
    KeyedPiece const& piece_;
};

ROWAN_CALLED_FUNCTION DealtKeys::DealtKeys(ProcessGroup const* group, SavedShards const& saved, KeyedList const& list,
                                           std::size_t piece, std::exception_ptr& damage) {
    int const ranks = group == nullptr ? 1 : saved.ranks();
    auto const others = static_cast<std::size_t>(ranks);
    auto file = saved.files().begin();
    std::optional<KeyedReader> reader;
    auto const next = [&](KeyedPiece& mine) {
        check_undamaged(file->second.path(), [&] {
            if (!reader) reader.emplace(file->second, list, file->first, saved.index.partition.ranks);
            mine = reader->next(piece, ranks);
        });
        mine.file = static_cast<std::size_t>(file->first);
        if (!reader->done()) return;
        reader.reset();
        ++file;
    };
    for (bool more = true; more;) {
        KeyedPiece mine;
        if (!damage && file != saved.files().end()) {
            try {
                next(mine);
            } catch (...) {
                damage = std::current_exception();
            }
        }
        KeyedMessage const message(mine, others);
        more = !damage && file != saved.files().end();
        std::vector<std::size_t> words;
        for (std::size_t r = 0; r < others; ++r)
            words.insert(words.end(), {message.counts[r], message.texts[r], mine.file, more ? 1U : 0U});
        if (group != nullptr) words = exchange_counts(*group, words);
        std::size_t const number = rounds_.size();
        std::vector<std::size_t> counts, texts;
        Round round;
        std::size_t text = 0;
        for (std::size_t r = 0; r < others; ++r) {
            auto const* const said = words.data() + r * 4;
            if (said[0] != 0) parts_.push_back({said[2], number, round.size, said[0], text});
            round.size += said[0];
            text += said[1];
            counts.push_back(said[0]);
            texts.push_back(said[1]);
            more = more || said[3] != 0;
        }
        auto const exchange = [&](std::size_t unit, std::vector<std::byte>&& sent, std::vector<std::size_t> const& send,
                                  std::vector<std::size_t> const& receive) {
            if (group == nullptr || unit == 0) return std::move(sent);
            std::vector<std::byte> came(total(receive) * unit);
            group->alltoallv(unit, sent, send, came, receive)->wait();
            return came;
        };
        auto const add = [&](std::span<std::byte const> all, std::size_t unit, bool of_rows) {
            round.columns.push_back(exchange(unit, message.column(all, unit, of_rows), message.counts, counts));
        };
        if (list.strings) {
            add(bytes_of(std::as_const(mine.lengths)), sizeof(mine.lengths[0]), false);
            round.text = exchange(1, message.text(), message.texts, texts);
        } else {
            add(mine.keys, sizeof(std::int64_t), false);
        }
        std::size_t wanted = 0;
        for (auto const& c : list.columns) {
            if (!c.wanted) continue;
            add(mine.columns.empty() ? std::span<std::byte const>() : mine.columns[wanted], c.unit, c.of_rows);
            ++wanted;
        }
        if (round.size != 0) rounds_.push_back(std::move(round));
    }
    std::ranges::stable_sort(parts_, {}, &Part::file);
}

ROWAN_CALLED_FUNCTION KeyedShards::KeyedShards(std::string const& path, int rank, int ranks, bool strings, bool uses,
                                               std::size_t width)
    : SavedShards(path, rank, ranks),
      step(std::numeric_limits<std::int64_t>::min()), row_list_{"rows.keys",
                                                                "rows.rows",
                                                                strings,
                                                                {{"rows.uses", sizeof(KeyUses), false, uses},
                                                                 {"rows", width, true, true}}},
      seen_list_{"rows.seen", "", strings, {{"rows.sightings", sizeof(KeyUses), false, true}}} {}

ROWAN_CALLED_FUNCTION void KeyedShards::add_state(std::string const& name, std::size_t width) {
    row_list_.columns.push_back({std::string("state ").append(name), width, true, true});
}

/// Checks the rows of a file with so many keys.
/// errors   ShapeError
inline void check_heights(CheckpointFile const& file, KeyedList const& list, std::size_t keys) {
    auto const height_of = [&](KeyedColumn const& c) { return tensor_of(file.desc(c.name)).dims[0]; };
    auto const& rows = list.columns[1];
    std::int64_t const height = height_of(rows);
    bool const most = rows.unit == 0;  // the file has no elements that bound the height
    if (std::cmp_greater(keys, height) || (most && std::cmp_less(keys, height)))
        throw ShapeError({rows.name, ".shape(0)"}, height, {most ? "" : "at least ", keys, ", the number of keys"});
    for (auto const& c : std::span(list.columns).subspan(2)) {
        if (height_of(c) != height) throw FormatError(0, file.path(), {"has other rows of `", c.name, "`"});
    }
}

/// errors   ShapeError if there are keys without uses
inline void check_uses(VarDesc const& rows, VarDesc const& uses) {
    auto const &keys = tensor_of(rows).dims, &of_keys = tensor_of(uses).dims;
    if (of_keys.empty() || of_keys[0] != 0 || keys.empty() || keys[0] == 0) return;
    throw ShapeError("uses.size()", "0", keys[0]);
}

ROWAN_CALLED_FUNCTION void KeyedShards::check() {
    auto const& uses = row_list_.columns[0];
    auto const& first = values();
    if (uses.wanted && !first.empty()) check_uses(first.at(row_list_.rows).desc, first.at(uses.name).desc);
    for (auto const& opened : files()) {
        auto const& file = opened.second;
        check_undamaged(file.path(), [&] {
            auto const steps = file.load<Tensor<std::int64_t>>("rows.step");
            if (steps.size() != 1) throw ShapeError("rows.step", {steps.size(), " numbers"}, "1");
            step = std::max(step, steps.data()[0]);
            check_heights(file, row_list_, check_sizes(file, row_list_));
            check_sizes(file, seen_list_);
        });
        if (uses.wanted) check_uses(file.desc(row_list_.rows), file.desc(uses.name));
    }
}

ROWAN_CALLED_FUNCTION void KeyedShards::deal(ProcessGroup const* group, std::size_t piece, std::exception_ptr& damage) {
    rows = DealtKeys(group, *this, row_list_, piece, damage);
    seen = DealtKeys(group, *this, seen_list_, piece, damage);
}

}  // namespace rowan::inline v0::detail

#endif
