// rowan/distributed/threads.hpp: Threads, a process group whose ranks are threads, for tests.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/self.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

/// A process group whose ranks are threads of one process, to test programs for many ranks without MPI. Where ranks
/// call different operations, or one does not come, all get an error that says so; the group then is unusable.
class Threads {
public:
    /// Calls f(comm) on `ranks` threads, with a Threads for each, and returns when all have ended. `per_node` ranks make
    /// a node, and what remains the last one; 0: one node.
    /// errors   ValueError if ranks < 1 or per_node < 0; the first exception of f. The other ranks get a RemoteError
    ///          that names its rank; all get one if a rank waits longer than `patience`, or that of expect()
    /// cost     `ranks` threads
    ROWAN_IF_CALLED static void run(int ranks, std::function<void(Threads const&)> const& f,
                                    std::chrono::milliseconds patience = std::chrono::seconds(20), int per_node = 0);

    int rank() const noexcept { return rank_; }
    ROWAN_IF_CALLED int size() const noexcept;
    ROWAN_IF_CALLED void sum(std::span<std::int64_t> words) const;
    ROWAN_IF_CALLED void allgather(std::span<std::byte const> in, std::span<std::byte> out) const;
    ROWAN_IF_CALLED void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const;
    ROWAN_IF_CALLED detail::Done alltoallv(std::size_t unit, std::span<std::byte const> in,
                                           std::span<std::size_t const> counts, std::span<std::byte> out,
                                           std::span<std::size_t const> out_counts) const;
    ROWAN_IF_CALLED detail::Done allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                                            std::span<std::size_t const> counts) const;
    ROWAN_IF_CALLED void barrier() const;
    /// Throws an Error of this text here, and RemoteError on the other ranks.
    ROWAN_IF_CALLED [[noreturn]] void abort(std::string_view text) const;
    /// The nodes, if run has made several.
    /// errors   none
    /// cost     no message
    ROWAN_IF_CALLED std::optional<Nodes<Threads>> nodes() const;
    /// Names what this rank comes to next, and how long it waits there; 0: as long as `run` says.
    /// errors   none
    /// cost     no message
    ROWAN_IF_CALLED void expect(std::string_view what, std::chrono::milliseconds patience) const;

private:
    struct World;   // what the groups of one run have in common
    struct Shared;  // a group: all ranks, those of a node, or those of one place in their nodes
    struct Lock;    // of the mutex of a World

    Threads(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}
    ROWAN_IF_CALLED static std::shared_ptr<Shared> all_ranks(int ranks, std::chrono::milliseconds patience,
                                                             int per_node);

    /// Waits for all ranks, calls f, which may read what they bring, and waits again.
    ROWAN_IF_CALLED void meet(std::string_view op, std::span<std::byte const> in, std::span<std::size_t const> counts,
                              std::function<void()> const& f) const;
    ROWAN_IF_CALLED void arrive(std::string_view op) const;  // the first wait; throws
    ROWAN_IF_CALLED void leave() const noexcept;             // the second
    ROWAN_IF_CALLED void wait(Lock& lock, std::string_view op, unsigned phase) const;
    ROWAN_IF_CALLED void report(std::string const& text) const;
    ROWAN_IF_CALLED [[noreturn]] void fail(std::string const& text) const;
    ROWAN_IF_CALLED [[noreturn]] void throw_error() const;  // what has broken the groups

    std::shared_ptr<Shared> shared_;
    int rank_;
};

static_assert(communicator<Threads>);

}  // namespace rowan::inline v0

#include <rowan/distributed/threads_inl.hpp>
