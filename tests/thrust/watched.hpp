// tests/thrust/watched.hpp: a device in the host's memory that tells, like a GPU, whose tensors it gets, and how often it is waited for.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/core/device.hpp>
#include <rowan/thrust/op/matmul.hpp>

#include <thrust/system/cpp/execution_policy.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace device {

/// A Thrust system. Its loops are those of cpp.
struct watched {
    static inline thread_local int place = 0;  ///< the number of the current device
    static inline thread_local int waits = 0;  ///< how often the host has waited

    /// Makes a device the current one while it lives.
    struct Current {
        explicit Current(int number) : before(std::exchange(place, number)) {}
        Current(Current const&) = delete;
        Current& operator=(Current const&) = delete;
        ~Current() { place = before; }
        int before;
    };
};
using Watched = rowan::ThrustDevice<watched>;

}  // namespace device

namespace rowan::inline v0 {

template <>
struct ThrustDevice<device::watched> {
    friend ::thrust::cpp::tag thrust_policy(ThrustDevice const&) { return {}; }
    friend bool operator==(ThrustDevice const&, ThrustDevice const&) = default;
};

namespace detail {

template <>
inline constexpr bool runs_whole<device::Watched> = true;

template <>
struct ThrustSystem<device::watched> {
    using Exec = device::Watched;
    using Place = int;
    using Host = ThrustSystem<::thrust::cpp::tag>;

    static Place here() { return device::watched::place; }
    static void check(Exec const&) {}
    static void check_place(Place place) {
        if (place == here()) return;
        throw CudaError("the tensor belongs to device " + std::to_string(place) + ", and the current one is " + std::to_string(here()));
    }

    static void* allocate(Exec const&, std::size_t bytes) { return Host::allocate({}, bytes); }
    static void deallocate(Exec const&, Place, void* block) noexcept { Host::deallocate({}, {}, block); }

    static void copy(Exec const&, void* to, void const* from, std::size_t bytes) { Host::copy({}, to, from, bytes); }
    static void from_host(Exec const&, void* to, void const* from, std::size_t bytes) { Host::copy({}, to, from, bytes); }
    static FailedCall* failed_call(Exec const&) {
        static thread_local FailedCall failed;
        return &failed;
    }
    static FailedCall read_back(Exec const& exec, std::initializer_list<HostCopy> copies) {
        ++device::watched::waits;
        Host::read_back({}, copies);
        return std::exchange(*failed_call(exec), FailedCall{});
    }

    template <class F>
    static void for_each(Exec const&, std::size_t n, F const& f) {
        Host::for_each({}, n, f);
    }
    template <class Key, class Value>
    static bool sort_pairs(Exec const&, std::size_t n, unsigned bits, Key* keys, Key* more_keys, Value* values, Value* more_values) {
        return Host::sort_pairs({}, n, bits, keys, more_keys, values, more_values);
    }
    static void inclusive_scan(Exec const&, std::size_t n, std::int64_t* numbers) { Host::inclusive_scan({}, n, numbers); }
};

template <>
struct Products<device::Watched> {
    template <class T>
    static void multiply(device::Watched const& exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out, bool add) {
        if (!ThrustSystem<device::watched>::failed_call(exec)->any()) detail::multiply<T>(Cpu{}, m, n, k, a, b, out, add);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
