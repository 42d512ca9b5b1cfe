// rowan/thrust/cuda.hpp: Cuda, a GPU as a device.
#pragma once

#ifndef __CUDACC__
#error \
    "rowan/thrust/cuda.hpp: compile this file as CUDA, with nvcc; other files of the program can exchange host tensors with it"
#endif

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/thrust/core/detail/storage.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/core/device.hpp>
#include <rowan/thrust/detail/teams.hpp>

#include <cuda_runtime_api.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

    /// Where calls on a stream record their failure. Streams are identified by their id, which CUDA does not reuse.
    FailedCall* failed_call(cudaStream_t stream) {
        unsigned long long const id = number_of(stream);
        std::lock_guard const guard(mutex_);
        if (auto const found = failed_.find(id); found != failed_.end()) return found->second;
        auto* const made = static_cast<FailedCall*>(take(sizeof(FailedCall), stream));
        reset(made, stream);
        return failed_.emplace(id, made).first->second;
    }

    /// Whether a call that can fail has been enqueued on the stream.
    bool used(cudaStream_t stream) {
        unsigned long long const id = number_of(stream);
        std::lock_guard const guard(mutex_);
        return failed_.contains(id);
    }

    static void reset(FailedCall* failed, cudaStream_t stream) {
        static FailedCall const none;
        check_cuda(cudaMemcpyAsync(failed, &none, sizeof none, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    }

private:
    static unsigned long long number_of(cudaStream_t stream) {
        unsigned long long id = 0;
        check_cuda(cudaStreamGetId(stream, &id), "cudaStreamGetId");
        return id;
    }

    cudaMemPool_t pool_ = nullptr;
    std::mutex mutex_;
    std::map<unsigned long long, FailedCall*> failed_;
};

/// Exchanges numbers between the threads of a team, which is half of a warp.
struct CudaShuffle {
    unsigned mask;  // the team's threads of the warp

    template <class S>
    __device__ S operator()(S const& x, std::size_t lanes) const {
        unsigned words[(sizeof(S) + 3) / 4] = {};
        std::memcpy(words, &x, sizeof(S));
        for (unsigned& word : words) word = __shfl_xor_sync(mask, word, static_cast<int>(lanes));
        S other;
        std::memcpy(&other, words, sizeof(S));
        return other;
    }
    __device__ void meet() const { __syncwarp(mask); }
};

/// Calls f(k, team) for k in [0, n) in the 16 threads of a team.
template <class F>
__global__ void run_teams(std::size_t n, F const f) {
    unsigned const thread = threadIdx.x, teams = blockDim.x / team_size;
    TeamLane<CudaShuffle> const team{thread % team_size, {0xFFFFU << (thread & team_size)}};
    std::size_t k = std::size_t{blockIdx.x} * teams + thread / team_size;
    for (; k < n; k += std::size_t{gridDim.x} * teams) f(k, team);
}

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
        transfer(exec, to, from, bytes, cudaMemcpyDeviceToDevice);
    }
    /// The source has been read when the call returns: CUDA stages pageable memory; for other memory, such as pinned,
    /// the call synchronizes.
    static void from_host(Cuda const& exec, void* to, void const* from, std::size_t bytes) {
        transfer(exec, to, from, bytes, cudaMemcpyHostToDevice);
        cudaPointerAttributes memory{};
        check_cuda(cudaPointerGetAttributes(&memory, from), "cudaPointerGetAttributes");
        if (memory.type != cudaMemoryTypeUnregistered) synchronize(exec);
    }
    static void to_host(Cuda const& exec, void* to, void const* from, std::size_t bytes) {
        transfer(exec, to, from, bytes, cudaMemcpyDeviceToHost);
        synchronize(exec);
    }
    static void synchronize(Cuda const& exec) {
        check_cuda(cudaStreamSynchronize(exec.stream), "cudaStreamSynchronize");
    }

    static FailedCall* failed_call(Cuda const& exec) { return CudaMemory::of_current().failed_call(exec.stream); }
    static FailedCall take_failed(Cuda const& exec) {
        FailedCall failed;
        check(exec);
        if (!CudaMemory::of_current().used(exec.stream)) {
            synchronize(exec);
            return failed;
        }
        to_host(exec, &failed, failed_call(exec), sizeof failed);
        if (failed.any()) CudaMemory::reset(failed_call(exec), exec.stream);
        return failed;
    }

    template <class F>
    static void for_each(Cuda const& exec, std::size_t n, F const& f) {
        try {
            ::thrust::for_each_n(thrust_policy(exec), ::thrust::counting_iterator<std::size_t>(0), n, f);
        } catch (::thrust::system_error const& error) {
            static_cast<void>(cudaGetLastError());
            throw CudaError(error.what());
        }
    }

    /// Calls f(k, team) for k in [0, n) in teams of 16 threads. A team takes several k only if there are very many.
    template <class F>
    static void for_each_team(Cuda const& exec, std::size_t n, F const& f) {
        constexpr std::size_t teams = 8, most = 0x7FFFFFFF;  // of a block; blocks
        auto const blocks = static_cast<unsigned>(std::min((n + teams - 1) / teams, most));
        void* arguments[] = {&n, const_cast<F*>(&f)};
        check_cuda(cudaLaunchKernel(run_teams<F>, dim3(blocks), dim3(teams * team_size), arguments, 0, exec.stream),
                   "cudaLaunchKernel");
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

    static void transfer(Cuda const& exec, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
        check_cuda(cudaMemcpyAsync(to, from, bytes, kind, exec.stream), "cudaMemcpyAsync");
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
