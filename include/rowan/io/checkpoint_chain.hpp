// rowan/io/checkpoint_chain.hpp: save_delta and CheckpointChain, incremental checkpoints.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/naming_file.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// Writes the changes since the checkpoint or delta whose id is `base`. A SelectedRows holds new values for rows of the
/// tensor of the same name, and if it is higher, all rows that the tensor has got since; any other variable replaces
/// the variable of the same name or is new. Variables that are not in `changes` keep their values. Returns the id of
/// this file, which is the base of the next delta.
///
///     auto id = save_checkpoint(all, "0.rowan");
///     id = save_delta(changes, id, "1.rowan");
///     id = save_delta(more, id, "2.rowan");
///     auto table = CheckpointChain({"0.rowan", "1.rowan", "2.rowan"}).load<Tensor<float>>("table");
///
/// errors   as save_checkpoint; rows that do not fit their tensor are detected only when they are loaded
/// cost     as save_checkpoint, for the changes only
template <class Files = detail::PosixFiles>
std::uint64_t save_delta(Cpu exec, Checkpoint const& changes, std::uint64_t base, std::string const& path) {
    return detail::write_checkpoint<Files>(exec, changes, base, path);
}
template <class Files = detail::PosixFiles>
std::uint64_t save_delta(Checkpoint const& changes, std::uint64_t base, std::string const& path) {
    return save_delta<Files>(Cpu{}, changes, base, path);
}

/// A checkpoint and its deltas, in the order in which they were saved. It reads like one checkpoint saved after the
/// last delta. Each file names the one before, so none between can be missing or another one; which is the last, only the
/// program knows: compare id() with what the last save_delta has returned.
class CheckpointChain {
public:
    /// errors   ShapeError if `paths` is empty; FormatError if the first file is a delta, or a later file is not a
    ///          delta to the file before it; otherwise as CheckpointFile, where a FormatError names the file
    /// cost     as CheckpointFile, for each file
    explicit CheckpointChain(std::initializer_list<std::string> paths)
        : CheckpointChain(std::span(paths.begin(), paths.size())) {}
    explicit CheckpointChain(std::span<std::string const> paths);

    CheckpointChain(CheckpointChain const&) = default;  // no move: a moved-from chain would have no file
    CheckpointChain& operator=(CheckpointChain const&) = default;

    /// The id of the last file, which is the base of the next delta.
    std::uint64_t id() const noexcept { return files_.back().id(); }

    /// The names of all variables, ascending.
    /// errors   as CheckpointFile::names
    /// cost     O(variables of all files)
    std::vector<std::string> names() const;

    /// The program of the last file that has one.
    /// errors   FormatError if a program cannot be decoded
    /// cost     as CheckpointFile::program, for each file
    std::optional<ProgramDesc> program() const;

    /// A variable as it was when the last file was saved, bit for bit.
    /// errors   GraphError if there is no variable of this name; TypeError if it is not a V; FormatError if a file is
    ///          damaged, or the rows of a delta have another element type or width than the tensor or a smaller height,
    ///          or a greater one without all new rows
    /// cost     as CheckpointFile::load, plus the rows of each delta, which are in memory one delta at a time
    template <class V = CheckpointEntry>
    V load(std::string_view name) const {
        std::size_t whole = files_.size();
        std::vector<std::size_t> deltas;
        VarType kind{};
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (!files_[i].has(name)) continue;
            VarType const next = files_[i].desc(name).type;
            if (whole != files_.size() && kind == VarType::LOD_TENSOR && next == VarType::SELECTED_ROWS) {
                deltas.push_back(i);
            } else {
                whole = i;
                kind = next;
                deltas.clear();
            }
        }
        if (whole == files_.size())
            throw GraphError({files_[0].path(), " and its deltas have no variable \"", name, "\""});
        auto const read = [&]<class E>(std::size_t i) {
            return detail::naming_file(files_[i].path(), [&] { return files_[i].template load<E>(name); });
        };
        if (deltas.empty()) return read.template operator()<V>(whole);
        auto e = read.template operator()<CheckpointEntry>(whole);
        detail::checkpoint_value<V>::expect(e.desc, e.type_name, e.element_size);
        for (std::size_t const i : deltas) write_rows(e, files_[i], read.template operator()<CheckpointEntry>(i));
        return detail::checkpoint_value<V>::value(e);
    }

    /// Loads the whole checkpoint, for example to save it as one file.
    /// errors   those of program and load
    /// cost     those of program and of load for each variable
    Checkpoint load() const;

private:
    static void write_rows(CheckpointEntry& table, CheckpointFile const& file, CheckpointEntry const& rows);
    static void grow(CheckpointEntry& table, CheckpointFile const& file, CheckpointEntry const& rows);

    std::vector<CheckpointFile> files_;
};

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_chain_inl.hpp>
