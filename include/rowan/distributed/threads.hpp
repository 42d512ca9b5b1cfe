// rowan/distributed/threads.hpp: Threads, a process group whose ranks are threads, for tests.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/long_wait.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/distributed/self.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    static void run(int ranks, std::function<void(Threads const&)> const& f,
                    std::chrono::milliseconds patience = std::chrono::seconds(20), int per_node = 0);

    int rank() const noexcept { return rank_; }
    int size() const noexcept;
    void sum(std::span<std::int64_t> words) const;
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const;
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const;
    detail::Done alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                           std::span<std::byte> out, std::span<std::size_t const> out_counts) const;
    detail::Done allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                            std::span<std::size_t const> counts) const;
    void barrier() const;
    /// Throws an Error of this text here, and RemoteError on the other ranks.
    [[noreturn]] void abort(std::string_view text) const;
    /// The nodes, if run has made several.
    /// errors   none
    /// cost     no message
    std::optional<Nodes<Threads>> nodes() const;
    /// Names what this rank comes to next, and how long it waits there; 0: as long as `run` says.
    /// errors   none
    /// cost     no message
    void expect(std::string_view what, std::chrono::milliseconds patience) const;

private:
    /// What the groups of one run have in common.
    struct World {
        World(std::size_t ranks, std::chrono::milliseconds how_long)
            : patience(how_long), expected(ranks), calls(ranks) {}
        std::chrono::milliseconds const patience;
        std::mutex mutex;  // of all that follows, and of what Shared says
        std::condition_variable changed;
        std::vector<detail::Expected> expected;  // by rank
        std::vector<std::string_view> calls;     // in which ranks wait; else empty
        std::string error;                       // what has broken the groups
        int error_rank = -1;
        bool late = false;  // whether it is that this rank has not come
    };

    /// A group: all ranks, those of a node, or those of one place in their nodes.
    struct Shared {
        Shared(std::shared_ptr<World> all, int first_rank, int step_to_next, int ranks)
            : world(std::move(all)), first(first_rank), step(step_to_next), size(ranks),
              in(static_cast<std::size_t>(ranks)), counts(in.size()) {}
        int number(int rank) const { return first + rank * step; }  // among all ranks

        std::shared_ptr<World> const world;
        int const first, step, size;
        // What each rank brings to the operation that all are in.
        std::vector<std::span<std::byte const>> in;
        std::vector<std::span<std::size_t const>> counts;
        std::vector<std::shared_ptr<Shared>> nodes, places;  // of all ranks, if these have several nodes

        // With the mutex of the world:
        std::string_view op;  // of the first that has arrived
        int op_rank = 0, arrived = 0, ended_rank = -1;
        unsigned phase = 0;
    };

    Threads(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}
    static std::shared_ptr<Shared> all_ranks(int ranks, std::chrono::milliseconds patience, int per_node);

    /// Waits for all ranks, calls f, which may read what they bring, and waits again.
    void meet(std::string_view op, std::span<std::byte const> in, std::span<std::size_t const> counts,
              std::function<void()> const& f) const;
    void arrive(std::string_view op) const;  // the first wait; throws
    void leave() const noexcept;             // the second
    void wait(std::unique_lock<std::mutex>& lock, std::string_view op, unsigned phase) const;
    void report(std::string const& text) const;
    [[noreturn]] void fail(std::string const& text) const;
    [[noreturn]] void throw_error() const;  // what has broken the groups

    std::shared_ptr<Shared> shared_;
    int rank_;
};

static_assert(communicator<Threads>);

}  // namespace rowan::inline v0

#include <rowan/distributed/threads_inl.hpp>
