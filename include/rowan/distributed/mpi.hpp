// rowan/distributed/mpi.hpp: Mpi, the ranks of an MPI communicator, and run_mpi.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/print_error.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#if !__has_include(<mpi.h>)
#error "rowan/distributed/mpi.hpp needs MPI (in Debian libopenmpi-dev or libmpich-dev): install it and link rowan::mpi"
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A call of MPI has failed: `MPI_Allgather: MPI_ERR_COMM: invalid communicator`.
class MpiError : public Error {
public:
    using Error::Error;
};

namespace detail {

inline void check_mpi(int code, char const* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw MpiError(std::string(call).append(": ").append(text, static_cast<std::size_t>(length)));
}

/// Messages that have begun.
class MpiRequests {
public:
    MpiRequests() = default;
    MpiRequests(MpiRequests&& other) noexcept : open_(std::exchange(other.open_, {})), kept_(std::move(other.kept_)) {}
    MpiRequests& operator=(MpiRequests&&) = delete;
    /// Waits, as the messages use memory of the caller.
    ~MpiRequests() {
        if (!open_.empty()) MPI_Waitall(static_cast<int>(open_.size()), open_.data(), MPI_STATUSES_IGNORE);
    }

    void wait() {
        auto open = std::exchange(open_, {});
        check_mpi(MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

    bool test() {
        int complete = 1;
        if (!open_.empty())
            check_mpi(MPI_Testall(static_cast<int>(open_.size()), open_.data(), &complete, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
        return complete != 0;
    }

    /// Begins a message: f(request).
    template <class F>
    void add(char const* call, F const& f) {
        check_mpi(f(&open_.emplace_back(MPI_REQUEST_NULL)), call);
    }
    /// Counts that a message reads until it is complete.
    std::vector<int>& keep(std::vector<int> counts) { return kept_.emplace_back(std::move(counts)); }
    void reserve_kept(std::size_t n) { kept_.reserve(n); }

private:
    std::vector<MPI_Request> open_;
    std::vector<std::vector<int>> kept_;
};

}  // namespace detail

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
    explicit Mpi(MPI_Comm comm = MPI_COMM_WORLD, int per_node = 0) : Mpi(duplicate(comm), Owned{}) {
        shared_->per_node = per_node;
    }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    void sum(std::span<std::int64_t> words) const {
        for (std::size_t at = 0; at < words.size(); at += most_words) {
            auto const n = static_cast<int>(std::min(most_words, words.size() - at));
            detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, words.data() + at, n, MPI_INT64_T, MPI_SUM, shared_->comm),
                              "MPI_Allreduce");
        }
    }

    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        if (out.size() > largest) {
            std::vector<std::size_t> const counts(static_cast<std::size_t>(size_), in.size());
            allgatherv(1, in, out, counts).wait();
            return;
        }
        int const n = static_cast<int>(in.size());
        detail::check_mpi(MPI_Allgather(in.data(), n, MPI_BYTE, out.data(), n, MPI_BYTE, shared_->comm),
                          "MPI_Allgather");
    }

    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        std::size_t const each = in.size() / static_cast<std::size_t>(size_);
        if (in.size() > largest) {
            std::vector<std::size_t> const counts(static_cast<std::size_t>(size_), each);
            alltoallv(1, in, counts, out, counts).wait();
            return;
        }
        int const n = static_cast<int>(each);
        detail::check_mpi(MPI_Alltoall(in.data(), n, MPI_BYTE, out.data(), n, MPI_BYTE, shared_->comm), "MPI_Alltoall");
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
        detail::MpiRequests requests;
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
        detail::MpiRequests requests;
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

    void barrier() const { detail::check_mpi(MPI_Barrier(shared_->comm), "MPI_Barrier"); }

    /// A node is a run of consecutive ranks: of ranks that are dealt to machines in turn, each is one.
    /// errors   MpiError
    /// cost     the first call: three MPI_Comm_split and an allgather of 4 bytes; later ones none
    std::optional<Nodes<Mpi>> nodes() const {
        if (!std::exchange(shared_->knows_nodes, true)) find_nodes();
        if (shared_->nodes == nullptr) return {};
        return *shared_->nodes;
    }

    /// A group of the same ranks and nodes. Collective.
    /// errors   MpiError
    /// cost     one MPI_Comm_dup
    Mpi duplicate() const { return Mpi(shared_->comm, shared_->per_node); }

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
    static constexpr std::size_t largest = std::size_t{1} << 30;  // bytes of a message
    static constexpr std::size_t most_words = largest / sizeof(std::int64_t);
    static constexpr int tag = 1;

    /// What copies share.
    struct Shared {
        explicit Shared(MPI_Comm own) : comm(own) {}
        Shared(Shared const&) = delete;
        Shared& operator=(Shared const&) = delete;
        ~Shared() {
            int finalized = 0;
            MPI_Finalized(&finalized);
            if (finalized == 0) MPI_Comm_free(&comm);
        }
        MPI_Comm comm;
        int per_node = 0;
        bool knows_nodes = false;
        std::unique_ptr<Nodes<Mpi>> nodes;  // null: one, or unknown
    };
    struct Owned {};

    Mpi(MPI_Comm own, Owned) : shared_(std::make_shared<Shared>(own)) {
        detail::check_mpi(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        detail::check_mpi(MPI_Comm_rank(own, &rank_), "MPI_Comm_rank");
        detail::check_mpi(MPI_Comm_size(own, &size_), "MPI_Comm_size");
    }
    static MPI_Comm duplicate(MPI_Comm comm) {
        MPI_Comm own = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
        return own;
    }
    /// The ranks of the same color.
    Mpi split(int color) const {
        MPI_Comm part = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_split(shared_->comm, color, rank_, &part), "MPI_Comm_split");
        Mpi mine(part, Owned{});
        mine.shared_->knows_nodes = true;
        return mine;
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
        shared_->nodes =
            std::make_unique<Nodes<Mpi>>(Nodes<Mpi>{split(first), split(rank_ - first), std::move(begins)});
    }
    /// The first of the ranks with which this one shares memory.
    int first_on_machine() const {
        MPI_Comm machine = MPI_COMM_NULL;
        detail::check_mpi(MPI_Comm_split_type(shared_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
                          "MPI_Comm_split_type");
        Mpi const ranks(machine, Owned{});
        std::vector<int> all(static_cast<std::size_t>(ranks.size()));
        ranks.allgather(std::as_bytes(std::span(&rank_, 1)), std::as_writable_bytes(std::span(all)));
        return all[0];
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
