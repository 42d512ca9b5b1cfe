// rowan/io/checkpoint.hpp: Checkpoint, a program and named variables, and save_checkpoint.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/crc32c.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/program_desc.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// An optional program, and variables by name.
///
///     Checkpoint c;
///     c.add("w", w);                        a Tensor, LoDTensor or SelectedRows of any element type
///     save_checkpoint(c, "model.rowan");
///
/// Nothing is copied: the variables alias what was added, and save_checkpoint writes their current values.
class Checkpoint {
public:
    std::optional<ProgramDesc> program;  ///< the net, if any

    /// Adds an alias of a variable.
    /// errors   GraphError if there is a variable of this name; ShapeError if the value of a SelectedRows does not have
    ///          one row per row id; FormatError if the name is empty, longer than 4 KiB, not UTF-8 or contains NUL, or
    ///          the parts of a CheckpointEntry are inconsistent
    /// cost     O(log variables) and the size of its descriptor; bool elements and row ids are read once
    template <class V>
    void add(std::string name, V const& value) {
        static_assert(checkpointed<V>,
                      "rowan::Checkpoint::add: takes a Tensor, a LoDTensor, a SelectedRows or a CheckpointEntry");
        if (has(name)) throw GraphError("the checkpoint has a variable \"" + name + "\" already");
        auto entry = detail::checkpoint_value<V>::entry(std::move(name), value);
        static_cast<void>(encode(entry.desc));  // validates the name
        entry.check();
        std::string key = entry.desc.name;
        entries_.emplace(std::move(key), std::move(entry));
    }

    /// Returns whether there is a variable of that name.
    /// errors   none
    /// cost     O(log variables)
    bool has(std::string const& name) const { return entries_.contains(name); }
    /// The variables in ascending order of their names.
    std::map<std::string, CheckpointEntry> const& entries() const& noexcept { return entries_; }
    std::map<std::string, CheckpointEntry> entries() && { return std::move(entries_); }

    /// Returns an alias of a variable.
    /// errors   GraphError if there is no variable of this name; TypeError if it is not a V
    /// cost     O(log variables); the row ids of a SelectedRows are read once; the elements of an entry that has no
    ///          `memory`, or that are not aligned for their type, are copied
    template <class V = CheckpointEntry>
    V get(std::string const& name) const {
        static_assert(checkpointed<V>,
                      "rowan::Checkpoint::get<V>: V must be a Tensor, LoDTensor, SelectedRows or CheckpointEntry");
        auto const at = entries_.find(name);
        if (at == entries_.end()) throw GraphError("the checkpoint has no variable \"" + name + "\"");
        CheckpointEntry const& e = at->second;
        detail::checkpoint_value<V>::expect(e.desc, e.type_name, e.element_size);
        return detail::checkpoint_value<V>::value(e);
    }

private:
    std::map<std::string, CheckpointEntry> entries_;
};

namespace detail {

/// The bytes of a checkpoint before its payloads: header, descriptors and padding.
class CheckpointHead {
public:
    template <class I>
    void number(I x) {
        auto const bytes = std::as_bytes(std::span(&x, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void text(std::span<std::byte const> bytes);
    void text(std::string const& x) { text(std::as_bytes(std::span(x.data(), x.size()))); }

    std::vector<std::byte>& bytes() { return bytes_; }

private:
    std::vector<std::byte> bytes_ = std::vector<std::byte>(sizeof(CheckpointHeader));
};

/// Gives all elements of a variable, in order, to f.
using ElementPieces =
    std::function<void(std::string const& name, std::function<void(std::span<std::byte const>)> const& f)>;

/// Writes `checkpoint`, as a delta to `base` if that has a value, and returns its id. The elements are those of the
/// entries, or as many that `pieces` gives, which is called twice for each variable. The old file is kept as `keep`, a
/// path in the same folder, if that is not empty.
template <class Files>
std::uint64_t write_checkpoint(Cpu exec, Checkpoint const& checkpoint, std::optional<std::uint64_t> base,
                               std::string const& path, ElementPieces const& pieces = {},
                               std::string const& keep = {}) {
    static constexpr std::size_t section_bytes = 8 + 8 + 4;
    CheckpointHead head;
    CheckpointHeader header;
    if (base) header.base = *base;
    header.flags = (base ? CheckpointHeader::delta : 0) | (checkpoint.program ? CheckpointHeader::has_program : 0);
    header.variables = checkpoint.entries().size();
    if (checkpoint.program) {
        std::uint64_t least = 0;  // bytes of the rest of the file
        for (auto const& named : checkpoint.entries()) least += named.second.elements.size();
        head.text(encode(*checkpoint.program, checkpoint_more_memory(least, checkpoint.entries().size())));
    }
    std::vector<std::span<std::byte const>> sections;
    std::vector<std::string const*> given;  // the name of each section that `pieces` gives
    std::vector<std::size_t> places;        // position of each section's entry in `head`
    for (auto const& [name, e] : checkpoint.entries()) {
        std::size_t const first = sections.size(), start = head.bytes().size();
        for (std::size_t l = 0; l < e.lod->levels(); ++l) sections.push_back(std::as_bytes((*e.lod)[l]));
        if (e.desc.type == VarType::SELECTED_ROWS)
            sections.push_back(std::as_bytes(std::span(e.rows->data(), e.rows->size())));
        sections.push_back(e.elements);
        given.resize(sections.size());
        if (pieces) given.back() = &name;
        head.number(std::uint32_t{0});
        head.text(encode(e.desc));
        head.text(e.type_name);
        head.number(static_cast<std::uint32_t>(e.element_size));
        head.number(static_cast<std::uint32_t>(sections.size() - first));
        for (std::size_t i = first; i < sections.size(); ++i) {
            places.push_back(head.bytes().size());
            head.bytes().resize(head.bytes().size() + section_bytes);
        }
        auto const bytes = static_cast<std::uint32_t>(head.bytes().size() - start - sizeof(std::uint32_t));
        std::memcpy(head.bytes().data() + start, &bytes, sizeof bytes);
    }
    auto& bytes = head.bytes();
    header.descriptor_bytes = bytes.size() - sizeof header;
    bytes.resize(static_cast<std::size_t>(checkpoint_aligned(bytes.size())));
    std::uint64_t offset = bytes.size();
    for (std::size_t i = 0; i < sections.size(); ++i) {
        std::uint64_t const size = sections[i].size();
        std::uint32_t sum = 0;
        if (given[i] == nullptr) {
            sum = crc32c(exec, sections[i]);
        } else {
            pieces(*given[i], [&](std::span<std::byte const> piece) { sum = crc32c(piece, sum); });
        }
        std::memcpy(bytes.data() + places[i], &offset, 8);
        std::memcpy(bytes.data() + places[i] + 8, &size, 8);
        std::memcpy(bytes.data() + places[i] + 16, &sum, 4);
        offset = checkpoint_aligned(offset + size);
    }
    header.payload_bytes = offset - bytes.size();
    header.descriptor_sum = crc32c(std::span(bytes).subspan(sizeof header, header.descriptor_bytes));
    header.sum = crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof header - sizeof header.sum));
    std::memcpy(bytes.data(), &header, sizeof header);

    AtomicFile<Files> file(path);
    file.write(bytes);
    static constexpr std::byte zeros[checkpoint_alignment]{};
    for (std::size_t i = 0; i < sections.size(); ++i) {
        if (given[i] == nullptr) {
            file.write(sections[i]);
        } else {
            pieces(*given[i], [&](std::span<std::byte const> piece) { file.write(piece); });
        }
        file.write(std::span(zeros).first(checkpoint_aligned(sections[i].size()) - sections[i].size()));
    }
    file.commit(keep);
    return header.id();
}

}  // namespace detail

/// Writes a checkpoint to a new file, which then atomically replaces `path`. Equal checkpoints are written as the same
/// bytes on every machine. The checksums detect accidental damage, not deliberate changes. Returns the id of the
/// checkpoint, which a delta to it stores as its base.
/// errors   IoError if the file cannot be written: `path` is then unchanged, or already replaced if only the fsync of
///          its folder failed; FormatError if the program cannot be encoded
/// cost     reads every element twice: to compute its checksum and to write it
template <class Files = detail::PosixFiles>
std::uint64_t save_checkpoint(Cpu exec, Checkpoint const& checkpoint, std::string const& path) {
    return detail::write_checkpoint<Files>(exec, checkpoint, std::nullopt, path);
}
template <class Files = detail::PosixFiles>
std::uint64_t save_checkpoint(Checkpoint const& checkpoint, std::string const& path) {
    return save_checkpoint<Files>(Cpu{}, checkpoint, path);
}

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_inl.hpp>
