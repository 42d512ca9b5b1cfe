// rowan/io/checkpoint_file_inl.hpp: definitions of rowan/io/checkpoint_file.hpp.
#pragma once

#include <rowan/io/checkpoint_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/near_name.hpp>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION ROWAN_RARE CheckpointFile::CheckpointFile(Cpu exec, std::string path)
    : state_(std::make_shared<detail::CheckpointReader const>(exec, std::move(path))) {}

ROWAN_CALLED_FUNCTION ROWAN_RARE VarDesc CheckpointFile::desc(std::string_view name) const { return record(name).desc; }

ROWAN_CALLED_FUNCTION ROWAN_RARE std::uint64_t CheckpointFile::offset(std::string_view name) const {
    return record(name).elements().offset;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::optional<ProgramDesc> CheckpointFile::program() const {
    if ((state_->header.flags & detail::CheckpointHeader::has_program) == 0) return std::nullopt;
    return decode<ProgramDesc>(state_->program, sizeof state_->header + sizeof(std::uint32_t),
                               detail::checkpoint_more_memory(bytes() - state_->program.size(), size()));
}

ROWAN_FUNCTION ROWAN_RARE std::vector<std::string> CheckpointFile::names() const {
    std::vector<std::string> names;
    names.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) names.push_back(state_->record(i).desc.name);
    return names;
}

ROWAN_FUNCTION ROWAN_RARE CheckpointEntry CheckpointFile::describe_type(std::string_view name) const {
    Record const r = record(name);
    CheckpointEntry entry;
    entry.desc = r.desc;
    entry.type_name = r.type_name;
    entry.element_size = static_cast<std::size_t>(r.element_size);
    return entry;
}

ROWAN_FUNCTION ROWAN_RARE void CheckpointFile::load_into(std::string_view name, std::span<std::byte> to) const {
    auto const r = record(name);
    if (to.size() != r.elements().bytes) {
        throw ShapeError({"bytes of ", r.desc.name}, to.size(), r.elements().bytes);
    }
    state_->read(r, r.elements(), to);
    CheckpointEntry::check_elements(r, to, r.elements().offset);
}

ROWAN_FUNCTION ROWAN_RARE void CheckpointFile::verify() const {
    static_cast<void>(program());
    for (std::size_t i = 0; i < size(); ++i) {
        Record const r = state_->record(i);
        static_cast<void>(state_->parts(r));
        state_->verify(r);
    }
}

ROWAN_FUNCTION ROWAN_RARE std::string CheckpointFile::describe() const {
    auto const& h = state_->header;
    std::string text = path() + ": rowan checkpoint " + std::to_string(h.major) + "." + std::to_string(h.minor) + ", " +
                       std::to_string(size()) + (size() == 1 ? " variable, " : " variables, ") +
                       std::to_string(state_->file.size()) + " bytes, id " + detail::hex_text(id());
    if (auto const b = base()) text += ", delta to " + detail::hex_text(*b);
    if (!state_->program.empty()) text += "\na program of " + std::to_string(state_->program.size()) + " bytes";
    for (std::size_t i = 0; i < size(); ++i) {
        Record const r = state_->record(i);
        text += "\n" + r.desc.name + ": " + detail::kind_text(r.desc, r.type_name);
        if (r.has_rows()) text += ", " + std::to_string(r.rows().bytes / sizeof(std::int64_t)) + " rows";
        if (r.levels() != 0) text += ", " + std::to_string(r.levels()) + (r.levels() == 1 ? " level" : " levels");
        text += ", " + std::to_string(r.elements().bytes) + " bytes";
    }
    return text;
}

ROWAN_FUNCTION ROWAN_RARE CheckpointFile::Record CheckpointFile::record(std::string_view name) const {
    std::size_t const i = state_->find(name);
    if (i != size()) return state_->record(i);
    detail::NearName near(name);
    for (std::size_t k = 0; k < size(); ++k) near.see(state_->record(k).desc.name);
    throw GraphError({path(), " has no variable \"", name, "\"", near.text()});
}

ROWAN_FUNCTION ROWAN_RARE void detail::expect_no_delta(CheckpointFile const& file) {
    if (file.base()) throw GraphError({file.path(), " is a delta: see CheckpointChain"});
}

ROWAN_FUNCTION ROWAN_RARE Checkpoint load_checkpoint(std::string const& path) {
    CheckpointFile const file(path);
    detail::expect_no_delta(file);
    Checkpoint checkpoint;
    checkpoint.program = file.program();
    if (detail::checkpoint_more_memory(file.bytes(), file.size()) < -(1 << 20)) {
        throw FormatError(
            32, "variables",
            {"are ", file.size(), ", more than a file of ", file.bytes(), " bytes can have: load them one at a time"});
    }
    for (auto const& name : file.names()) checkpoint.add(name, file.load(name));
    return checkpoint;
}

}  // namespace rowan::inline v0

#endif
