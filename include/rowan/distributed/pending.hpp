// rowan/distributed/pending.hpp: Pending, the result of an exchange that goes on.
#pragma once

#include <rowan/core/error.hpp>

#include <memory>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// An exchange that has begun.
template <class R>
struct PendingWork {
    PendingWork() = default;
    PendingWork(PendingWork const&) = delete;
    PendingWork& operator=(PendingWork const&) = delete;
    virtual ~PendingWork() = default;
    virtual R finish() = 0;  // called once
};

}  // namespace detail

/// The result of an operation on all ranks that has begun. Several may be open at once; all ranks begin them, and get
/// or destroy them, in the same order. What the operation was given must remain as it is until then.
///     auto sum = begin_row_allreduce(exec, comm, grads);
///     …                                                     // meanwhile, bytes travel
///     adagrad(table, moment, sum.get(), {});
template <class R>
class Pending {
public:
    /// The result of an operation that has begun.
    explicit Pending(std::unique_ptr<detail::PendingWork<R>> work) noexcept : work_(std::move(work)) {}
    Pending(Pending&&) noexcept = default;
    Pending& operator=(Pending&& other) noexcept {
        Pending old(std::exchange(work_, std::move(other.work_)));
        return *this;
    }
    /// Waits, as the other ranks need what this one sends.
    ~Pending() {
        if (work_ == nullptr) return;
        try {
            static_cast<void>(work_->finish());
        } catch (...) {  // the operation's errors are those of get()
        }
    }

    /// Waits, and returns the result.
    /// errors   Error if it has been called before, or, on all ranks, if they end another operation; what fails on one
    ///          rank, RemoteError on the others; RemoteError if another rank has ended
    /// cost     the rest of the operation
    R get() {
        if (work_ == nullptr) throw Error("Pending: get() has been called before");
        return std::exchange(work_, nullptr)->finish();
    }

private:
    std::unique_ptr<detail::PendingWork<R>> work_;
};

}  // namespace rowan::inline v0
