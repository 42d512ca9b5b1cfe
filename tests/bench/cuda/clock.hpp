// tests/bench/cuda/clock.hpp: what the benchmarks of a GPU share: its numbers, clock and report. A host compiler makes them run on Thrust's omp system.
#pragma once

#include <rowan/thrust.hpp>
#ifdef __CUDACC__
#include <rowan/thrust/cublas.hpp>
#include <rowan/thrust/cuda.hpp>
#else
#include <thrust/system/omp/execution_policy.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace bench {

#ifdef __CUDACC__
using Gpu = rowan::Cuda;
#else
using Gpu = rowan::ThrustDevice<thrust::omp::tag>;
#endif
template <class T>
using Tensor = rowan::Tensor<T, Gpu>;
using Shape = Tensor<float>::shape_type;

/// Different bits for each i.
ROWAN_HD inline std::uint64_t hash(std::uint64_t i) {
    i = (i + 1) * 0x9E3779B97F4A7C15U;
    i = (i ^ i >> 32) * 0xD6E8FEB86659FD93U;
    return i ^ i >> 32;
}

/// Different numbers in [low, high), computed on the device.
template <class T>
struct Fill {
    T* to;
    float low, high;
    ROWAN_HD void operator()(std::size_t i) const {
        to[i] = rowan::dtype<T>::narrow(low + (high - low) * static_cast<float>(hash(i) >> 40) * 0x1p-24f);
    }
};

template <class T = float>
Tensor<T> numbers(Gpu const& exec, Shape const& shape, float low, float high) {
    auto x = Tensor<T>::from_shape(exec, shape);
    rowan::detail::launch(exec, x.size(), Fill<T>{x.data(), low, high});
    return x;
}

#ifdef __CUDACC__
class Clock {
public:
    Clock(Gpu exec, std::size_t sets) : exec_(exec), sets_(sets) {
        cudaEventCreate(&begin_);
        cudaEventCreate(&end_);
    }

    // The median in ms of two turns over the data sets, after a warm-up turn.
    double operator()(std::function<void(std::size_t)> const& run) {
        std::vector<float> times;
        for (std::size_t turn = 0; turn < 3 * sets_; ++turn) {
            cudaEventRecord(begin_, exec_.stream);
            run(turn % sets_);
            cudaEventRecord(end_, exec_.stream);
            cudaEventSynchronize(end_);
            float ms = 0;
            cudaEventElapsedTime(&ms, begin_, end_);
            if (turn >= sets_) times.push_back(ms);
        }
        rowan::synchronize(exec_);
        std::ranges::sort(times);
        return times[times.size() / 2];
    }

private:
    Gpu exec_;
    std::size_t sets_;
    cudaEvent_t begin_{}, end_{};
};
inline void copy_bytes(Gpu const& exec, void* to, void const* from, std::size_t bytes) {
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, exec.stream);
}
#else
class Clock {
public:
    Clock(Gpu, std::size_t sets) : sets_(sets) {}
    double operator()(std::function<void(std::size_t)> const& run) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t set = 0; set < sets_; ++set) run(set);
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(sets_);
    }

private:
    std::size_t sets_;
};
inline void copy_bytes(Gpu const&, void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

/// Prints a line of JSON for each measurement.
class Report {
public:
    explicit Report(double copy) : copy_(copy) {}

    /// `bytes` of the byte model, or 0: no figure of bandwidth.
    void operator()(std::string const& op, std::string const& at, double ms, double bytes = 0) const {
        double const speed = bytes / ms * 1e-6;
        std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"case\": \"%s\", \"ms\": %.4f, \"gbs\": %.1f, \"of_copy\": %.3f}\n", op.c_str(), at.c_str(),
                    ms, speed, speed / copy_);
        std::fflush(stdout);
    }

private:
    double copy_;  // GB/s, read and written
};

void rows(Gpu const& exec, Report const& report, bool tiny);
void sequences(Gpu const& exec, Report const& report, bool tiny);
void layers(Gpu const& exec, Report const& report, bool tiny);

}  // namespace bench
