// rowan/distributed/table_to_place.hpp: TableToPlace, what rowan::plan asks of a table.
#pragma once

#include <rowan/version.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0 {

/// A table [height, width], and how a training step of all ranks together uses it.
struct TableToPlace {
    std::string name;                ///< as in the net
    std::int64_t height = 0;         ///< the number of rows
    std::int64_t width = 0;          ///< elements per row
    std::int64_t lookups = 0;        ///< ids of a step: samples of all ranks · ids of a sample; 0: not known
    std::int64_t different = 0;      ///< different ids among these, counted in some steps; 0: not known
    std::int64_t element_bytes = 4;  ///< of an element of the table
    std::int64_t state_bytes = 0;    ///< of the optimizer, for each row: 4 for RowwiseAdaGrad, 8 · width for Adam
};

}  // namespace rowan::inline v0
