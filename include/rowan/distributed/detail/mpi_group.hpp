// rowan/distributed/detail/mpi_group.hpp: MpiGroup, a communicator of MPI and how its ranks wait.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/long_wait.hpp>

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

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
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

/// What all groups that one Mpi has made have in common: a communicator, also for the notes of those that wait long.
class MpiWatch final : public RankWatch {
public:
    MpiWatch(MPI_Comm all, int rank, int size) : RankWatch(rank, size), all_(all), rank_(rank) {}
    /// Frees nothing that MPI may still use.
    ~MpiWatch() override {
        int finalized = 0, sent = 1;
        MPI_Finalized(&finalized);
        if (finalized == 0 && may_free()) MPI_Comm_free(&all_);
        for (auto& note : sent_) {
            if (finalized == 0 && sent != 0) MPI_Test(&note.request, &sent, MPI_STATUS_IGNORE);
        }
        if (finalized == 0 && sent == 0) static_cast<void>(new std::list<Sent>(std::move(sent_)));
    }

    MPI_Comm all() const { return all_; }
    bool may_free() const { return silent() && !has_ended(); }
    [[noreturn]] void abort(std::string_view text) const override {
        print_error(rank_, text);
        MPI_Abort(all_, 1);
        std::abort();
    }

private:
    static constexpr int tag = 2;
    struct Sent {
        RankNote note;
        MPI_Request request;
    };

    void send(int to, RankNote const& note) override {
        for (auto at = sent_.begin(); at != sent_.end();) {
            int complete = 0;
            check_mpi(MPI_Test(&at->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
            at = complete != 0 ? sent_.erase(at) : std::next(at);
        }
        auto& mine = sent_.emplace_back(Sent{note, MPI_REQUEST_NULL});
        check_mpi(MPI_Isend(&mine.note, sizeof mine.note, MPI_BYTE, to, tag, all_, &mine.request), "MPI_Isend");
    }
    bool receive(int& from, RankNote& note) override {
        int there = 0;
        MPI_Status status;
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, all_, &there, &status), "MPI_Iprobe");
        if (there == 0) return false;
        from = status.MPI_SOURCE;
        check_mpi(MPI_Recv(&note, sizeof note, MPI_BYTE, from, tag, all_, MPI_STATUS_IGNORE), "MPI_Recv");
        return true;
    }

    MPI_Comm all_;
    int rank_;
    std::list<Sent> sent_;
};

/// What the copies of a group share: its communicator and its ranks, as numbers among all.
struct MpiGroup {
    MpiGroup(std::shared_ptr<MpiWatch> w, MPI_Comm own, std::vector<int> all)
        : watch(std::move(w)), comm(own), ranks(std::move(all)) {}
    MpiGroup(MpiGroup const&) = delete;
    MpiGroup& operator=(MpiGroup const&) = delete;
    ~MpiGroup() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0 && comm != watch->all() && watch->may_free()) MPI_Comm_free(&comm);
        if (watch->has_ended())
            static_cast<void>(new std::vector<std::byte>(std::move(memory)));  // MPI may still write it
    }

    /// Waits for messages of the caller's memory, which cannot be taken back: ends all ranks where patience ends.
    void wait(std::span<MPI_Request> open) const { wait_for(open, "exchange", false); }
    /// Waits for messages of `memory`: throws where patience ends.
    void wait(std::span<MPI_Request> open, char const* call) const { wait_for(open, call, true); }

    /// Whether messages are complete.
    static bool test(std::span<MPI_Request> open) {
        int complete = 0;
        check_mpi(MPI_Testall(static_cast<int>(open.size()), open.data(), &complete, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
        return complete != 0;
    }

    std::shared_ptr<MpiWatch> const watch;
    MPI_Comm comm;
    std::vector<int> const ranks;
    std::vector<std::byte> memory =
        std::vector<std::byte>(64 * ranks.size());  // of a call; of agreements, which need no more

private:
    void wait_for(std::span<MPI_Request> open, char const* call, bool throws) const {
        auto const done = [open] { return test(open); };
        if (!done()) watch->wait(std::cref(done), call, ranks, throws);
    }
};

/// Messages that have begun.
class MpiRequests {
public:
    explicit MpiRequests(std::shared_ptr<MpiGroup const> group) : group_(std::move(group)) {}
    MpiRequests(MpiRequests&& other) noexcept
        : group_(std::move(other.group_)), open_(std::exchange(other.open_, {})), kept_(std::move(other.kept_)) {}
    MpiRequests& operator=(MpiRequests&&) = delete;
    /// Waits, as the messages use memory of the caller.
    ~MpiRequests() {
        if (open_.empty()) return;
        try {
            group_->wait(open_);
        } catch (std::exception const& e) {
            group_->watch->abort(e.what());
        }
    }

    void wait() {
        auto open = std::exchange(open_, {});
        if (!open.empty()) group_->wait(open);
    }

    bool test() { return open_.empty() || MpiGroup::test(open_); }

    /// Begins a message: f(request).
    template <class F>
    void add(char const* call, F const& f) {
        check_mpi(f(&open_.emplace_back(MPI_REQUEST_NULL)), call);
    }
    /// Counts that a message reads until it is complete.
    std::vector<int>& keep(std::vector<int> counts) { return kept_.emplace_back(std::move(counts)); }
    void reserve_kept(std::size_t n) { kept_.reserve(n); }

private:
    std::shared_ptr<MpiGroup const> group_;
    std::vector<MPI_Request> open_;
    std::vector<std::vector<int>> kept_;
};

}  // namespace detail

}  // namespace rowan::inline v0
