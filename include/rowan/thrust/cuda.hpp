// rowan/thrust/cuda.hpp: Cuda, a GPU as a device.
#pragma once

#ifndef __CUDACC__
#error \
    "rowan/thrust/cuda.hpp: compile this file as CUDA, with nvcc; other files of the program can exchange host tensors with it"
#endif

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/thrust/core/detail/read_back_space.hpp>
#include <rowan/thrust/core/detail/storage.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/core/detail/upload_ring.hpp>
#include <rowan/thrust/core/device.hpp>

#include <cuda_runtime_api.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <map>
#include <mutex>
#include <string>

namespace rowan::inline v0 {

/// The current GPU and the stream on which calls are enqueued, by default the default stream.
template <>
struct ThrustDevice<::thrust::cuda::tag> {
    cudaStream_t stream = nullptr;  ///< nullptr is the default stream

    /// The execution policy for Thrust.
    friend auto thrust_policy(ThrustDevice const& exec) { return ::thrust::cuda::par_nosync.on(exec.stream); }
    friend bool operator==(ThrustDevice const&, ThrustDevice const&) = default;
};
/// An NVIDIA GPU and one of its streams.
using Cuda = ThrustDevice<::thrust::cuda::tag>;

namespace detail {

template <>
inline constexpr bool runs_whole<Cuda> = true;

/// errors   CudaError with the name of the code; clears CUDA's last error
inline void check_cuda(cudaError_t code, char const* call) {
    if (code == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw CudaError(
        std::string(call).append(": ").append(cudaGetErrorName(code)).append(", ").append(cudaGetErrorString(code)));
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

template <>
struct ThrustSystem<::thrust::cuda::tag> {
    using System = ::thrust::cuda::tag;
    using Place = int;  // the number of a GPU

    static Place here() {
        int device = 0;
        check_cuda(cudaGetDevice(&device), "cudaGetDevice");
        return device;
    }

    /// errors   CudaError unless the stream (check) or the memory (check_place) belongs to the current GPU
    static void check(Cuda const& exec) {
        if (exec.stream == nullptr) return;
        int device = 0;
        check_cuda(cudaStreamGetDevice(exec.stream, &device), "cudaStreamGetDevice");
        if (device != here()) refuse("stream", device);
    }
    static void check_place(Place device) {
        if (device != here()) refuse("tensor", device);
    }

    static void* allocate(Cuda const& exec, std::size_t bytes) {
        return CudaMemory::of_current().take(bytes, exec.stream);
    }
    /// The default stream is that of the current GPU, which may have changed since the allocation.
    static void deallocate(Cuda const& exec, Place place, void* block) noexcept {
        int device = place;
        static_cast<void>(cudaGetDevice(&device));
        if (device != place) static_cast<void>(cudaSetDevice(place));
        static_cast<void>(cudaFreeAsync(block, exec.stream));
        if (device != place) static_cast<void>(cudaSetDevice(device));
    }

    static void copy(Cuda const& exec, void* to, void const* from, std::size_t bytes) {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, exec.stream), "cudaMemcpyAsync");
    }
    /// The source has been read when the call returns. CUDA stages up to 64 KiB of pageable memory without waiting for
    /// the stream, and the ring up to 8 MiB of any memory. For more, the call waits.
    static void from_host(Cuda const& exec, void* to, void const* from, std::size_t bytes) {
        bool const fits = bytes <= UploadRing<CudaUploads>::capacity;
        if (fits && (bytes > (std::size_t{64} << 10) || !pageable(from)))
            return CudaMemory::of_current().ring().upload(exec.stream, to, from, bytes);
        CudaUploads::copy(exec.stream, to, from, bytes);
        if (!fits && !pageable(from)) wait(exec);
    }

    /// Copies to the host, waits once for the work enqueued before, and takes the failure that it has recorded. The
    /// failure and small numbers go through pinned memory, because a copy to pageable memory waits.
    static FailedCall read_back(Cuda const& exec, std::initializer_list<HostCopy> copies) {
        check(exec);
        CudaMemory& memory = CudaMemory::of_current();
        CudaMemory::OfStream& kept = memory.of(exec.stream);
        ReadBackSpace& space = memory.space(kept);
        auto const enqueue = [&](void* to, void const* from, std::size_t bytes) {
            check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, exec.stream), "cudaMemcpyAsync");
        };
        if (kept.failed != nullptr) enqueue(&space.failed, kept.failed, sizeof space.failed);
        space.each(copies, [&](HostCopy const& c, std::byte* pinned) {
            enqueue(pinned == nullptr ? c.to : pinned, c.from, c.bytes);
        });
        wait(exec);
        space.each(copies, [&](HostCopy const& c, std::byte* pinned) {
            if (pinned != nullptr) std::memcpy(c.to, pinned, c.bytes);
        });
        FailedCall const failed = kept.failed == nullptr ? FailedCall{} : space.failed;
        if (failed.any()) CudaMemory::reset(kept.failed, exec.stream);
        return failed;
    }

    static FailedCall* failed_call(Cuda const& exec) { return CudaMemory::of_current().failed_call(exec.stream); }

    template <class F>
    static void for_each(Cuda const& exec, std::size_t n, F const& f) {
        try {
            ::thrust::for_each_n(thrust_policy(exec), ::thrust::counting_iterator<std::size_t>(0), n, f);
        } catch (::thrust::system_error const& error) {
            static_cast<void>(cudaGetLastError());
            throw CudaError(error.what());
        }
    }

    /// Sorts by the lowest `bits` bits only; Thrust's sort would use all bits of a key.
    template <class Key, class Value>
    static bool sort_pairs(Cuda const& exec, std::size_t n, unsigned bits, Key* keys, Key* more_keys, Value* values,
                           Value* more_values) {
        cub::DoubleBuffer<Key> key(keys, more_keys);
        cub::DoubleBuffer<Value> value(values, more_values);
        with_scratch(exec, "cub::DeviceRadixSort::SortPairs", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, key, value, static_cast<std::int64_t>(n), 0,
                                                   static_cast<int>(bits), exec.stream);
        });
        return value.Current() == more_values;
    }

    static void inclusive_scan(Cuda const& exec, std::size_t n, std::int64_t* numbers) {
        with_scratch(exec, "cub::DeviceScan::InclusiveSum", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(scratch, bytes, numbers, numbers, static_cast<std::int64_t>(n),
                                                 exec.stream);
        });
    }

private:
    [[noreturn]] static void refuse(char const* what, int device) {
        throw CudaError(std::string("the ")
                            .append(what)
                            .append(" belongs to device ")
                            .append(std::to_string(device))
                            .append(", and the current one is ")
                            .append(std::to_string(here())));
    }

    static void wait(Cuda const& exec) { check_cuda(cudaStreamSynchronize(exec.stream), "cudaStreamSynchronize"); }

    /// Whether this is host memory of which CUDA does not know.
    static bool pageable(void const* memory) {
        cudaPointerAttributes found{};
        check_cuda(cudaPointerGetAttributes(&found, memory), "cudaPointerGetAttributes");
        return found.type == cudaMemoryTypeUnregistered;
    }

    // Queries how much temporary memory a CUB algorithm needs, allocates it and runs the algorithm.
    template <class F>
    static void with_scratch(Cuda const& exec, char const* name, F const& f) {
        std::size_t bytes = 0;
        check_cuda(f(nullptr, bytes), name);
        DeviceStorage<std::byte, System> const scratch(exec, bytes + 1);
        check_cuda(f(scratch.data(), bytes), name);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
