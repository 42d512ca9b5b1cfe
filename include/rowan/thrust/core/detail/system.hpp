// rowan/thrust/core/detail/system.hpp: memory, copies, loops, sorts and scans of a Thrust system.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/thrust/core/detail/failed_call.hpp>
#include <rowan/thrust/core/device.hpp>

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace rowan::inline v0::detail {

/// A copy of `bytes` bytes to host memory.
struct HostCopy {
    void* to;
    void const* from;
    std::size_t bytes;
};

/// A system that uses host memory and whose calls are synchronous. cuda.hpp has the specialisation for CUDA.
template <class System>
struct ThrustSystem {
    using Exec = ThrustDevice<System>;

    static constexpr bool in_host_memory = true;

    /// Identifies where memory is; check and check_place throw if a call on `exec` cannot use it.
    struct Place {};
    static Place here() { return {}; }
    static void check(Exec const&) {}
    static void check_place(Place) {}

    static void* allocate(Exec const&, std::size_t bytes) { return Allocator<std::byte>().allocate(bytes); }
    static void deallocate(Exec const&, Place, void* block) noexcept {
        Allocator<std::byte>().deallocate(static_cast<std::byte*>(block), 0);
    }

    static void copy(Exec const&, void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
    static void from_host(Exec const&, void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

    /// One record per host thread.
    static FailedCall* failed_call(Exec const&) {
        static thread_local FailedCall failed;
        return &failed;
    }
    /// Copies to the host, waits for the work enqueued before, and takes the failure that it has recorded.
    static FailedCall read_back(Exec const& exec, std::initializer_list<HostCopy> copies) {
        for (HostCopy const& c : copies) {
            if (c.bytes != 0) std::memcpy(c.to, c.from, c.bytes);
        }
        return std::exchange(*failed_call(exec), FailedCall{});
    }

    template <class F>
    static void for_each(Exec const& exec, std::size_t n, F const& f) {
        ::thrust::for_each_n(thrust_policy(exec), ::thrust::counting_iterator<std::size_t>(0), n, f);
    }

    /// Stable sort of pairs by the lowest `bits` bits of their keys; the higher bits are 0. The second arrays of keys
    /// and values are buffers; returns whether the result is in them.
    template <class Key, class Value>
    static bool sort_pairs(Exec const& exec, std::size_t n, unsigned, Key* keys, Key*, Value* values, Value*) {
        ::thrust::stable_sort_by_key(thrust_policy(exec), keys, keys + n, values);
        return false;
    }

    /// Inclusive prefix sum, in place.
    static void inclusive_scan(Exec const& exec, std::size_t n, std::int64_t* numbers) {
        ::thrust::inclusive_scan(thrust_policy(exec), numbers, numbers + n, numbers);
    }
};

/// Whether the system uses host memory.
template <class System>
inline constexpr bool in_host_memory = requires { ThrustSystem<System>::in_host_memory; };

template <class Device>
struct device_system;
template <class System>
struct device_system<ThrustDevice<System>> {
    using type = ThrustSystem<System>;
};
template <class Device>
using system_of = typename device_system<Device>::type;

/// A device on which Thrust runs.
template <class D>
inline constexpr bool is_thrust_device = false;
template <class System>
inline constexpr bool is_thrust_device<ThrustDevice<System>> = true;
template <class D>
concept thrust_device = is_thrust_device<D>;

/// Calls f(k), or f(k, team), unless an earlier call on the stream has failed.
template <class F>
struct UnlessFailed {
    FailedCall const* failed;  // nullptr: always call f
    F f;

    template <class... Team>
    ROWAN_HD void operator()(std::size_t k, Team const&... team) const {
        if (failed == nullptr || failed->call == FailedCall::none) f(k, team...);
    }
};

/// Calls f(k) for k in [0, n) unless an earlier call has failed. Use it to write to existing memory.
template <thrust_device D, class F>
void launch(D const& exec, std::size_t n, F const& f) {
    if (n != 0) system_of<D>::for_each(exec, n, UnlessFailed<F>{system_of<D>::failed_call(exec), f});
}

/// The same even if an earlier call has failed. Use it for checks and to fill new memory with valid values.
template <thrust_device D, class F>
void launch_always(D const& exec, std::size_t n, F const& f) {
    if (n != 0) system_of<D>::for_each(exec, n, UnlessFailed<F>{nullptr, f});
}

/// Throws CudaError unless a call on `exec` may use these tensors.
template <thrust_device D, class... T>
void check_here(D const& exec, T const&... tensors) {
    (tensors.check(exec), ...);
}

/// Copies to the host and waits, once, for the work enqueued before: `read_back(exec, {{&count, from, sizeof count}})`.
/// errors   IndexError or ValueError of the first call with a bad id or number, after which calls run normally; CudaError
template <thrust_device D>
void read_back(D const& exec, std::initializer_list<HostCopy> copies) {
    if (auto const failed = system_of<D>::read_back(exec, copies); failed.any()) failed.raise();
}

template <thrust_device D>
IdCheck id_check(D const& exec, char const* field, std::int64_t bound) {
    system_of<D>::check(exec);
    return {system_of<D>::failed_call(exec), next_call(), bound, field};
}
template <thrust_device D>
NumberCheck number_check(D const& exec, char const* field, NumberRange const& range) {
    system_of<D>::check(exec);
    return {system_of<D>::failed_call(exec), next_call(), range, field};
}

}  // namespace rowan::inline v0::detail
