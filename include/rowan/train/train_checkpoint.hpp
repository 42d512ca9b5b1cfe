// rowan/train/train_checkpoint.hpp: layer::TrainCheckpoint, how train saves what it needs to go on.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/train/parameters.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace rowan::inline v0 {

/// The settings of train_checkpoint.
struct TrainCheckpointOptions {
    std::string folder = {};    ///< where the save is; made if it is missing. One training uses it
    std::int64_t every = 1000;  ///< the number of steps after which train saves; 0: at its end alone
    /// Goes on from the save before the last, `previous.rowan`, where the last one is damaged or missing. Tables in files have
    /// the rows of the last one alone, unless layer::InFile::keep_previous.
    bool previous = false;
};

namespace layer {

/// Saves of a training: `train` with the same arguments goes on where the last one was made, on any number of ranks, and
/// returns the same bits as if nothing had ended it. It is for nets on the host. Made by train_checkpoint of
/// rowan/io/train_checkpoint.hpp, for ranks of rowan/distributed/train_checkpoint.hpp, or of functions of yours.
///     train(cost, reader, {.epochs = 10, .checkpoint = train_checkpoint({.folder = "run", .every = 1000})});
///     train(cost, reader, {.comm = comm, .parts = 8, .checkpoint = train_checkpoint(comm, {.folder = "run"})});
/// A save has the parameters and states, the epoch, the number of its batches that were read, and, for the metric of
/// options.stop, the best epoch; but not what callbacks, metrics or variables of options.keep hold. `train` calls the
/// reader again with that epoch and leaves out these batches, so the reader must give the same ones for the same epoch.
/// It saves once more when it ends, also where on_batch or on_epoch end it: called again, it goes on from there, or
/// returns the result if it was complete. If there is a save, options.resume and options.initial are not used. Batches after the last save are
/// trained, and reported to on_batch, again, and an epoch that ends after it is reported to on_epoch again. If one of
/// your functions throws on one rank, it must throw on all.
struct TrainCheckpoint {
    std::int64_t every = 0;  ///< the number of steps after which train saves; 0: at its end alone
    int ranks = 1;           ///< how many ranks save together
    /// Saves values by name, such that after an error or a sudden end the save before remains. Rows of tables in files may
    /// have missed steps of a layer::Deferred optimizer, as "w#made" tells.
    std::function<void(Variable& cost, Parameters const& all)> save = {};
    std::function<std::optional<Parameters>(Variable& cost)> load = {};  ///< the last save, or none

    explicit operator bool() const noexcept { return bool{save} || bool{load}; }  ///< whether train saves
};

}  // namespace layer

}  // namespace rowan::inline v0
