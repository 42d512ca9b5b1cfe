// rowan/distributed/threads.hpp: Threads, a process group whose ranks are threads, for tests.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/distributed/self.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A process group whose ranks are threads of one process, to test programs for many ranks without MPI. Where ranks call
/// different operations, or one does not come, all get an error that says so; the group then is unusable.
class Threads {
public:
    /// Calls f(comm) on `ranks` threads, with a Threads for each, and returns when all have ended. A rank that waits for
    /// others longer than `patience` throws.
    /// errors   ValueError if ranks < 1; the first exception of f. The other ranks get a RemoteError that names its rank
    /// cost     `ranks` threads
    static void run(int ranks, std::function<void(Threads const&)> const& f,
                    std::chrono::milliseconds patience = std::chrono::seconds(20));

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

private:
    struct Shared {
        Shared(int ranks, std::chrono::milliseconds wait)
            : in(static_cast<std::size_t>(ranks)), counts(in.size()), size(ranks), patience(wait) {}

        // What each rank brings to the operation that all are in.
        std::vector<std::span<std::byte const>> in;
        std::vector<std::span<std::size_t const>> counts;
        int const size;
        std::chrono::milliseconds const patience;

        std::mutex mutex;  // of all that follows
        std::condition_variable changed;
        std::string_view op;  // of the first that has arrived
        int op_rank = 0, arrived = 0;
        unsigned phase = 0;
        std::string error;  // what has broken the group
        int error_rank = -1, ended_rank = -1;
    };

    Threads(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

    /// Waits for all ranks, calls f, which may read what they bring, and waits again.
    void meet(std::string_view op, std::span<std::byte const> in, std::span<std::size_t const> counts,
              std::function<void()> const& f) const;
    void arrive(std::string_view op) const;  // the first wait; throws
    void leave() const noexcept;             // the second
    [[noreturn]] void fail(std::string const& text) const;

    std::shared_ptr<Shared> shared_;
    int rank_;
};

static_assert(communicator<Threads>);

}  // namespace rowan::inline v0

#include <rowan/distributed/threads_inl.hpp>
