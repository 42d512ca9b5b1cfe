// rowan/io/checkpoint_chain_inl.hpp: definitions of rowan/io/checkpoint_chain.hpp.
#pragma once

#include <rowan/io/checkpoint_chain.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION CheckpointChain::CheckpointChain(std::span<std::string const> paths) {
    if (paths.empty()) throw ShapeError("paths", "0", "at least 1");
    for (auto const& path : paths) {
        auto file = detail::naming_file(path, [&] { return CheckpointFile(path); });
        std::optional<std::uint64_t> want;
        if (!files_.empty()) want = files_.back().id();
        if (file.base() != want) {
            auto const text = [](auto id) {
                return id ? "a delta to " + detail::hex_text(*id) : std::string("no delta");
            };
            throw FormatError(40, path, {"is ", text(file.base()), ", expected ", text(want)});
        }
        files_.push_back(std::move(file));
    }
}

ROWAN_FUNCTION std::vector<std::string> CheckpointChain::names() const {
    std::set<std::string> all;
    for (auto const& file : files_) {
        for (auto& name : file.names()) all.insert(std::move(name));
    }
    return {all.begin(), all.end()};
}

ROWAN_FUNCTION std::optional<ProgramDesc> CheckpointChain::program() const {
    std::optional<ProgramDesc> latest;
    for (auto const& file : files_) {
        if (auto p = detail::naming_file(file.path(), [&] { return file.program(); })) latest = std::move(p);
    }
    return latest;
}

ROWAN_FUNCTION Checkpoint CheckpointChain::load() const {
    Checkpoint all;
    all.program = program();
    for (auto const& name : names()) all.add(name, load<CheckpointEntry>(name));
    return all;
}

// The tensor with the height of the rows. Each new row must be among them, so that a small file cannot ask for much
// memory.
ROWAN_FUNCTION void CheckpointChain::grow(CheckpointEntry& table, CheckpointFile const& file,
                                          CheckpointEntry const& rows) {
    std::int64_t& height = table.desc.lod_desc->tensor.dims[0];
    std::int64_t const grown = detail::tensor_of(rows.desc).dims[0];
    std::vector<std::int64_t> added;
    for (std::int64_t const row : *rows.rows) {
        if (row >= height) added.push_back(row);
    }
    std::ranges::sort(added);
    added.erase(std::unique(added.begin(), added.end()), added.end());
    if (std::cmp_not_equal(added.size(), grown - height))
        throw FormatError(
            0, file.path(),
            {"has ", added.size(), " of the ", grown - height, " rows that \"", rows.desc.name, "\" has got"});
    std::size_t const bytes = rows.elements.size() / rows.rows->size() * static_cast<std::size_t>(grown);
    auto const memory = std::make_shared<Tensor<std::uint8_t>>(Tensor<std::uint8_t>::from_shape({bytes}));
    std::ranges::copy(std::as_bytes(std::span(table.elements)),
                      std::as_writable_bytes(std::span(memory->data(), bytes)).begin());
    table.elements = std::as_bytes(std::span(memory->data(), bytes));
    table.memory = memory;
    height = grown;
}

ROWAN_FUNCTION void CheckpointChain::write_rows(CheckpointEntry& table, CheckpointFile const& file,
                                                CheckpointEntry const& rows) {
    auto const& from = detail::tensor_of(rows.desc);
    auto const& to_dims = detail::tensor_of(table.desc).dims;
    bool const higher = !from.dims.empty() && !to_dims.empty() && from.dims[0] > to_dims[0];
    auto same_height = from;
    if (higher) same_height.dims[0] = to_dims[0];
    if (same_height != detail::tensor_of(table.desc) || rows.type_name != table.type_name ||
        rows.element_size != table.element_size) {
        throw FormatError(0, file.path(),
                          {"has rows of ", detail::kind_text(rows.desc, rows.type_name), " \"", rows.desc.name,
                           "\", which is ", detail::kind_text(table.desc, table.type_name)});
    }
    if (higher) grow(table, file, rows);
    if (rows.elements.empty()) return;
    std::size_t const bytes = rows.elements.size() / rows.rows->size();
    auto* const to = const_cast<std::byte*>(table.elements.data());  // newly loaded, without other aliases
    for (std::size_t i = 0; i < rows.rows->size(); ++i) {
        std::memcpy(to + static_cast<std::size_t>(rows.rows->data()[i]) * bytes, rows.elements.data() + i * bytes,
                    bytes);
    }
}

}  // namespace rowan::inline v0

#endif
