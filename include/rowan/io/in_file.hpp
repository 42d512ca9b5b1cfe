// rowan/io/in_file.hpp: layer::InFile, the kind of tables whose rows and states are in a file.
#pragma once

#include <rowan/layer/table_kind.hpp>

#include <string>

namespace rowan::inline v0::layer {

/// Rows, and the states of their optimizer, are in a file, which may be larger than the memory: see TableFile. Training
/// makes it with first values by place, as those of a table in memory, and changes it in place; a resumed one goes on with
/// it.
///     auto x = layer::embedding(ids, {.height = 1'000'000'000, .width = 64, .kind = layer::InFile{"rows.table"}});
/// It is saved when training ends, where a checkpoint is made, and by Trainer::parameters: then `Parameters` have its
/// number as "w#generation", with which alone they go on; those that on_epoch and metrics are given refer to rows that are
/// not saved yet. Before its first save the file has no name. A training that ends otherwise leaves the file as of its last
/// save, once no `Parameters` refer to it. Rows and states of `Parameters` are the file's, which further training changes;
/// files and checkpoints of parameters refer to it.
///
/// A checkpoint and the table are of one moment: a process may be killed at any time, and training goes on with both as of
/// the same save. The save before the last, `previous.rowan`, has a table to go with only under `keep_previous`. The
/// checkpoint of a layer::Deferred optimizer tells which steps rows have missed, in 2 bytes a row, and leaves them so. All
/// rows are brought up to date, in their order, with one read and write of the file, where training ends, for on_epoch,
/// metrics and Trainer::parameters, and after 65,535 steps.
///
/// Nets read it by lookups, with an optimizer that is lazy or layer::Deferred, in one process. It has no averages, and no
/// best epoch for options.stop. A Predictor of parameters that were loaded has the file to itself while it lives.
struct InFile {
    std::string path;         ///< of the file
    bool power_safe = false;  ///< as TableFileOptions::power_safe
    /// Keeps what leads back to the save before the last, for TrainCheckpointOptions::previous, in a second journal.
    bool keep_previous = false;

    /// errors   none; where training begins, those of TableFile: IoError if it begins anew and there is a file, or goes
    ///          on and there is none, TypeError or ShapeError if it is another table, and FormatError if it is of another
    ///          save than the parameters
    /// cost     O(1); where training begins anew, one write of the table
    ROWAN_IF_CALLED operator TableKind() const;
};

}  // namespace rowan::inline v0::layer

#include <rowan/io/in_file_inl.hpp>
