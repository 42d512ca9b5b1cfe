// rowan/distributed/gather_save_inl.hpp: the functions of gather_save.hpp.
#pragma once

#include <rowan/distributed/gather_save.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/detail/safetensors_text.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
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

}  // namespace rowan::inline v0

#endif
