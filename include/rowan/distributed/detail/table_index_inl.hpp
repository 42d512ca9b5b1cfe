// rowan/distributed/detail/table_index_inl.hpp: the functions of shard_files.hpp that name the files of a save.
#pragma once

#include <rowan/distributed/detail/shard_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION CheckpointFile open_saved(std::string const& path) {
    try {
        return naming_file(path, [&] { return CheckpointFile(path); });
    } catch (IoError const& e) {
        if (e.code() != ENOENT) throw;
        throw FormatError(0, path, "is missing");
    }
}

ROWAN_CALLED_FUNCTION TableIndex::TableIndex(CheckpointFile const& file) {
    auto const& path = file.path();
    if (!file.has("@shards") || !file.has("@shard_ids"))
        throw FormatError(0, path, "is not the index of a sharded table");
    auto const numbers = file.load<Tensor<std::int64_t>>("@shards"),
               all = file.load<Tensor<std::int64_t>>("@shard_ids");
    std::int64_t const ranks = static_cast<std::int64_t>(all.size());
    auto const* const n = numbers.data();
    bool const known =
        numbers.size() == 4 || numbers.size() == 5;  // older saves are without the first rank, which is 0
    std::int64_t const first = numbers.size() == 5 ? n[4] : 0;
    if (!known || n[0] < 0 || n[1] < 1 || ranks < 1 || ranks > std::numeric_limits<int>::max() || first < 0 ||
        first >= ranks)
        throw FormatError(0, path, "has a bad index of a sharded table");
    partition = {n[0], n[1], static_cast<int>(ranks), static_cast<int>(first)};
    step = n[2];
    number = n[3];
    ids.assign(all.data(), all.data() + all.size());
    for (std::string const& name : file.names()) {
        if (!name.starts_with(placed)) continue;
        auto const place = file.load<Tensor<std::int64_t>>(name);
        if (place.size() != 2 || place.data()[0] < 1 || place.data()[1] < 0 || place.data()[1] >= ranks)
            throw FormatError(0, path, {"has a bad `", name, "`"});
        placements[name.substr(placed.size())] = {.block = place.data()[0], .first = static_cast<int>(place.data()[1])};
    }
}

ROWAN_CALLED_FUNCTION void TableIndex::add_to(Checkpoint& index) const {
    auto all = Tensor<std::int64_t>::from_shape({ids.size()});
    std::ranges::copy(ids, all.data());
    index.add("@shards", Tensor<std::int64_t>{partition.height, partition.block, step, number, partition.first});
    index.add("@shard_ids", std::move(all));
    for (auto const& [name, place] : placements)
        index.add(std::string(placed).append(name),
                  Tensor<std::int64_t>{place.block, std::int64_t{place.first % partition.ranks}});
}

ROWAN_CALLED_FUNCTION Partition TableIndex::partition_of(std::string const& name, std::int64_t height) const {
    auto const at = placements.find(name);
    if (at != placements.end()) return at->second.on(height, partition.ranks);
    return {height, partition.block, partition.ranks, partition.first};
}

ROWAN_CALLED_FUNCTION NamedValues values_of(Checkpoint const& shard, Checkpoint const& index, std::string const& name,
                                            std::int64_t step) {
    NamedValues all;
    all.add("the name of the save", name);
    all.add("the step of the save", step);
    for (auto const* const part : {&shard, &index}) {
        for (auto const& [key, e] : part->entries()) {
            auto dims = tensor_of(e.desc).dims;
            if (part == &shard && !dims.empty()) dims.erase(dims.begin());
            auto const rows = std::string("rows of ").append(e.type_name).append(shape_text(dims));
            all.add(std::string("the saved value ").append(key),
                    part == &shard ? rows : kind_text(e.desc, e.type_name));
            all.add(std::string("the element size of ").append(key), static_cast<std::int64_t>(e.element_size));
        }
    }
    return all;
}

ROWAN_CALLED_FUNCTION bool has_number(std::string const& path, std::int64_t number) {
    std::error_code code;
    auto const type = std::filesystem::status(path, code).type();
    if (type != std::filesystem::file_type::regular) return type == std::filesystem::file_type::none;
    try {
        return TableIndex(CheckpointFile(path)).number == number;
    } catch (FormatError const&) {
        return false;  // an index of this save is whole
    } catch (std::exception const&) {
        return true;
    }
}

ROWAN_CALLED_FUNCTION std::string index_path(std::string const& folder, std::string const& name) {
    return std::string(folder).append("/").append(name);
}

ROWAN_CALLED_FUNCTION std::string shard_path(std::string const& folder, std::string const& name, std::int64_t number,
                                             int rank) {
    return index_path(folder, name)
        .append("-")
        .append(std::to_string(number))
        .append(".")
        .append(std::to_string(rank))
        .append(".rows");
}

/// The number in the name of a rank's file.
inline std::optional<std::int64_t> save_number(std::string_view file, std::string_view name) {
    if (!file.starts_with(name) || !file.substr(name.size()).starts_with("-")) return {};
    file.remove_prefix(name.size() + 1);
    std::int64_t number = 0;
    int rank = 0;
    auto const* const end = file.data() + file.size();
    auto const first = std::from_chars(file.data(), end, number);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.' || number < 0) return {};
    auto const second = std::from_chars(first.ptr + 1, end, rank);
    if (second.ec != std::errc{} || rank < 0 || std::string_view(second.ptr, end) != ".rows") return {};
    return number;
}

/// Calls f(path, number) for every rank's file of this name, as long as the folder can be read.
inline void each_shard(std::string const& folder, std::string const& name, std::error_code& code,
                       std::function<void(std::filesystem::path const&, std::int64_t)> const& f) {
    std::filesystem::directory_iterator at(folder, code);
    for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
        if (auto const number = save_number(at->path().filename().string(), name)) f(at->path(), *number);
    }
}

ROWAN_CALLED_FUNCTION std::int64_t new_save(std::string const& folder, std::string const& name) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) throw IoError("create", folder, code.message(), code.value());
    std::int64_t number = 0;
    each_shard(folder, name, code, [&](auto const&, std::int64_t n) { number = std::max(number, n); });
    if (code) throw IoError("list", folder, code.message(), code.value());
    return number + 1;
}

ROWAN_FUNCTION void remove_other_saves(std::string const& folder, std::string const& name, std::int64_t number,
                                       std::string const& previous) {
    std::optional<std::int64_t> kept;
    try {
        if (!previous.empty()) kept = TableIndex(open_saved(previous)).number;
    } catch (FormatError const&) {  // there is none, or it is of no use
    } catch (std::exception const&) {
        return;
    }
    std::vector<std::filesystem::path> old;
    std::error_code code;  // ignored: a file that remains harms nothing
    each_shard(folder, name, code, [&](auto const& path, std::int64_t n) {
        if (n != number && n != kept) old.push_back(path);
    });
    for (auto const& path : old) std::filesystem::remove(path, code);
}

ROWAN_CALLED_FUNCTION CheckpointFile open_shard(TableIndex const& index, std::string const& folder,
                                                std::string const& name, int rank) {
    auto file = open_saved(shard_path(folder, name, index.number, rank));
    if (static_cast<std::int64_t>(file.id()) != index.ids[static_cast<std::size_t>(rank)])
        throw FormatError(0, file.path(), "is of another save than its index");
    return file;
}

ROWAN_CALLED_FUNCTION void check_has(CheckpointFile const& file, std::string const& name) {
    if (!file.has(name)) throw FormatError(0, file.path(), {"has no `", name, "`"});
}

ROWAN_CALLED_FUNCTION std::map<std::string, CheckpointEntry> saved_values(CheckpointFile const& file) {
    std::map<std::string, CheckpointEntry> values;
    for (auto const& name : file.names()) values.emplace(name, file.describe_type(name));
    return values;
}

ROWAN_CALLED_FUNCTION CheckpointEntry const& saved_value(std::map<std::string, CheckpointEntry> const& values,
                                                         std::string const& path, std::string const& name) {
    auto const at = values.find(name);
    if (at == values.end()) throw FormatError(0, path, {"has no `", name, "`"});
    return at->second;
}

ROWAN_CALLED_FUNCTION void check_height(std::string const& path, Partition const& saved, Partition const& own) {
    if (saved.height == own.height) return;
    throw ShapeError({"the height in ", path}, saved.height, {own.height, ", that of the table"});
}

}  // namespace rowan::inline v0::detail

#endif
