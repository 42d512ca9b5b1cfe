// rowan/distributed/nccl.cuh: Nccl, the ranks of an NCCL communicator.
#pragma once

#if !__has_include(<nccl.h>) || !__has_include(<cuda_runtime_api.h>)
#error "rowan/distributed/nccl.cuh needs NCCL and the CUDA Toolkit: install them and link libnccl"
#endif

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/long_wait.hpp>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

/// A call of NCCL or of CUDA below it has failed: `ncclAllGather: unhandled system error`.
class NcclError : public Error {
public:
    using Error::Error;
};

namespace detail {

inline void check_nccl(ncclResult_t code, char const* call) {
    if (code != ncclSuccess) throw NcclError(std::string(call).append(": ").append(ncclGetErrorString(code)));
}

inline void check_nccl(cudaError_t code, char const* call) {
    if (code != cudaSuccess) throw NcclError(std::string(call).append(": ").append(cudaGetErrorString(code)));
}

/// Bytes on the GPU, allocated and freed in the order of a stream.
class NcclBuffer {
public:
    NcclBuffer(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
        if (bytes != 0) check_nccl(cudaMallocAsync(&data_, bytes, stream), "cudaMallocAsync");
    }
    NcclBuffer(NcclBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
    NcclBuffer& operator=(NcclBuffer&&) = delete;
    ~NcclBuffer() {
        if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
    }
    std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

private:
    void* data_ = nullptr;
    cudaStream_t stream_;
};

/// A communicator and its rank, which waits for others.
struct NcclGroup {
    ncclComm_t comm;
    int rank = 0;
    Expected expected = {};  // what it comes to

    [[noreturn]] void abort(std::string_view text) const {
        print_error(rank, text);
        static_cast<void>(ncclCommAbort(comm));
        std::abort();
    }

    /// Waits for what is on a stream. NCCL does not tell which rank is late.
    void wait(cudaStream_t stream) const {
        using Clock = std::chrono::steady_clock;
        auto const began = Clock::now();
        auto reported = began;
        for (auto state = cudaStreamQuery(stream); state != cudaSuccess; state = cudaStreamQuery(stream)) {
            if (state != cudaErrorNotReady) check_nccl(state, "cudaStreamQuery");
            ncclResult_t failed = ncclSuccess;
            check_nccl(ncclCommGetAsyncError(comm, &failed), "ncclCommGetAsyncError");
            check_nccl(failed, "ncclCommGetAsyncError");
            auto const now = Clock::now();
            bool const over = expected.patience.count() != 0 && now - began >= expected.patience;
            if (!over && now - reported < std::chrono::milliseconds(report_waits_after.load())) continue;
            auto const text = std::string("has waited in ")
                                  .append(expected.text("an exchange"))
                                  .append(" for ")
                                  .append(time_text(now - began));
            if (over) abort(text);
            print_wait(std::string("rank ").append(std::to_string(rank)).append(" ").append(text), {});
            reported = now;
        }
    }
};

/// An exchange on a stream; its bytes lie on the GPU until wait() copies them to the host.
class NcclExchange {
public:
    NcclExchange(std::shared_ptr<NcclGroup const> group, cudaStream_t stream, std::span<std::byte const> in,
                 std::span<std::byte> out)
        : group_(std::move(group)), stream_(stream), in_(in.size(), stream), out_(out.size(), stream), to_(out) {
        if (!in.empty()) {
            check_nccl(cudaMemcpyAsync(in_.data(), in.data(), in.size(), cudaMemcpyHostToDevice, stream),
                       "cudaMemcpyAsync");
        }
    }

    std::byte const* in() const noexcept { return in_.data(); }
    std::byte* out() const noexcept { return out_.data(); }

    /// Waits until the bytes are on the host. If another rank has failed, ends the wait with NcclError.
    void wait() {
        group_->wait(stream_);  // first, as a copy to memory that is not pinned would wait itself
        if (to_.empty()) return;
        check_nccl(cudaMemcpyAsync(to_.data(), out_.data(), to_.size(), cudaMemcpyDeviceToHost, stream_),
                   "cudaMemcpyAsync");
        check_nccl(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    }

private:
    std::shared_ptr<NcclGroup const> group_;
    cudaStream_t stream_;
    NcclBuffer in_, out_;
    std::span<std::byte> to_;
};

}  // namespace detail

/// The ranks of an NCCL communicator, one GPU each. The bytes of the host travel by way of the GPU, on a stream. The
/// caller owns the communicator and the stream; the GPU of the communicator must be the current one in every call.
class Nccl {
public:
    /// errors   NcclError, std::bad_alloc
    /// cost     no message
    explicit Nccl(ncclComm_t comm, cudaStream_t stream = nullptr)
        : group_(std::make_shared<detail::NcclGroup>(comm)), comm_(comm), stream_(stream) {
        detail::check_nccl(ncclCommUserRank(comm, &rank_), "ncclCommUserRank");
        detail::check_nccl(ncclCommCount(comm, &size_), "ncclCommCount");
        group_->rank = rank_;
    }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    void sum(std::span<std::int64_t> words) const {
        if (words.empty()) return;
        auto const bytes = std::as_writable_bytes(words);
        detail::NcclExchange exchange(group_, stream_, bytes, bytes);
        detail::check_nccl(
            ncclAllReduce(exchange.in(), exchange.out(), words.size(), ncclInt64, ncclSum, comm_, stream_),
            "ncclAllReduce");
        exchange.wait();
    }

    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        if (in.empty()) return;
        detail::NcclExchange exchange(group_, stream_, in, out);
        detail::check_nccl(ncclAllGather(exchange.in(), exchange.out(), in.size(), ncclInt8, comm_, stream_),
                           "ncclAllGather");
        exchange.wait();
    }

    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        std::size_t const each = in.size() / static_cast<std::size_t>(size_);
        auto const same = [each](std::size_t) { return each; };
        exchange(in, out, same, same).wait();
    }

    detail::NcclExchange alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                                   std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        return exchange(
            in, out, [&](std::size_t r) { return counts[r] * unit; },
            [&](std::size_t r) { return out_counts[r] * unit; });
    }

    detail::NcclExchange allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                                    std::span<std::size_t const> counts) const {
        detail::NcclExchange begun(group_, stream_, in, out);
        grouped([&] {
            for (std::size_t r = 0, at = 0; r < ranks(); at += counts[r++] * unit) {
                send(begun.in(), in.size(), r);
                receive(begun.out() + at, counts[r] * unit, r);
            }
        });
        return begun;
    }

    void barrier() const {
        std::int64_t word = 0;
        sum({&word, 1});
    }

    /// Prints the text with the rank to standard error and ends this process; what started the ranks ends the others.
    [[noreturn]] void abort(std::string_view text) const { group_->abort(text); }

    /// Names what this rank comes to next, and how long it waits there; 0: for ever. A rank that has waited longer ends this
    /// process, as abort: the GPU may still write what it waits for. NCCL does not tell which rank is late.
    /// errors   none
    /// cost     no message
    void expect(std::string_view what, std::chrono::milliseconds patience) const { group_->expected.set(what, patience); }

private:
    std::size_t ranks() const noexcept { return static_cast<std::size_t>(size_); }

    /// Runs f between ncclGroupStart and ncclGroupEnd, so that its messages cannot wait for each other.
    template <class F>
    static void grouped(F const& f) {
        detail::check_nccl(ncclGroupStart(), "ncclGroupStart");
        f();
        detail::check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    }
    void send(std::byte const* data, std::size_t bytes, std::size_t rank) const {
        if (bytes == 0) return;
        detail::check_nccl(ncclSend(data, bytes, ncclInt8, static_cast<int>(rank), comm_, stream_), "ncclSend");
    }
    void receive(std::byte* data, std::size_t bytes, std::size_t rank) const {
        if (bytes == 0) return;
        detail::check_nccl(ncclRecv(data, bytes, ncclInt8, static_cast<int>(rank), comm_, stream_), "ncclRecv");
    }

    /// Sends sizes(r) bytes to every rank r and receives out_sizes(r) bytes from it.
    template <class Sizes, class OutSizes>
    detail::NcclExchange exchange(std::span<std::byte const> in, std::span<std::byte> out, Sizes const& sizes,
                                  OutSizes const& out_sizes) const {
        detail::NcclExchange begun(group_, stream_, in, out);
        grouped([&] {
            std::size_t from = 0, to = 0;
            for (std::size_t r = 0; r < ranks(); from += sizes(r), to += out_sizes(r), ++r) {
                send(begun.in() + from, sizes(r), r);
                receive(begun.out() + to, out_sizes(r), r);
            }
        });
        return begun;
    }

    std::shared_ptr<detail::NcclGroup> group_;
    ncclComm_t comm_;
    cudaStream_t stream_;
    int rank_ = 0, size_ = 1;
};

static_assert(communicator<Nccl>);

}  // namespace rowan::inline v0
