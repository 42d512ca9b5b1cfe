// rowan/io/checkpoint_file.hpp: CheckpointFile, which loads variables of a checkpoint or maps them, and load_checkpoint.
#pragma once

#include <rowan/io/checkpoint.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A checkpoint in a file, of which the header and the descriptors have been read and checked. Copies share it.
///
///     CheckpointFile f("model.rowan");
///     auto w = f.load<Tensor<float>>("w");    a copy, whose checksum was compared
///     auto e = f.map<Tensor<float>>("e");     the file's own bytes, on demand; what is written there stays in memory
///
/// A file that save_checkpoint replaces stays open as it was.
class CheckpointFile {
public:
    /// errors   IoError if the file cannot be read; FormatError if it is no checkpoint, one of another major version, or damaged before the
    ///          payloads
    /// cost     the descriptors are read and kept, and 8 bytes for each variable
    explicit CheckpointFile(std::string path) : CheckpointFile(Cpu{}, std::move(path)) {}
    CheckpointFile(Cpu exec, std::string path)
        : state_(std::make_shared<detail::CheckpointReader const>(exec, std::move(path))) {}

    CheckpointFile(CheckpointFile const&) = default;  // no move: what was moved from is a file, too
    CheckpointFile& operator=(CheckpointFile const&) = default;

    std::string const& path() const noexcept { return state_->file.path(); }  ///< of the file

    /// What a delta to this checkpoint names, and, if this is a delta, what it names.
    std::uint64_t id() const noexcept { return state_->header.id(); }
    /// The id of the file that a delta goes with; none for a whole checkpoint.
    std::optional<std::uint64_t> base() const noexcept {
        if ((state_->header.flags & detail::CheckpointHeader::delta) == 0) return std::nullopt;
        return state_->header.base;
    }

    /// How many variables there are, and their names, ascending.
    std::size_t size() const noexcept { return state_->places.size(); }
    /// errors   std::bad_alloc
    /// cost     O(variables)
    std::vector<std::string> names() const;
    /// Is there a variable of that name?
    /// errors   std::bad_alloc
    /// cost     O(log variables) descriptors, which are decoded
    bool has(std::string_view name) const { return state_->find(name) != size(); }

    /// errors   GraphError if there is no variable of this name
    /// cost     as has
    VarDesc desc(std::string_view name) const { return record(name).desc; }

    /// errors   FormatError if there is a program that cannot be decoded
    /// cost     structs of strings and lists: some ten times the bytes that the program has in the file
    std::optional<ProgramDesc> program() const {
        if ((state_->header.flags & detail::CheckpointHeader::has_program) == 0) return std::nullopt;
        return decode<ProgramDesc>(state_->program, sizeof state_->header + sizeof(std::uint32_t));
    }

    /// A variable, read from the file: a Tensor, a LoDTensor, a SelectedRows, or an untyped CheckpointEntry.
    /// errors   GraphError if there is none of this name; TypeError if it is no V; FormatError if it is damaged; IoError; std::bad_alloc
    /// cost     one pass over the file's bytes, on several threads; no memory but the result's
    template <class V = CheckpointEntry>
    V load(std::string_view name) const {
        return get<V>(name, [](detail::CheckpointReader const& s, Record const& r) { return s.load(r); });
    }

    /// A variable in the memory of the file itself. Checksums of LoD offsets and row ids are compared, those of elements only by verify().
    /// requires   that nobody makes the file shorter or writes into it (who saves anew does not) as long as the variable is used
    /// errors     as load
    /// cost       independent of the number of elements; bools are read once
    template <class V = CheckpointEntry>
    V map(std::string_view name) const {
        return get<V>(name, [](detail::CheckpointReader const& s, Record const& r) { return s.map(r); });
    }

    /// Reads the elements of a variable into memory that is there already.
    /// errors   as load; ShapeError if `to` has another size. If the file is damaged, some elements may have been written.
    /// cost     one pass over the elements' bytes, on several threads, which go where they are wanted
    void load_into(std::string_view name, std::span<std::byte> to) const;

    /// Compares all checksums, looks at all padding, offsets and row ids, and at the program.
    /// errors   FormatError if something is damaged; IoError
    /// cost     one pass over the file, on several threads
    void verify() const;

    /// What is in the file: a line for all and one for each variable.
    /// errors   std::bad_alloc
    /// cost     O(length of the text); elements are not read
    std::string describe() const;

private:
    using Record = detail::CheckpointRecord;
    Record record(std::string_view name) const;

    template <class V, class Read>
    V get(std::string_view name, Read const& read) const {
        static_assert(checkpointed<V>,
                      "rowan::CheckpointFile: gives a Tensor, a LoDTensor, a SelectedRows or a CheckpointEntry");
        Record const r = record(name);
        detail::checkpoint_value<V>::expect(r.desc, r.type_name, r.element_size);
        return detail::checkpoint_value<V>::value(read(*state_, r));
    }

    std::shared_ptr<detail::CheckpointReader const> state_;
};

/// All of a checkpoint, its program too, read from a file. Takes about a kilobyte for each variable beside its elements.
/// errors   as CheckpointFile's constructor, program and load
/// cost     one read of the file
Checkpoint load_checkpoint(std::string const& path);

/// One variable of a checkpoint.
/// errors   as CheckpointFile's constructor and load
/// cost     one read of the file's index and of this variable
template <class V>
V load_checkpoint(std::string const& path, std::string_view name) {
    return CheckpointFile(path).load<V>(name);
}

/// What a checkpoint holds, as text, without loading it.
/// errors   as CheckpointFile's constructor
/// cost     one read of the file's index
inline std::string describe(std::string const& path) { return CheckpointFile(path).describe(); }

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_file_inl.hpp>
