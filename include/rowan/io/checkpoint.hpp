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
        check_new(name);
        insert(detail::checkpoint_value<V>::entry(std::move(name), value));
    }

    /// Returns whether there is a variable of that name.
    /// errors   none
    /// cost     O(log variables)
    ROWAN_IF_CALLED bool has(std::string const& name) const;
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
        CheckpointEntry const& e = entry(name);
        detail::checkpoint_value<V>::expect(e.desc, e.type_name, e.element_size);
        return detail::checkpoint_value<V>::value(e);
    }

private:
    ROWAN_IF_CALLED void check_new(std::string const& name) const;
    ROWAN_IF_CALLED void insert(CheckpointEntry entry);
    ROWAN_IF_CALLED CheckpointEntry const& entry(std::string const& name) const;

    std::map<std::string, CheckpointEntry> entries_;
};

namespace detail {

/// Gives all elements of a variable, in order, to f.
using ElementPieces =
    std::function<void(std::string const& name, std::function<void(std::span<std::byte const>)> const& f)>;

/// A checkpoint as it is written: the bytes before its payloads, and their sections.
struct CheckpointPlan {
    std::uint64_t id;
    std::vector<std::byte> head;
    std::vector<std::span<std::byte const>> sections;
    std::vector<std::string const*> given;  // the name of each section that `pieces` gives

    /// Gives all bytes of the file, in order, to `write`.
    ROWAN_IF_CALLED void write_to(ElementPieces const& pieces,
                                  std::function<void(std::span<std::byte const>)> const& write) const;
};
ROWAN_IF_CALLED CheckpointPlan plan_checkpoint(Cpu exec, Checkpoint const& checkpoint,
                                               std::optional<std::uint64_t> base, ElementPieces const& pieces);

/// Writes `checkpoint`, as a delta to `base` if that has a value, and returns its id. The elements are those of the
/// entries, or as many that `pieces` gives, which is called twice for each variable. The old file is kept as `keep`, a
/// path in the same folder, if that is not empty.
template <class Files>
std::uint64_t write_checkpoint(Cpu exec, Checkpoint const& checkpoint, std::optional<std::uint64_t> base,
                               std::string const& path, ElementPieces const& pieces = {},
                               std::string const& keep = {}) {
    auto const plan = plan_checkpoint(exec, checkpoint, base, pieces);
    AtomicFile<Files> file(path);
    plan.write_to(pieces, [&](std::span<std::byte const> bytes) { file.write(bytes); });
    file.commit(keep);
    return plan.id;
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
