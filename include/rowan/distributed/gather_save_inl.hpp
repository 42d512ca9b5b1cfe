// rowan/distributed/gather_save_inl.hpp: the functions of gather_save.hpp and scatter_save.hpp.
#pragma once

#include <rowan/distributed/gather_save.hpp>
#include <rowan/distributed/scatter_save.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/detail/safetensors_text.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/safetensors.hpp>
#include <rowan/sparse/partition.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The values of a save, for one process that reads all files.
struct GatheredSave {
    struct Part {
        char const* kind;
        CheckpointEntry value;  // of all rows; without elements if they are sharded
    };

    explicit GatheredSave(std::string const& save) : shards(save, 0, 1) {
        shards.share_values(GroupOf<Self>(Self()));
        for (auto const& [name, first] : shards.values()) {
            std::int64_t const height = shards.height(name);
            shards.check({name, {.height = height}, {}});
            Part part{"table", first};
            if (auto& tensor = part.value.desc.lod_desc) {
                part.kind = "sharded";
                tensor->tensor.dims[0] = height;
            }
            parts.emplace(name, std::move(part));
        }
        for (auto const& name : shards.file.names()) {
            if (TableIndex::has_name(name)) continue;
            auto value = naming_file(shards.file.path(), [&] { return shards.file.load(name); });
            check_whole(value);
            char const* const kind = value.desc.type == VarType::SELECTED_ROWS ? "whole_table" : "whole";
            if (!parts.emplace(name, Part{kind, std::move(value)}).second)
                throw FormatError(0, save, {"has `", name, "` twice: sharded and whole"});
        }
    }

    /// Writes the elements of a value.
    void write(std::string const& name, AtomicFile<>& file) const {
        static constexpr std::size_t piece = std::size_t{16} << 20;
        if (!shards.values().contains(name)) return file.write(parts.at(name).value.elements);
        shards.each_piece(name, piece, [&](std::span<std::byte const> rows) { file.write(rows); });
    }

    SavedShards shards;
    std::map<std::string, Part> parts;

private:
    /// errors   ShapeError if it has levels; TypeError unless a SelectedRows has all rows in order
    static void check_whole(CheckpointEntry const& value) {
        if (!value.lod->empty()) throw ShapeError({value.desc.name, ".lod().levels()"}, value.lod->levels(), "0");
        if (value.desc.type != VarType::SELECTED_ROWS) return;
        auto const& rows = *value.rows;
        bool all = std::cmp_equal(rows.size(), tensor_of(value.desc).dims[0]);
        for (std::size_t i = 0; all && i < rows.size(); ++i) all = std::cmp_equal(rows.data()[i], i);
        if (!all)
            throw TypeError(value.desc.name, "a SelectedRows of some rows", "one of all rows, in order, or a tensor");
    }
};

/// What a save has, in one file.
struct WholeSave {
    std::map<std::string, CheckpointEntry> sharded, whole;  // of all rows; the elements are mapped
    std::int64_t block = 64, step = 0;

    /// Adds a value of which all but kind and name is known.
    void add(std::string const& name, std::string_view kind, CheckpointEntry value) {
        if (TableIndex::has_name(name)) throw FormatError(0, name, "is a name that the index of a save has itself");
        value.desc.name = name;
        value.desc.persistable = true;
        value.check();
        bool const rows = kind.ends_with("table");
        auto const& dims = value.desc.lod_desc->tensor.dims;
        if (dims.empty() && (rows || kind == "sharded")) throw ShapeError({name, " rank"}, "0", "at least 1");
        if (rows && value.elements.empty() && dims[0] != 0) throw FormatError(0, name, "has rows without elements");
        if (rows) {
            value.desc.type = VarType::SELECTED_ROWS;
            value.desc.selected_rows_desc = std::move(value.desc.lod_desc->tensor);
            value.desc.lod_desc.reset();
        }
        if (kind == "whole_table") value.rows = numbers_of_rows(tensor_of(value.desc).dims[0], 1, 0);
        (kind.starts_with("whole") ? whole : sharded).emplace(name, std::move(value));
    }
    /// The rows of all that is sharded, or 0 if they differ.
    std::int64_t height() const {
        std::int64_t rows = 0;
        for (auto const& v : sharded) {
            auto const own = tensor_of(v.second.desc).dims[0];
            if (&v != &*sharded.begin() && own != rows) return 0;
            rows = own;
        }
        return rows;
    }
    /// Checks that states have as many rows as their tables; and that all have, if it is the save of one table.
    void check_heights(bool one_table) const {
        for (auto const& [name, value] : sharded) {
            auto const table = one_table ? sharded.begin() : table_of(name);
            if (table == sharded.end()) continue;
            std::int64_t const rows = tensor_of(value.desc).dims[0], expected = tensor_of(table->second.desc).dims[0];
            if (rows != expected) throw ShapeError({name, ".shape(0)"}, rows, {expected, ", that of ", table->first});
        }
    }
    /// What a rank has of a value. The elements are any of that size.
    CheckpointEntry part(CheckpointEntry const& all, int ranks, int rank) const {
        auto const own = partition(all, ranks);
        CheckpointEntry mine = all;
        std::int64_t const rows = own.rows_of(rank);
        if (mine.desc.lod_desc) {
            mine.desc.lod_desc->tensor.dims[0] = rows;
        } else {
            mine.rows = numbers_of_rows(own.height, ranks, rank);
        }
        mine.elements = all.elements.first(static_cast<std::size_t>(rows) * entry_row_bytes(all));
        return mine;
    }
    /// Calls f with the rows of a rank.
    void each_piece(CheckpointEntry const& all, int ranks, int rank,
                    std::function<void(std::span<std::byte const>)> const& f) const {
        auto const own = partition(all, ranks);
        std::size_t const unit = entry_row_bytes(all);
        std::int64_t const rows = unit == 0 ? 0 : own.rows_of(rank);
        for (std::int64_t i = 0, n = 0; i < rows; i += n) {
            std::int64_t const row = own.global(rank, i);
            n = std::min(block - row % block, rows - i);
            f(all.elements.subspan(static_cast<std::size_t>(row) * unit, static_cast<std::size_t>(n) * unit));
        }
    }

private:
    /// The table of a state, whose name begins with that of the table and an @; that of a ShardedTable's is "state <name>".
    std::map<std::string, CheckpointEntry>::const_iterator table_of(std::string const& name) const {
        if (name.starts_with("state ")) return sharded.find("rows");
        auto const end = name.find('@');
        return end == std::string::npos ? sharded.end() : sharded.find(name.substr(0, end));
    }
    Partition partition(CheckpointEntry const& all, int ranks) const {
        return {.height = tensor_of(all.desc).dims[0], .block = block, .ranks = ranks};
    }
    Tensor<std::int64_t> numbers_of_rows(std::int64_t rows, int ranks, int rank) const {
        auto const all = rows_of_rank({.height = rows, .block = block, .ranks = ranks}, rank);
        return Tensor<std::int64_t>::from_values({all.size()}, all);
    }
};

/// A tensor of a file, without name, of the type that type(T) is true for, or of none.
template <class Is>
std::optional<CheckpointEntry> mapped_entry(std::vector<std::int64_t> dims, Is const& is) {
    std::optional<CheckpointEntry> entry;
    for (auto const& t : safetensors_types) {
        with_safetensors_type(t.name, [&]<class T>(T x) {
            if (entry || !is(x)) return;
            entry.emplace();
            entry->desc.lod_desc = LodTensorDesc{{dtype<T>::wire, dims}, 0};
            entry->type_name = dtype<T>::name;
            entry->element_size = sizeof(T);
        });
    }
    return entry;
}

inline void map_elements(CheckpointEntry& entry, InputFile const& file, std::uint64_t offset, std::uint64_t bytes) {
    auto memory = file.map(offset, static_cast<std::size_t>(bytes));
    entry.elements = {memory.get(), static_cast<std::size_t>(bytes)};
    entry.memory = std::move(memory);
}

inline WholeSave whole_npy(std::string const& path) {
    InputFile const file(path);
    FileReader in(file);
    NpyHeader const header = read_npy_header(in);
    if (header.fortran_order) throw FormatError(0, path, "is in Fortran's order");
    auto entry = mapped_entry({header.shape.begin(), header.shape.end()},
                              [&]<class T>(T) { return is_npy_type<T>(header.type); });
    if (!entry) throw TypeError(path, header.type, "an element type of rowan's");
    std::uint64_t const begin = in.position();
    std::uint64_t const bytes = checked_size("the shape", header.shape, entry->element_size) * entry->element_size;
    if (bytes != in.left()) throw FormatError(begin, path, {"has ", in.left(), " bytes of elements, expected ", bytes});
    map_elements(*entry, file, begin, bytes);
    WholeSave save;
    save.add("rows", "sharded", std::move(*entry));
    return save;
}

/// The number at the begin of a text, which is removed with the space after it.
inline bool take_number(std::string_view& text, std::int64_t& x) {
    auto const end = std::from_chars(text.data(), text.data() + text.size(), x);
    if (end.ec != std::errc{} || x < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    return true;
}

inline WholeSave whole_safetensors(std::string const& path) {
    SafetensorsFile const file(path);
    auto const metadata = file.metadata();
    WholeSave save;
    auto const wrong = [&](std::string const& key) { return FormatError(0, path, {"has wrong metadata `", key, "`"}); };
    auto const about = metadata.find("rowan.save");
    if (about != metadata.end()) {
        std::string_view text = about->second;
        if (!take_number(text, save.block) || !take_number(text, save.step) || !text.empty() || save.block < 1)
            throw wrong(about->first);
    }
    for (auto const& name : file.names()) {
        auto there = file.entry(name);
        auto entry = mapped_entry(there.shape, [&]<class T>(T) { return safetensors_type<T>() == there.dtype; });
        std::string_view kind = "sharded", type;
        if (auto const at = metadata.find("rowan:" + name); at != metadata.end()) {
            type = at->second;
            kind = type.substr(0, type.find(' '));
            type.remove_prefix(std::min(type.size(), kind.size() + 1));
            bool right = kind == "sharded" || kind == "table" || kind == "whole" || kind == "whole_table";
            std::int64_t wire = 0, size = 0;
            if (right && !type.empty()) right = take_number(type, wire) && take_number(type, size);
            bool const known = entry && tensor_of(entry->desc).data_type == wire && entry->type_name == type;
            if (right && !type.empty() && !known) {
                right = there.dtype == "U8" && !there.shape.empty() && there.shape.back() == size &&
                        std::in_range<std::int32_t>(wire);
                if (!right) throw wrong(at->first);
                there.shape.pop_back();
                entry->desc.lod_desc->tensor = {static_cast<std::int32_t>(wire), there.shape};
                entry->type_name = type;
                entry->element_size = static_cast<std::size_t>(size);
            }
            if (!right) throw wrong(at->first);
        }
        if (!entry) throw TypeError({path, ": ", name}, there.dtype, "an element type of rowan's");
        map_elements(*entry, *OpenedFile::of(file), there.offset, there.bytes);
        save.add(name, kind, std::move(*entry));
    }
    save.check_heights(about == metadata.end());
    return save;
}

inline WholeSave whole_save(std::string const& path) {
    std::array<std::byte, npy_magic.size()> begin{};
    {
        InputFile const file(path);
        file.read(0,
                  std::span(begin).first(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), begin.size()))));
    }
    bool const npy = std::ranges::equal(begin, std::as_bytes(std::span(npy_magic)));
    return naming_file(path, [&] { return npy ? whole_npy(path) : whole_safetensors(path); });
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE void gather_save(std::string const& save, std::string const& path) {
    detail::GatheredSave const all(save);
    auto const& index = all.shards.index;
    auto const joined = [](auto... numbers) {
        std::string text;
        (..., text.append(text.empty() ? "" : " ").append(std::to_string(numbers)));
        return text;
    };
    std::map<std::string, std::string> metadata{{"rowan.save", joined(index.partition.block, index.step)}};
    std::vector<detail::SafetensorsPart> parts;
    for (auto const& [name, part] : all.parts) {
        auto const& tensor = detail::tensor_of(part.value.desc);
        std::size_t const size = part.value.element_size;
        parts.push_back(detail::safetensors_part({tensor.data_type, part.value.type_name, size, tensor.dims, {}}));
        parts.back().name = name;
        metadata["rowan:" + name] = std::string(part.kind)
                                        .append(" ")
                                        .append(joined(tensor.data_type, size))
                                        .append(" ")
                                        .append(part.value.type_name);
    }
    std::string const header = detail::safetensors_header_text(parts, metadata);
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    for (auto const& part : parts) all.write(part.name, file);
    file.commit();
}

ROWAN_FUNCTION ROWAN_RARE void gather_save_to_npy(std::string const& save, std::string const& name,
                                                  std::string const& path) {
    detail::GatheredSave const all(save);
    auto const at = all.parts.find(name);
    if (at == all.parts.end()) throw Error({save, " has no value `", name, "`"});
    auto const& value = at->second.value;
    auto const& tensor = detail::tensor_of(value.desc);
    std::string type = std::string("<V").append(std::to_string(value.element_size));
    for (auto const& t : detail::safetensors_types) {
        detail::with_safetensors_type(t.name, [&]<class T>(T) {
            if (dtype<T>::wire == tensor.data_type) type = detail::npy_type<T>();
        });
    }
    std::vector<std::size_t> const dims(tensor.dims.begin(), tensor.dims.end());
    auto const header = detail::npy_header_text(type, dims);
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    all.write(name, file);
    file.commit();
}

ROWAN_FUNCTION ROWAN_RARE void scatter_save(std::string const& path, std::string const& save, int ranks) {
    if (ranks < 1) throw ShapeError("ranks", ranks, "at least 1");
    detail::SavePlace const place(save);
    detail::check_file_name(place.name);
    auto const all = detail::whole_save(path);
    auto const number = detail::new_save(place.folder, place.name);
    std::vector<std::int64_t> ids;
    try {
        for (int r = 0; r < ranks; ++r) {
            Checkpoint shard;
            for (auto const& [name, value] : all.sharded) shard.add(name, all.part(value, ranks, r));
            auto const pieces = [&](std::string const& name, std::function<void(std::span<std::byte const>)> const& f) {
                all.each_piece(all.sharded.at(name), ranks, r, f);
            };
            ids.push_back(static_cast<std::int64_t>(detail::write_checkpoint<detail::PosixFiles>(
                Cpu{}, shard, std::nullopt, detail::shard_path(place.folder, place.name, number, r), pieces)));
        }
        Checkpoint index;
        for (auto const& [name, value] : all.whole) index.add(name, value);
        detail::TableIndex({.height = all.height(), .block = all.block, .ranks = ranks}, all.step, number, ids)
            .add_to(index);
        save_checkpoint(index, save);
    } catch (...) {
        if (!detail::has_number(save, number)) {
            for (int r = 0; r < ranks; ++r)
                std::remove(detail::shard_path(place.folder, place.name, number, r).c_str());
        }
        throw;
    }
    detail::remove_other_saves(place.folder, place.name, number);
}

}  // namespace rowan::inline v0

#endif
