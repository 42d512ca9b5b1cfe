// rowan/io/keyed_in_file.hpp: layer::KeyedInFile, the kind of tables whose rows belong to keys and are in a file.
#pragma once

#include <rowan/io/in_file.hpp>
#include <rowan/train/keyed.hpp>

namespace rowan::inline v0::layer {

/// Rows belong to keys, as those of layer::Keyed, and are in a file that grows, as those of layer::InFile:
///     auto users = layer::data<std::string>("users", {UNK});
///     auto x = layer::embedding(users, {.width = 64, .kind = layer::KeyedInFile{{.sightings = 2}, {"users.table"}}});
/// Keys are in memory, and in Parameters and checkpoints, which are of one moment with the file. What the two say holds; it
/// is trained in one process. A Predictor has the keys in memory, and reads rows from the file. See KeyedFile.
struct KeyedInFile {
    Keyed keys = {};   ///< which keys get rows, and which lose them
    InFile file = {};  ///< where the rows are

    /// errors   those of the two; ShapeError if rows have no elements
    /// cost     O(1)
    ROWAN_IF_CALLED operator TableKind() const;
};

}  // namespace rowan::inline v0::layer

#include <rowan/io/keyed_in_file_inl.hpp>
