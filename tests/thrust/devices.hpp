// tests/thrust/devices.hpp: the tested Thrust systems, and common functions of their tests.
#pragma once

#include "catch.hpp"

#ifdef __CUDACC__
#include <rowan/thrust/cublas.hpp>
#include <rowan/thrust/cuda.hpp>
#define ROWAN_TEST_DEVICES rowan::Cuda
#elif defined(ROWAN_TEST_ALL_DEVICES)
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/system/tbb/execution_policy.h>
#define ROWAN_TEST_DEVICES \
    rowan::ThrustDevice<thrust::cpp::tag>, rowan::ThrustDevice<thrust::omp::tag>, rowan::ThrustDevice<thrust::tbb::tag>
#elif defined(ROWAN_TEST_ONE_DEVICE)  // under sanitizers, with another Thrust
#include <thrust/system/omp/execution_policy.h>
#define ROWAN_TEST_DEVICES rowan::ThrustDevice<thrust::omp::tag>
#else  // nets have cpp
#include <thrust/system/tbb/execution_policy.h>
#define ROWAN_TEST_DEVICES rowan::ThrustDevice<thrust::tbb::tag>
#endif

#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace device {

using Rows = std::vector<std::int64_t>;
using Shape = rowan::Tensor<float>::shape_type;

template <class T>
bool same_bits(rowan::Tensor<T> const& a, rowan::Tensor<T> const& b) {
    return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T, class D>
bool same_bits(rowan::Tensor<T, D> const& a, rowan::Tensor<T> const& b) {
    return same_bits(rowan::to_host(a), b);
}
template <class T>
bool same_bits(rowan::SelectedRows<T> const& a, rowan::SelectedRows<T> const& b) {
    return a.height() == b.height() && std::ranges::equal(a.rows(), b.rows()) && same_bits(a.value(), b.value());
}
template <class T, class D>
bool same_bits(rowan::SelectedRows<T, D> const& a, rowan::SelectedRows<T> const& b) {
    return same_bits(rowan::to_host(a), b);
}

/// Numbers of many magnitudes, the same in every run: sums in another order have other bits.
template <class T>
rowan::Tensor<T> filled(Shape const& shape, unsigned seed) {
    std::mt19937 random(seed);
    auto tensor = rowan::Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < tensor.size(); ++i) {
        auto const bits = static_cast<std::int32_t>(random());
        if constexpr (std::integral<T>) {
            tensor.data()[i] = static_cast<T>(bits);
        } else {
            float const x = static_cast<float>(bits) / static_cast<float>(1U << (22 + random() % 10));
            tensor.data()[i] = rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(x));
        }
    }
    return tensor;
}

/// Numbers in (0, 1], as in states of optimizers.
template <class T>
rowan::Tensor<T> positive(Shape const& shape, unsigned seed) {
    std::mt19937 random(seed);
    auto tensor = rowan::Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < tensor.size(); ++i) {
        float const x = static_cast<float>(1 + random() % 1024) / 1024;
        tensor.data()[i] = rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(x));
    }
    return tensor;
}

/// The same tensor in both memories.
template <class D, class T>
struct State {
    rowan::Tensor<T> host;
    rowan::Tensor<T, D> on_device;
    State(Shape const& shape, unsigned seed) : host(positive<T>(shape, seed)), on_device(rowan::to_device(D{}, host)) {}
    bool same() const { return same_bits(on_device, host); }
};

/// Ids in [0, height); `hot` of 100 are the same id.
inline Rows some_ids(std::size_t n, std::int64_t height, unsigned hot, unsigned seed) {
    std::mt19937_64 random(seed);
    Rows ids(n);
    for (auto& id : ids) {
        bool const same = random() % 100 < hot;
        id = same ? height / 2 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height));
    }
    return ids;
}

template <class T>
rowan::SelectedRows<T> gradient(std::size_t n, std::int64_t height, std::size_t width, unsigned hot, unsigned seed) {
    return {height, some_ids(n, height, hot, seed), filled<T>({n, width}, seed + 1)};
}

/// Calls f(n, width, hot) with counts at which the order of sums or the number of blocks changes, and widths for all
/// sizes of machine words.
template <class F>
void for_sizes(F const& f) {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 2, 63, 64, 65, 128, 129, 4096, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 3, 4, 16}) {
            for (unsigned const hot : std::vector<unsigned>{0, 50, 100}) {
                CAPTURE(n, width, hot);
                if (n < 4000 || width < 4) f(n, width, hot);
            }
        }
    }
}

/// The text of the error E that a call throws.
template <class E, class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (E const& error) {
        return error.what();
    }
    return "nothing was thrown";
}

/// The text of the error of an earlier call.
template <class D>
std::string late_refusal(D const& exec) {
    return refusal<rowan::IndexError>([&] { rowan::synchronize(exec); });
}

}  // namespace device
