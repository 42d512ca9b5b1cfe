// rowan/io/train_checkpoint.hpp: train_checkpoint, saves of a training in a folder. Needs nanopb.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/detail/training_files.hpp>
#include <rowan/io/detail/model_parts.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <optional>
#include <string>

namespace rowan::inline v0 {

/// Saves of a training in the file `training.rowan` of a folder, for options.checkpoint: see layer::TrainCheckpoint.
///     train(cost, reader, {.epochs = 10, .checkpoint = train_checkpoint({.folder = "run", .every = 1000})});
/// Each save replaces the file when it is complete, and keeps what it replaces as `previous.rowan`.
/// errors   Error if options.folder is empty; when train saves or loads, those of save_parameters and of
///          load_parameters<T...>, IoError if the folder cannot be made, and FormatError if the last save is missing
///          although others are there, or damaged and options.previous does not permit to go on from the one before
/// cost     O(1); when train saves, a copy in memory and one write of all values. The folder has two saves, and three
///          while one is written
template <class... T>
layer::TrainCheckpoint train_checkpoint(TrainCheckpointOptions options) {
    detail::TrainingFiles const files(options);
    auto const load_from = [](std::string const& path) {
        return detail::naming_file(path, [&] { return detail::loaded_parameters<T...>(path, {}); });
    };
    return {.every = options.every,
            .save =
                [files](Variable&, Parameters const& all) {
                    files.make_folder();
                    detail::write_checkpoint<detail::PosixFiles>(Cpu{}, detail::checkpoint_of(all), std::nullopt,
                                                                 files.last(), {}, files.kept_as());
                    files.set_whole(true);
                },
            .load = [files, load_from](Variable&) -> std::optional<Parameters> {
                files.set_whole(false);
                std::optional<Parameters> saved;
                try {
                    if (!files.found()) return saved;
                    saved = load_from(files.last());
                    files.set_whole(true);
                } catch (FormatError const& e) {
                    if (!files.takes_previous()) throw files.damaged(e);
                    saved = load_from(files.previous());
                }
                return saved;
            }};
}

}  // namespace rowan::inline v0
