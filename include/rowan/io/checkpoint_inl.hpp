// rowan/io/checkpoint_inl.hpp: definitions of rowan/io/checkpoint.hpp.
#pragma once

#include <rowan/io/checkpoint.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/detail/write_checkpoint.hpp>
#include <rowan/io/message_inl.hpp>

namespace rowan::inline v0 {

ROWAN_FUNCTION bool Checkpoint::has(std::string const& name) const { return entries_.contains(name); }

ROWAN_FUNCTION void Checkpoint::check_new(std::string const& name) const {
    if (has(name)) throw GraphError("the checkpoint has a variable \"" + name + "\" already");
}

ROWAN_FUNCTION void Checkpoint::add_entry(CheckpointEntry&& entry) {
    static_cast<void>(encode(entry.desc));  // validates the name
    entry.check();
    std::string key = entry.desc.name;
    entries_.emplace(std::move(key), std::move(entry));
}

ROWAN_FUNCTION CheckpointEntry const& Checkpoint::entry(std::string const& name) const {
    auto const at = entries_.find(name);
    if (at == entries_.end()) throw GraphError("the checkpoint has no variable \"" + name + "\"");
    return at->second;
}

namespace detail {

ROWAN_TEMPLATE(std::uint64_t write_checkpoint<PosixFiles>(Cpu, Checkpoint const&, std::optional<std::uint64_t>,
                                                          std::string const&, ElementPieces const&, std::string const&))

}  // namespace detail

}  // namespace rowan::inline v0

#endif
