// rowan/io/checkpoint_chain.hpp: save_delta, what has changed since a checkpoint, and CheckpointChain, a checkpoint with its deltas.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// Writes what has changed since the checkpoint or delta whose id is `base`: a SelectedRows holds new values of rows of the tensor of its
/// name, anything else takes the place of the variable of its name or is a new one. What is not named stays. Gives this file's id, the
/// base of the next delta.
///
///     auto id = save_checkpoint(all, "0.rowan");
///     id = save_delta(changes, id, "1.rowan");
///     id = save_delta(more, id, "2.rowan");
///     auto table = CheckpointChain({"0.rowan", "1.rowan", "2.rowan"}).load<Tensor<float>>("table");
///
/// errors   as save_checkpoint. Whether the rows fit the table is found when they are loaded.
/// cost     as save_checkpoint: what is written is what has changed
template <class Files = detail::PosixFiles>
std::uint64_t save_delta(Cpu exec, Checkpoint const& changes, std::uint64_t base, std::string const& path) {
    return detail::write_checkpoint<Files>(exec, changes, base, path);
}
template <class Files = detail::PosixFiles>
std::uint64_t save_delta(Checkpoint const& changes, std::uint64_t base, std::string const& path) {
    return save_delta<Files>(Cpu{}, changes, base, path);
}

/// A checkpoint and the deltas to it, in the order in which they were saved: it reads like one that was saved whole after the last.
class CheckpointChain {
public:
    /// errors   ShapeError if there is no file; FormatError if the first is a delta, or another one is no delta to the one before it; as
    ///          CheckpointFile
    /// cost     as CheckpointFile, for each
    explicit CheckpointChain(std::initializer_list<std::string> paths)
        : CheckpointChain(std::span(paths.begin(), paths.size())) {}
    explicit CheckpointChain(std::span<std::string const> paths);

    CheckpointChain(CheckpointChain const&) = default;  // no move: a chain has a file
    CheckpointChain& operator=(CheckpointChain const&) = default;

    /// The base of the next delta.
    std::uint64_t id() const noexcept { return files_.back().id(); }

    /// The names of all variables, ascending.
    /// errors   as CheckpointFile::names
    /// cost     O(variables of all files)
    std::vector<std::string> names() const;

    /// The latest program.
    /// errors   FormatError if one of the programs cannot be decoded
    /// cost     as CheckpointFile::program, for each file
    std::optional<ProgramDesc> program() const;

    /// A variable as it was when the last file was saved, bit for bit.
    /// errors   GraphError if there is none of this name; TypeError if it is no V; FormatError if a file is damaged, or rows of a delta are
    ///          of another element type, height or width than the tensor
    /// cost     as CheckpointFile::load, and for each delta its rows, which are in memory one delta at a time
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
            throw GraphError(files_[0].path() + " and its deltas have no variable \"" + std::string(name) + "\"");
        if (deltas.empty()) return files_[whole].template load<V>(name);
        auto const e = files_[whole].load(name);
        detail::checkpoint_value<V>::expect(e.desc, e.type_name, e.element_size);
        for (std::size_t const i : deltas) write_rows(e, files_[i], files_[i].load(name));
        return detail::checkpoint_value<V>::value(e);
    }

    /// All of it, for instance to be saved as one file.
    /// errors   those of program and load
    /// cost     those of program and of load for each variable
    Checkpoint load() const;

private:
    static void write_rows(CheckpointEntry const& table, CheckpointFile const& file, CheckpointEntry const& rows);

    std::vector<CheckpointFile> files_;
};

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_chain_inl.hpp>
