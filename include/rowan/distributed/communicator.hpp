// rowan/distributed/communicator.hpp: communicator, what rowan asks of a process group.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// What a rank of a group on several nodes knows of them. A node is a run of consecutive ranks that exchange bytes
/// faster with each other than with others, such as those of one machine.
template <class C>
struct Nodes {
    C node;                   ///< the ranks of this rank's node, in their order
    C across;                 ///< the ranks that have this one's place in their nodes, in their order
    std::vector<int> begins;  ///< the first rank of each node, and the number of all ranks; the same on all ranks
};

/// A process group: `size()` ranks, numbered from 0, that exchange bytes. Every rank calls the same operations in the
/// same order. Models: Self, Threads, Mpi, Nccl.
///
/// | call | what it does, on every rank |
/// |---|---|
/// | `sum(words)` | replaces the words by their sums over the ranks, which wrap around |
/// | `allgather(in, out)` | out = the ranks' `in`, one after another; all have the same size |
/// | `alltoall(in, out)` | block r of `in` goes to rank r, block r of `out` is from rank r; all have the same size |
/// | `alltoallv(unit, in, counts, out, out_counts).wait()` | the same with blocks of counts[r] * unit bytes |
/// | `allgatherv(unit, in, out, counts).wait()` | as allgather; rank r brings counts[r] * unit bytes |
/// | `barrier()` | returns when all ranks have called it |
/// | `abort(text)` | prints the text and ends all ranks |
///
/// alltoallv and allgatherv begin an exchange, which is complete when `wait()` of their result returns. Until then, the
/// spans must stay valid. Several may be open at once; all ranks begin them in the same order.
///
/// A model may also have
/// - `nodes()`, a std::optional<Nodes<C>>: none, as without it, if all ranks are on one node. All ranks call it, often:
///   it keeps the groups. Sums of rows and lookups of sharded tables then send less from node to node.
/// - `test()` of what alltoallv and allgatherv return: whether the exchange is complete, so that wait() would return at
///   once. Ranks may see it at different times, and then begin other exchanges: those of a `duplicate()`.
/// - `duplicate()`, a group of the same ranks, whose exchanges are begun in an order of their own. All ranks call it.
/// - `progress()`: goes on with open exchanges without waiting, and returns whether it can do so. Another thread calls it
///   while the rank computes or exchanges; this thread also begins exchanges of a `duplicate()`, and waits for them.
/// - `expect(what, patience)`: names what the rank comes to next, such as `step 17's fetch`, and how long its calls then wait
///   for other ranks, in std::chrono::milliseconds, 0: for ever. A rank that has waited longer throws RemoteError, or ends all
///   ranks, and all later calls throw RemoteError. Without it, options.patience of a training is refused.
/// - `few_ranks`, a static constant. Operations begin with an agreement: up to this number of ranks, without it 512, an
///   allgather of 64 bytes from each; above, a `sum` of 3 words, and then an allgather only where it is needed.
template <class C>
concept communicator = std::copy_constructible<C> &&
    requires(C const& c, std::span<std::byte const> in, std::span<std::byte> out, std::span<std::int64_t> words,
             std::span<std::size_t const> counts, std::size_t unit, std::string_view text) {
    { c.rank() } -> std::same_as<int>;
    { c.size() } -> std::same_as<int>;
    c.sum(words);
    c.allgather(in, out);
    c.alltoall(in, out);
    c.alltoallv(unit, in, counts, out, counts).wait();
    c.allgatherv(unit, in, out, counts).wait();
    c.barrier();
    c.abort(text);
};

}  // namespace rowan::inline v0
