// rowan/thrust/cuda.hpp: Cuda, a GPU as a device.
#pragma once

#ifndef __CUDACC__
#error \
    "rowan/thrust/cuda.hpp: compile this file as CUDA, with nvcc; other files of the program can exchange host tensors with it"
#endif

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/thrust/core/detail/cuda_memory.hpp>
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
#include <initializer_list>

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
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, exec.stream), "cudaMemcpyAsync");
    }
    /// The source has been read when the call returns. CUDA stages up to 64 KiB of pageable memory without waiting for
    /// the stream, and the ring up to 8 MiB of any memory, while it has free pieces. For more, the call waits.
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
        throw CudaError({"the ", what, " belongs to device ", device, ", and the current one is ", here()});
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
