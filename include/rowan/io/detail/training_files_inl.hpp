// rowan/io/detail/training_files_inl.hpp: definitions of rowan/io/detail/training_files.hpp.
#pragma once

#include <rowan/io/detail/training_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/tensor.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/model_parts.hpp>
#include <rowan/io/detail/naming_file.hpp>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace rowan::inline v0::detail {

/// errors   IoError if that cannot be known
inline bool file_exists(std::string const& path) {
    std::error_code code;
    bool const exists = std::filesystem::exists(path, code);
    if (code) throw IoError("read", path, code.message(), code.value());
    return exists;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE TrainingFiles::TrainingFiles(TrainCheckpointOptions const& options)
    : folder_(options.folder), may_take_previous_(options.previous) {
    if (folder_.empty()) throw Error("train_checkpoint: options.folder is empty, expected the name of a folder");
    last_ = (std::filesystem::path(folder_) / "training.rowan").string();
    previous_ = (std::filesystem::path(folder_) / "previous.rowan").string();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string TrainingFiles::file_of_ranks() const {
    std::error_code code;
    std::filesystem::directory_iterator at(folder_, code);
    for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
        auto const name = at->path().filename().string();
        if (name.starts_with("training.rowan-") && name.ends_with(".rows")) return at->path().string();
    }
    if (code && code != std::errc::no_such_file_or_directory)
        throw IoError("list", folder_, code.message(), code.value());
    return {};
}

ROWAN_FUNCTION ROWAN_RARE bool TrainingFiles::found() const {
    if (!file_exists(last_)) {
        auto const other = file_exists(previous_) ? previous_ : file_of_ranks();
        if (other.empty()) return false;
        throw FormatError(
            0, last_,
            {"is missing, although there is ", other, ": to begin anew, remove the saves or take another folder"});
    }
    return naming_file(last_, [&] {
        CheckpointFile const file(last_);
        return file.size() != 1 || !file.has("@steps") || load_steps(file) != 0;
    });
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool TrainingFiles::takes_previous() const {
    return may_take_previous_ && file_exists(previous_);
}

/// Whether tables in files can go back to this save.
inline bool all_kept(CheckpointFile const& file) {
    for (std::string const& name : file.names()) {
        if (!name.ends_with("#generation")) continue;
        auto const saved = file.load<Tensor<std::int64_t>>(name);
        if (saved.size() < 3 || saved.data()[2] == 0) return false;
    }
    return true;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE FormatError TrainingFiles::damaged(FormatError const& error) const {
    std::string reason = reason_of(error);
    try {
        CheckpointFile const file(previous_);
        reason += "; the save before it is " + previous_ + ", of step " + std::to_string(load_steps(file));
        reason += all_kept(file) ? ": train_checkpoint goes on from that with options.previous = true"
                                 : ", and a table in a file is of the last save alone: layer::InFile has keep_previous";
    } catch (Error const&) {  // there is none to go on from
    }
    return {error.offset(), error.field(), reason};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void TrainingFiles::make_folder() const {
    std::error_code code;
    std::filesystem::create_directories(folder_, code);
    if (code) throw IoError("create", folder_, code.message(), code.value());
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void TrainingFiles::begin() const {
    if (file_exists(last_) || file_exists(previous_)) return;
    make_folder();
    Checkpoint none;
    none.add("@steps", Tensor<std::int64_t>::zeros({1}));
    save_checkpoint(none, last_);
}

}  // namespace rowan::inline v0::detail

#endif
