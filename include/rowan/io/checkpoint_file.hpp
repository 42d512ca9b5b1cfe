// rowan/io/checkpoint_file.hpp: CheckpointFile, which loads or maps variables of a checkpoint, and load_checkpoint.
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

/// An open checkpoint file, whose header and descriptors have been read and validated. Copies share it.
///
///     CheckpointFile f("model.rowan");
///     auto w = f.load<Tensor<float>>("w");    a copy with a verified checksum
///     auto e = f.map<Tensor<float>>("e");     a copy-on-write mapping of the file, read on demand
///
/// If save_checkpoint replaces the file, this object still reads the old one.
class CheckpointFile {
public:
    /// errors   IoError if the file cannot be read; FormatError if it is not a checkpoint, has another major version,
    ///          or is damaged before the payloads
    /// cost     reads the descriptors and keeps them, with 8 bytes per variable
    explicit CheckpointFile(std::string path) : CheckpointFile(Cpu{}, std::move(path)) {}
    ROWAN_IF_CALLED CheckpointFile(Cpu exec, std::string path);

    CheckpointFile(CheckpointFile const&) = default;  // no move: a moved-from object would have no file
    CheckpointFile& operator=(CheckpointFile const&) = default;

    std::string const& path() const& noexcept { return state_->file.path(); }  ///< the path that was opened
    std::string path() && { return state_->file.path(); }

    /// The id of this checkpoint or delta, which a delta to it stores as its base.
    std::uint64_t id() const noexcept { return state_->header.id(); }
    /// The id of the file that this delta is based on; nullopt for a whole checkpoint.
    std::optional<std::uint64_t> base() const noexcept {
        if ((state_->header.flags & detail::CheckpointHeader::delta) == 0) return std::nullopt;
        return state_->header.base;
    }

    /// The size of the file.
    std::uint64_t bytes() const noexcept { return state_->file.size(); }

    /// The number of variables.
    std::size_t size() const noexcept { return state_->places.size(); }
    /// The names of the variables, ascending.
    /// errors   std::bad_alloc
    /// cost     O(variables)
    std::vector<std::string> names() const;
    /// Returns whether there is a variable of that name.
    /// errors   std::bad_alloc
    /// cost     decodes O(log variables) descriptors
    bool has(std::string_view name) const { return state_->find(name) != size(); }

    /// The descriptor of a variable.
    /// errors   GraphError if there is no variable of this name
    /// cost     as has
    ROWAN_IF_CALLED VarDesc desc(std::string_view name) const;

    /// The position of the elements of a variable in the file.
    /// errors   GraphError if there is no variable of this name
    /// cost     as has
    ROWAN_IF_CALLED std::uint64_t offset(std::string_view name) const;
    /// The descriptor of a variable and its element type, without the elements.
    /// errors   GraphError if there is no variable of this name
    /// cost     as has
    CheckpointEntry describe_type(std::string_view name) const;

    /// The program, if the file has one.
    /// errors   FormatError if the program cannot be decoded, or needs more memory than 7 times the size of the file
    ///          and 1 MiB
    /// cost     structs of strings and lists: about five times the size of the program in the file
    ROWAN_IF_CALLED std::optional<ProgramDesc> program() const;

    /// Reads a variable from the file, as a Tensor, a LoDTensor, a SelectedRows or an untyped CheckpointEntry.
    /// errors   GraphError if there is no variable of this name; TypeError if it is not a V; FormatError if it is
    ///          damaged; IoError; std::bad_alloc
    /// cost     one multi-threaded pass over the variable's bytes; allocates only the result
    template <class V = CheckpointEntry>
    V load(std::string_view name) const {
        return get<V>(name, [](detail::CheckpointReader const& s, Record const& r) { return s.load(r); });
    }

    /// Maps the elements of a variable, copy-on-write. Checksums of LoD offsets and row ids are verified, those of
    /// elements only by verify().
    /// requires   the file is not truncated or written to while the variable is in use (save_checkpoint replaces it
    ///            instead)
    /// errors     as load
    /// cost       independent of the number of elements, except that bool elements are read once
    template <class V = CheckpointEntry>
    V map(std::string_view name) const {
        return get<V>(name, [](detail::CheckpointReader const& s, Record const& r) { return s.map(r); });
    }

    /// Reads the elements of a variable into existing memory.
    /// errors   as load; ShapeError if `to` has another size. If the file is damaged, some elements may have been
    ///          written.
    /// cost     one multi-threaded pass over the elements' bytes, which are read directly into `to`
    void load_into(std::string_view name, std::span<std::byte> to) const;

    /// Validates the whole file: checksums, padding, LoD offsets, row ids, bool elements and the program.
    /// errors   FormatError if anything is damaged; IoError
    /// cost     one multi-threaded pass over the file
    void verify() const;

    /// The contents of the file as text: a line for the file, one for its program if any, and one for each variable.
    /// errors   std::bad_alloc
    /// cost     O(length of the text); elements are not read
    std::string describe() const;

private:
    friend struct detail::OpenedFile;
    using Record = detail::CheckpointRecord;
    Record record(std::string_view name) const;

    template <class V, class Read>
    V get(std::string_view name, Read const& read) const {
        static_assert(checkpointed<V>,
                      "rowan::CheckpointFile::get<V>: V must be a Tensor, LoDTensor, SelectedRows or CheckpointEntry");
        Record const r = record(name);
        detail::checkpoint_value<V>::expect(r.desc, r.type_name, r.element_size);
        return detail::checkpoint_value<V>::value(read(*state_, r));
    }

    std::shared_ptr<detail::CheckpointReader const> state_;
};

namespace detail {

/// Throws GraphError if the file is a delta.
void expect_no_delta(CheckpointFile const& file);

}  // namespace detail

/// Loads a whole checkpoint, including its program. Uses at most 8 times the size of the file, and 1 MiB: about 500
/// bytes per variable besides its elements.
/// errors   as CheckpointFile's constructor, program and load; GraphError if the file is a delta; FormatError if the
///          file has so many variables without elements that they would use more memory
/// cost     one read of the file
Checkpoint load_checkpoint(std::string const& path);

/// Loads one variable of a checkpoint.
/// errors   as CheckpointFile's constructor and load; GraphError if the file is a delta
/// cost     one read of the file's index and of this variable
template <class V>
V load_checkpoint(std::string const& path, std::string_view name) {
    CheckpointFile const file(path);
    detail::expect_no_delta(file);
    return file.load<V>(name);
}

/// The contents of a checkpoint as text, without loading it: see CheckpointFile::describe.
/// errors   as CheckpointFile's constructor
/// cost     one read of the file's index
inline std::string describe(std::string const& path) { return CheckpointFile(path).describe(); }

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_file_inl.hpp>
