// rowan/io/checkpoint_chain_inl.hpp: definitions of rowan/io/checkpoint_chain.hpp.
#pragma once

#include <rowan/io/checkpoint_chain.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstring>
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
            throw FormatError(40, path, "is " + text(file.base()) + ", expected " + text(want));
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

ROWAN_FUNCTION void CheckpointChain::write_rows(CheckpointEntry const& table, CheckpointFile const& file,
                                                CheckpointEntry const& rows) {
    auto const& from = detail::tensor_of(rows.desc);
    if (from != detail::tensor_of(table.desc) || rows.type_name != table.type_name ||
        rows.element_size != table.element_size) {
        throw FormatError(0, file.path(),
                          "has rows of " + detail::kind_text(rows.desc, rows.type_name) + " \"" + rows.desc.name +
                              "\", which is " + detail::kind_text(table.desc, table.type_name));
    }
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
