// rowan/distributed/detail/keyed_reader_inl.hpp: the functions of keyed_reader.hpp.
#pragma once

#include <rowan/distributed/detail/keyed_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/key_fetch.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/keyed_table.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/key_index_contents.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
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

ROWAN_CALLED_FUNCTION SectionReader::SectionReader(CheckpointFile const& file, std::string const& name, bool offsets)
    : reader_(OpenedFile::reader(file)), record_(reader_.record(reader_.find(name))),
      section_(offsets ? record_.sections[0] : record_.elements()), elements_(!offsets) {}

ROWAN_CALLED_FUNCTION void SectionReader::read(std::span<std::byte> to) {
    reader_.read_next(record_, section_, begin_, to, sum_);
    if (elements_) CheckpointEntry::check_elements(record_, to, section_.offset + begin_);
    begin_ += to.size();
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

}  // namespace rowan::inline v0::detail

#endif
