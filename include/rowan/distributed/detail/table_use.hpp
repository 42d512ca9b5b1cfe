// rowan/distributed/detail/table_use.hpp: how a step uses a table, in the model of rowan::plan.
#pragma once

#include <rowan/distributed/table_to_place.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// errors   ShapeError if a number of tables[i] is bad
ROWAN_IF_CALLED void check_table(TableToPlace const& t, std::size_t i);

/// The different rows that the ranks of a step name, and those that one of them does.
struct NamedRows {
    ROWAN_IF_CALLED NamedRows(TableToPlace const& t, int ranks);
    double all = 0, of_rank = 0;
};

/// The bytes of elements and states.
ROWAN_IF_CALLED double table_bytes(TableToPlace const& t);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/table_use_inl.hpp>
