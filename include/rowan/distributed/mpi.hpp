// rowan/distributed/mpi.hpp: Mpi, the ranks of an MPI communicator, and run_mpi.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/long_wait.hpp>
#include <rowan/distributed/detail/mpi_group.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// The ranks of an MPI communicator. Copies are of one group. Only the thread that initialised MPI may use it, unless
/// MPI was initialised with MPI_THREAD_SERIALIZED or more; no two threads at the same time.
///     int main(int argc, char** argv) {
///         return rowan::run_mpi(argc, argv, [](rowan::Mpi const& comm) { … });
///     }
class Mpi {
public:
    /// Duplicates the communicator, so that what the program sends cannot meet what rowan sends. Collective. Ranks that
    /// can share memory are a node, or, with `per_node`, so many consecutive ranks and what remains: those of a socket.
    /// requires   the same per_node, 0 or more, on all ranks
    /// errors     MpiError
    /// cost       one MPI_Comm_dup
    explicit Mpi(MPI_Comm comm = MPI_COMM_WORLD, int per_node = 0) : Mpi(all_of(comm)) { shared_->per_node = per_node; }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    void sum(std::span<std::int64_t> words) const {
        static constexpr std::size_t most = most_own / sizeof(std::int64_t);
        for (std::size_t at = 0; at < words.size(); at += most) {
            auto const some = words.subspan(at, std::min(most, words.size() - at));
            auto const own = own_copy(std::as_bytes(some));
            call("MPI_Iallreduce", [&](MPI_Request* request) {
                return MPI_Iallreduce(MPI_IN_PLACE, own.data(), static_cast<int>(some.size()), MPI_INT64_T, MPI_SUM,
                                      shared_->comm, request);
            });
            std::memcpy(some.data(), own.data(), some.size_bytes());
        }
    }

    /// Of few bytes in a logarithm of the ranks' number of rounds, each rank with two others.
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        if (out.size() > most_own) {
            std::vector<std::size_t> const counts(static_cast<std::size_t>(size_), in.size());
            allgatherv(1, in, out, counts).wait();
            return;
        }
        auto const ranks = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
        std::size_t const each = in.size();
        if (each == 0) return;
        auto const own = own_copy(in, out.size());  // block i is that of the rank i places on
        for (std::size_t have = 1; have < ranks; have *= 2) {
            std::size_t const n = std::min(have, ranks - have) * each;
            std::array<MPI_Request, 2> open{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            auto const rank = [&](std::size_t r) { return static_cast<int>(r % ranks); };
            detail::check_mpi(MPI_Irecv(own.data() + have * each, static_cast<int>(n), MPI_BYTE, rank(me + have),
                                        rounds, shared_->comm, open.data()),
                              "MPI_Irecv");
            detail::check_mpi(MPI_Isend(own.data(), static_cast<int>(n), MPI_BYTE, rank(me + ranks - have), rounds,
                                        shared_->comm, &open[1]),
                              "MPI_Isend");
            shared_->wait(open, "allgather");
        }
        std::memcpy(out.data() + me * each, own.data(), (ranks - me) * each);
        if (me != 0) std::memcpy(out.data(), own.data() + (ranks - me) * each, me * each);
    }

    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        std::size_t const each = in.size() / static_cast<std::size_t>(size_);
        if (in.size() > most_own) {
            std::vector<std::size_t> const counts(static_cast<std::size_t>(size_), each);
            alltoallv(1, in, counts, out, counts).wait();
            return;
        }
        int const n = static_cast<int>(each);
        auto const own = own_copy(in, 2 * in.size());
        call("MPI_Ialltoall", [&](MPI_Request* request) {
            return MPI_Ialltoall(own.data(), n, MPI_BYTE, own.data() + in.size(), n, MPI_BYTE, shared_->comm, request);
        });
        if (!in.empty()) std::memcpy(out.data(), own.data() + in.size(), in.size());
    }

    /// Point to point, in pieces of at most 1 GiB: nothing is sent where there is nothing, and no count or displacement
    /// has to fit an int, as in MPI_Ialltoallv.
    detail::MpiRequests alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                                  std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        auto const ranks = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
        std::vector<std::size_t> from(ranks + 1), to(ranks + 1);
        for (std::size_t r = 0; r < ranks; ++r) {
            from[r + 1] = from[r] + counts[r] * unit;
            to[r + 1] = to[r] + out_counts[r] * unit;
        }
        shared_->watch->check();
        detail::MpiRequests requests(shared_);
        for (std::size_t k = 1; k < ranks; ++k) {  // each rank begins with another
            std::size_t const r = (me + ranks - k) % ranks;
            receive(out.subspan(to[r], to[r + 1] - to[r]), r, requests);
        }
        for (std::size_t k = 1; k < ranks; ++k) {
            std::size_t const r = (me + k) % ranks;
            send(in.subspan(from[r], from[r + 1] - from[r]), r, requests);
        }
        if (counts[me] != 0) std::memcpy(out.data() + to[me], in.data() + from[me], counts[me] * unit);
        return requests;
    }

    /// MPI's own if all fits 1 GiB, else as alltoallv.
    detail::MpiRequests allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                                   std::span<std::size_t const> counts) const {
        auto const ranks = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
        shared_->watch->check();
        detail::MpiRequests requests(shared_);
        if (detail::total(counts) * unit <= largest) {
            std::vector<int> sizes, begins;
            for (std::size_t r = 0, at = 0; r < ranks; at += counts[r++] * unit) {
                sizes.push_back(static_cast<int>(counts[r] * unit));
                begins.push_back(static_cast<int>(at));
            }
            requests.reserve_kept(2);
            int const* const n = requests.keep(std::move(sizes)).data();
            int const* const at = requests.keep(std::move(begins)).data();
            requests.add("MPI_Iallgatherv", [&](MPI_Request* request) {
                return MPI_Iallgatherv(in.data(), static_cast<int>(in.size()), MPI_BYTE, out.data(), n, at, MPI_BYTE,
                                       shared_->comm, request);
            });
            return requests;
        }
        for (std::size_t r = 0, at = 0; r < ranks; at += counts[r++] * unit) {
            if (r != me) {
                receive(out.subspan(at, counts[r] * unit), r, requests);
            } else if (!in.empty()) {
                std::memcpy(out.data() + at, in.data(), in.size());
            }
        }
        for (std::size_t k = 1; k < ranks; ++k) send(in, (me + k) % ranks, requests);
        return requests;
    }

    void barrier() const {
        shared_->watch->check();
        call("MPI_Ibarrier", [&](MPI_Request* request) { return MPI_Ibarrier(shared_->comm, request); });
    }

    /// Names what this rank comes to next, and how long it waits there; 0: for ever. For all groups that are made of one.
    /// A rank that waits in sum, barrier or a call of up to 1 MiB throws; in other exchanges, the messages of which use the
    /// caller's memory, it ends all ranks. The calls of MPI that make groups are not watched: nodes() and duplicate().
    /// errors   none
    /// cost     no message
    void expect(std::string_view what, std::chrono::milliseconds patience) const {
        shared_->watch->expect(what, patience);
    }

    /// A node is a run of consecutive ranks: of ranks that are dealt to machines in turn, each is one.
    /// errors   MpiError
    /// cost     the first call: three MPI_Comm_split and an allgather of 4 bytes; later ones none
    std::optional<Nodes<Mpi>> nodes() const {
        shared_->watch->check();
        if (!std::exchange(shared_->knows_nodes, true)) find_nodes();
        if (shared_->nodes == nullptr) return {};
        return *shared_->nodes;
    }

    /// A group of the same ranks and nodes. Collective.
    /// errors   MpiError
    /// cost     one MPI_Comm_dup
    Mpi duplicate() const {
        shared_->watch->check();
        auto shared = std::make_shared<Shared>(shared_->watch, duplicate(shared_->comm), shared_->ranks);
        shared->per_node = shared_->per_node;
        return Mpi(std::move(shared));
    }

    /// Goes on with the exchanges of all groups, if MPI was initialised with MPI_THREAD_MULTIPLE: then any thread may call
    /// it. Returns whether it was.
    /// errors   MpiError
    /// cost     two calls of MPI, which do not wait
    bool progress() const {
        int level = 0, there = 0;
        MPI_Query_thread(&level);
        if (level == MPI_THREAD_MULTIPLE)
            detail::check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shared_->comm, &there, MPI_STATUS_IGNORE),
                              "MPI_Iprobe");
        return level == MPI_THREAD_MULTIPLE;
    }

    /// Prints the text with the rank to standard error and ends all ranks.
    [[noreturn]] void abort(std::string_view text) const {
        detail::print_error(rank_, text);
        MPI_Abort(shared_->comm, 1);
        std::abort();
    }

private:
    static constexpr std::size_t largest = std::size_t{1} << 30;   // bytes of a message
    static constexpr std::size_t most_own = std::size_t{1} << 20;  // bytes that travel by way of memory of the group
    static constexpr int tag = 1, rounds = 3;

    /// What copies share.
    struct Shared : detail::MpiGroup {
        using MpiGroup::MpiGroup;
        int per_node = 0;
        bool knows_nodes = false;
        std::unique_ptr<Nodes<Mpi>> nodes;  // null: one, or unknown
    };

    explicit Mpi(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
        detail::check_mpi(MPI_Comm_rank(shared_->comm, &rank_), "MPI_Comm_rank");
        detail::check_mpi(MPI_Comm_size(shared_->comm, &size_), "MPI_Comm_size");
    }
    static std::shared_ptr<Shared> all_of(MPI_Comm comm) {
        MPI_Comm const own = duplicate(comm);
        int rank = 0, size = 1;
        detail::check_mpi(MPI_Comm_rank(own, &rank), "MPI_Comm_rank");
        detail::check_mpi(MPI_Comm_size(own, &size), "MPI_Comm_size");
        std::vector<int> all(static_cast<std::size_t>(size));
        std::iota(all.begin(), all.end(), 0);
        return std::make_shared<Shared>(std::make_shared<detail::MpiWatch>(own, rank, size), own, std::move(all));
    }
    static MPI_Comm duplicate(MPI_Comm comm) {
        MPI_Comm own = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
        detail::check_mpi(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        return own;
    }
    /// The ranks of the same color, which are `ranks` of these.
    Mpi split(int color, std::vector<int> ranks) const {
        MPI_Comm part = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_split(shared_->comm, color, rank_, &part), "MPI_Comm_split");
        detail::check_mpi(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        for (int& r : ranks) r = shared_->ranks[static_cast<std::size_t>(r)];
        Mpi mine(std::make_shared<Shared>(shared_->watch, part, std::move(ranks)));
        mine.shared_->knows_nodes = true;
        return mine;
    }
    /// The first `bytes` of the memory that calls may still use when they throw, with a copy of `in`.
    std::span<std::byte> own_copy(std::span<std::byte const> in, std::size_t bytes = 0) const {
        shared_->watch->check();
        auto& memory = shared_->memory;
        if (memory.size() < std::max(bytes, in.size())) memory.resize(std::max(bytes, in.size()));
        if (!in.empty()) std::memcpy(memory.data(), in.data(), in.size());
        return memory;
    }
    /// Begins f(request) of that memory, and waits.
    template <class F>
    void call(char const* name, F const& f) const {
        MPI_Request request = MPI_REQUEST_NULL;
        detail::check_mpi(f(&request), name);
        shared_->wait(std::span(&request, 1), name);
    }
    void find_nodes() const {
        int first = shared_->per_node == 0 ? first_on_machine() : rank_ / shared_->per_node * shared_->per_node;
        std::vector<int> all(static_cast<std::size_t>(size_)), begins;
        allgather(std::as_bytes(std::span(&first, 1)), std::as_writable_bytes(std::span(all)));
        for (int r = 0; r < size_; ++r) {
            auto const at = static_cast<std::size_t>(r);
            if (r == 0 || all[at] != all[at - 1]) begins.push_back(r);
            if (r == rank_) first = begins.back();
        }
        if (begins.size() == 1) return;
        begins.push_back(size_);
        std::vector<int> node, across;
        for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
            for (int r = begins[k]; begins[k] == first && r < begins[k + 1]; ++r) node.push_back(r);
            if (begins[k] + (rank_ - first) < begins[k + 1]) across.push_back(begins[k] + (rank_ - first));
        }
        shared_->nodes = std::make_unique<Nodes<Mpi>>(
            Nodes<Mpi>{split(first, std::move(node)), split(rank_ - first, std::move(across)), std::move(begins)});
    }
    /// The first of the ranks with which this one shares memory.
    int first_on_machine() const {
        MPI_Comm machine = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_split_type(shared_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
                          "MPI_Comm_split_type");
        int first = rank_;
        detail::check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, machine), "MPI_Bcast");
        detail::check_mpi(MPI_Comm_free(&machine), "MPI_Comm_free");
        return first;
    }

    void receive(std::span<std::byte> bytes, std::size_t rank, detail::MpiRequests& requests) const {
        for (std::size_t at = 0; at < bytes.size(); at += largest) {
            requests.add("MPI_Irecv", [&](MPI_Request* request) {
                return MPI_Irecv(bytes.data() + at, static_cast<int>(std::min(largest, bytes.size() - at)), MPI_BYTE,
                                 static_cast<int>(rank), tag, shared_->comm, request);
            });
        }
    }
    void send(std::span<std::byte const> bytes, std::size_t rank, detail::MpiRequests& requests) const {
        for (std::size_t at = 0; at < bytes.size(); at += largest) {
            requests.add("MPI_Isend", [&](MPI_Request* request) {
                return MPI_Isend(bytes.data() + at, static_cast<int>(std::min(largest, bytes.size() - at)), MPI_BYTE,
                                 static_cast<int>(rank), tag, shared_->comm, request);
            });
        }
    }

    std::shared_ptr<Shared> shared_;
    int rank_ = 0, size_ = 1;
};

static_assert(communicator<Mpi>);

/// Calls f(comm) between MPI_Init_thread, with MPI_THREAD_MULTIPLE, and MPI_Finalize and returns its result, for main to
/// return. An exception that
/// leaves f is printed as `rank 2: …` and ends all ranks, so that none waits for ever. If f returns on one rank while
/// the others still call operations, these throw RemoteError.
/// errors   none: they end the program
/// cost     that of MPI_Init_thread and MPI_Finalize, and one agreement
template <std::invocable<Mpi const&> F>
int run_mpi(int& argc, char**& argv, F const& f) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int result = 0;
    {
        Mpi const comm;
        try {
            result = f(comm);
            detail::farewell(detail::GroupOf<Mpi>(comm));
        } catch (std::exception const& e) {
            comm.abort(e.what());
        } catch (...) {
            comm.abort("an exception that is not a std::exception");
        }
    }
    MPI_Finalize();
    return result;
}

}  // namespace rowan::inline v0
