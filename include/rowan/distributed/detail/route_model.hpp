// rowan/distributed/detail/route_model.hpp: fastest_route, what Route::automatic chooses.
#pragma once

#include <rowan/distributed/row_reduce_options.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace rowan::inline v0::detail {

/// What all ranks know of a sum of rows before rows travel. Bytes are those of all ranks together.
struct RouteCounts {
    std::size_t ranks;
    std::size_t nodes, places;  // 1 node, or several, each with so many ranks or more
    std::size_t gathered;       // bytes of what is to be summed, if every rank gets it
    std::size_t dealt;          // the same, if owners get it
    std::size_t added;          // bytes that are added up, if owners sum
    std::size_t result;         // bytes of the sum
};

/// The route that takes the least time by the model of tests/bench/README.md. Its unit is the time in which a byte
/// travels. That of a message is between those measured within a machine, 4 KiB, and assumed of a network, 240 KiB. A
/// byte that is summed takes as long as one that travels; of the sum that owners send, half as long to put in place;
/// and one that stays on its node a quarter.
inline Route fastest_route(RouteCounts const& c) {
    static constexpr double message = 32768, in_place = 0.5, near = 0.25;
    struct Step {  // an exchange among n ranks: the others, as a number and as a share
        double others, share, small;
        explicit Step(std::size_t n)
            : others(static_cast<double>(n - 1)), share(others / static_cast<double>(n)),
              small(static_cast<double>(std::bit_width(n - 1))) {}
        double owner_messages() const { return 4 * (others + small) * message; }
    };
    Step const all(c.ranks), node(c.places), across(c.nodes);
    auto const of_rank = [&](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(c.ranks); };
    double const gathered = static_cast<double>(c.gathered), result = static_cast<double>(c.result),
                 dealt = of_rank(c.dealt), added = of_rank(c.added),
                 shared = std::min(0.75 * dealt, result / static_cast<double>(c.places));  // a rank's rows of its node
    double const gather = (2 * all.others + all.small) * message + (all.share + 1) * gathered;
    double const owner = all.owner_messages() + all.share * (dealt + result) + added + in_place * result;
    double const by_node = node.owner_messages() + across.owner_messages() + near * node.share * (dealt + result) +
                           across.share * (shared + result / static_cast<double>(c.places)) + added + shared +
                           in_place * result;
    if (c.nodes > 1 && c.places > 1 && by_node < std::min(gather, owner)) return Route::node;
    return owner < gather ? Route::owner : Route::gather;
}

}  // namespace rowan::inline v0::detail
