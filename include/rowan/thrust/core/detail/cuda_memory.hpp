// rowan/thrust/core/detail/cuda_memory.hpp: CudaMemory, the memory of a GPU, and pinned memory of the host for it.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/thrust/core/detail/failed_call.hpp>
#include <rowan/thrust/core/detail/read_back_space.hpp>
#include <rowan/thrust/core/detail/upload_ring.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

namespace rowan::inline v0::detail {

/// errors   CudaError with the name of the code; clears CUDA's last error
inline void check_cuda(cudaError_t code, char const* call) {
    if (code == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw CudaError({call, ": ", cudaGetErrorName(code), ", ", cudaGetErrorString(code)});
}

/// Pinned memory and events of the current GPU, for UploadRing.
struct CudaUploads {
    using Stream = cudaStream_t;
    using Event = cudaEvent_t;

    static void* allocate(std::size_t bytes) {
        void* memory = nullptr;
        check_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "cudaHostAlloc");
        return memory;
    }
    static Event make_event() {
        Event event = nullptr;
        check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        return event;
    }
    static void copy(Stream stream, void* to, void const* from, std::size_t bytes) {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    }
    static void record(Event event, Stream stream) { check_cuda(cudaEventRecord(event, stream), "cudaEventRecord"); }
    static void wait(Event event) { check_cuda(cudaEventSynchronize(event), "cudaEventSynchronize"); }
};

/// A stream-ordered memory pool for each GPU. Allocation and deallocation are asynchronous, and freed memory is kept
/// for reuse, so that only the first batch requests memory from the system. The default pool of the GPU is not used: it
/// belongs to the application.
class CudaMemory {
public:
    static CudaMemory& of_current() {
        int device = 0;
        check_cuda(cudaGetDevice(&device), "cudaGetDevice");
        static std::mutex mutex;
        static std::map<int, CudaMemory> all;
        std::lock_guard const guard(mutex);
        return all.try_emplace(device, device).first->second;
    }

    explicit CudaMemory(int device) {
        cudaMemPoolProps settings{};
        settings.allocType = cudaMemAllocationTypePinned;
        settings.location.type = cudaMemLocationTypeDevice;
        settings.location.id = device;
        check_cuda(cudaMemPoolCreate(&pool_, &settings), "cudaMemPoolCreate");
        std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
        check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
    }
    CudaMemory(CudaMemory const&) = delete;
    CudaMemory& operator=(CudaMemory const&) = delete;
    ~CudaMemory() = default;  // the pool is not destroyed: at program exit CUDA may be shut down already

    void* take(std::size_t bytes, cudaStream_t stream) {
        void* block = nullptr;
        check_cuda(cudaMallocFromPoolAsync(&block, bytes, pool_, stream), "cudaMallocFromPoolAsync");
        return block;
    }

    /// What rowan keeps for a stream, which one host thread at a time uses.
    struct OfStream {
        FailedCall* failed = nullptr;    // in device memory; nullptr: no call that can fail has been enqueued
        ReadBackSpace* space = nullptr;  // in pinned memory; nullptr until the host reads
    };

    /// Streams are identified by their id, which CUDA does not reuse.
    OfStream& of(cudaStream_t stream) {
        unsigned long long id = 0;
        check_cuda(cudaStreamGetId(stream, &id), "cudaStreamGetId");
        std::lock_guard const guard(mutex_);
        return streams_[id];
    }

    /// Where calls on a stream record their failure.
    FailedCall* failed_call(cudaStream_t stream) {
        OfStream& kept = of(stream);
        if (kept.failed == nullptr) {
            auto* const made = static_cast<FailedCall*>(take(sizeof(FailedCall), stream));
            reset(made, stream);
            kept.failed = made;
        }
        return kept.failed;
    }

    /// The space of a stream. It is allocated for many streams at once, as that may wait for the GPU.
    ReadBackSpace& space(OfStream& kept) {
        if (kept.space != nullptr) return *kept.space;
        std::lock_guard const guard(mutex_);
        constexpr std::size_t streams = 64;
        if (spaces_left_ == 0) {
            spaces_ = static_cast<ReadBackSpace*>(CudaUploads::allocate(streams * sizeof(ReadBackSpace)));
            spaces_left_ = streams;
        }
        return *(kept.space = spaces_ + --spaces_left_);
    }

    UploadRing<CudaUploads>& ring() noexcept { return ring_; }

    static void reset(FailedCall* failed, cudaStream_t stream) {
        static FailedCall const none;
        check_cuda(cudaMemcpyAsync(failed, &none, sizeof none, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    }

private:
    cudaMemPool_t pool_ = nullptr;
    std::mutex mutex_;
    std::map<unsigned long long, OfStream> streams_;
    ReadBackSpace* spaces_ = nullptr;
    std::size_t spaces_left_ = 0;
    UploadRing<CudaUploads> ring_;
};

}  // namespace rowan::inline v0::detail
