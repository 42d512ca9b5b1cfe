// rowan/distributed/plan.hpp: plan, which rank gets which rows of the tables of a net, and what that costs each rank.
#pragma once

#include <rowan/distributed/table_to_place.hpp>
#include <rowan/sparse/placement.hpp>

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The settings of a plan.
struct PlanOptions {
    /// A table of at most so many bytes, with states, is replicated. It sends about its rows and their sums, at most
    /// twice its bytes in a step: 50 µs at 10 GB/s, about what the messages of an exchange take in any case. In return,
    /// its rows need not be fetched before the net runs, and every rank looks them up in its own memory.
    std::int64_t replicated_bytes = std::int64_t{1} << 18;
    /// A table is whole on one rank if a rank asks each other one for fewer rows of it than this in a step, and ranks
    /// stay even: so its ids go to one rank instead of a few to each.
    std::int64_t whole_rows = 16;
    double busiest = 1.1;  ///< how many times the mean of load or memory a rank may have because of whole tables
    /// Whether wide tables of few rows may be cut by columns. The pieces are parameters of their own: a net with another
    /// number of them does not load them, and they follow the number of ranks.
    bool cut_columns = false;
    std::int64_t memory = 0;  ///< bytes that a rank has for tables and states; 0: any number
};

/// Where tables are, and what a rank has of them.
///     std::cout << plan(tables, comm.size());
///     layer::embedding(ids, {.height = h, .width = w, .sharded = p["user"].sharded, .placement = p["user"].placement})
struct Plan {
    /// A table and its place.
    struct Table {
        TableToPlace table;        ///< as it was given
        bool sharded = true;       ///< false: every rank has all rows
        Placement placement = {};  ///< of a sharded table
        /// Where it is, as text: "replicated", "whole on rank 2", "blocks of 64 rows from rank 0 on", "4 pieces of
        /// columns from rank 0 on".
        /// errors   std::bad_alloc
        /// cost     O(1)
        std::string text() const;
    };
    /// Of a rank.
    struct Rank {
        double memory = 0;  ///< bytes of rows, their states and numbers
        double load = 0;    ///< bytes of rows that it reads for ranks that ask, and changes, in a step
        double sent = 0;    ///< bytes that it sends in a step
    };
    std::vector<Table> tables;  ///< in the order in which they were given
    std::vector<Rank> ranks;    ///< of each rank

    /// The table of this name.
    /// errors   Error if there is none
    /// cost     O(tables)
    Table const& operator[](std::string_view name) const;
    /// The greatest number of a rank divided by the mean, of Plan::Rank::memory, load or sent; 1 if all are 0.
    /// errors   none
    /// cost     O(ranks)
    double busiest(double Rank::*what) const;

    friend std::ostream& operator<<(std::ostream& out, Plan const& p) { return p.print(out); }

private:
    std::ostream& print(std::ostream& out) const;
};

/// Plans where tables are, before any of them is allocated and without any message. Tables that are small are
/// replicated; of others, the rows are dealt to all ranks, which is what balances best, in blocks; few ranks are asked
/// for a table where this is not needed: see PlanOptions.
///     blocks    of 64 rows or fewer, so small that the rows of a step, were they all at the beginning of the table,
///               would make 16 for each rank: frequent ids are often neighbours. Blocks of one row are a cyclic table
///     columns   with options.cut_columns, of rows of which there are fewer than 16 for each rank, in as many pieces as
///               there are ranks, each whole on one rank, if a piece has at least 16 elements
///     whole     tables of few rows in a step, the busiest first, each on the rank with the least; while a rank has more
///               than options.busiest times the mean, its greatest whole table is dealt to all
/// The model is of what train does. A rank asks for each different row of its batches once, and receives the row and
/// returns its gradient, whatever the number of lookups: so a frequent id makes no rank busy, and a table that is
/// whole sends no fewer bytes than one that is dealt. Of n lookups of a step with U different ids, a rank of P names
/// u = n · U / (n + (P-1) · U), and U is n · height / (n + height) where it is not known; if n is not known, the load
/// counts as 0, and a rank may ask for all rows. The rows that are named are spread over ranks as all rows are.
///     memory   rows · (elements + states + 8 for their numbers), or height · (elements + states) replicated
///     load     (P · u + U) · share of the rows · bytes of elements, or (u + U) · bytes of elements replicated
///     sent     u · (1 - share) · (8 + bytes of a gradient) + (P-1) · u · share · bytes of elements; replicated that of
///              row_allreduce by the better of its routes
/// The plan depends on nothing but the arguments; equal tables and ranks are taken in their order. Any number of ranks
/// loads what others have saved, wherever the rows are, if the same tables are sharded: a smaller options.memory, or
/// another options.replicated_bytes, may change that.
/// errors   ShapeError if ranks is below 1, options.memory or a number of a table is negative, element_bytes is 0, lookups
///          are fewer than different ids, or different ids more than the height; Error if two tables have one name;
///          ValueError if options.busiest is not finite; ShapeError if a rank needs more than options.memory, also when
///          all tables are dealt to all ranks: it names the rank and its greatest table
/// cost     O(tables² + tables · ranks · pieces of columns), for each table that is dealt because a rank has too much
Plan plan(std::span<TableToPlace const> tables, int ranks, PlanOptions const& options = {});

}  // namespace rowan::inline v0

#include <rowan/distributed/plan_inl.hpp>
