// rowan/io/train_checkpoint.hpp: train_checkpoint, saves of a training in a folder. Needs nanopb.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/model.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// The file of a training in a folder.
/// errors   Error if the name of the folder is empty
inline std::string training_file(std::string const& folder) {
    if (folder.empty()) throw Error("train_checkpoint: options.folder is empty, expected the name of a folder");
    return (std::filesystem::path(folder) / "training.rowan").string();
}

/// errors   IoError if that cannot be known
inline bool file_exists(std::string const& path) {
    std::error_code code;
    bool const exists = std::filesystem::exists(path, code);
    if (code) throw IoError("read", path, code.message(), code.value());
    return exists;
}

}  // namespace detail

/// Saves of a training in the file `training.rowan` of a folder, for options.checkpoint: see layer::TrainCheckpoint.
///     train(cost, reader, {.epochs = 10, .checkpoint = train_checkpoint({.folder = "run", .every = 1000})});
/// Each save replaces the file when it is complete. T... are the element types of parameters besides float and double.
/// errors   Error if options.folder is empty; when train saves or loads, those of save_parameters and of
///          load_parameters<T...>, and IoError if the folder cannot be made
/// cost     O(1); when train saves, a copy in memory and one write of all values
template <class... T>
layer::TrainCheckpoint train_checkpoint(TrainCheckpointOptions options) {
    std::string const path = detail::training_file(options.folder);
    return {.every = options.every,
            .save =
                [folder = std::move(options.folder), path](Variable&, Parameters const& all) {
                    std::error_code code;
                    std::filesystem::create_directories(folder, code);
                    if (code) throw IoError("create", folder, code.message(), code.value());
                    save_parameters(all, path);
                },
            .load = [path](Variable&) -> std::optional<Parameters> {
                if (!detail::file_exists(path)) return std::nullopt;
                return load_parameters<T...>(path);
            }};
}

}  // namespace rowan::inline v0
