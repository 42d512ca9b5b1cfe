// rowan/distributed/row_reduce_options.hpp: RowReduceOptions, how ranks sum rows.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0 {

/// What is summed in which order. The bits of neither depend on the number of ranks.
enum class SumOrder {
    parts,          ///< each part merged, and the parts of each row in a binary tree: as sum_of_parts
    contributions,  ///< as if all rows stood in one SelectedRows, rank by rank and part by part: as merge
};

/// How rows travel between ranks. The bits do not depend on it.
enum class Route {
    automatic,  ///< the fastest by a model of messages and bytes, from numbers that all ranks know
    gather,     ///< every rank gets all ranks' sums, and adds them up
    owner,      ///< ranges of rows are summed by one rank each, which sends the sums to all
    node,       ///< as owner, but first within each node, then between ranks of the same place: see Nodes
};

/// The options of row_allreduce: the same on all ranks.
struct RowReduceOptions {
    SumOrder order = SumOrder::parts;  ///< of the sums, which decides their bits
    Route route = Route::automatic;    ///< of the rows, which decides the time
};

}  // namespace rowan::inline v0
