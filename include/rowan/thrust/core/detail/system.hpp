// rowan/thrust/core/detail/system.hpp: what rowan asks of a Thrust system: memory, copies, loops, sorts and scans.
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
#include <utility>

namespace rowan::inline v0::detail {

/// A system in the memory of the host, whose calls have ended when they return. That of CUDA stands in cuda.hpp.
template <class System>
struct ThrustSystem {
    using Exec = ThrustDevice<System>;

    static constexpr bool in_host_memory = true;

    /// Where memory lies, and whether a call on `exec` may use it.
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
    static void to_host(Exec const&, void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
    static void synchronize(Exec const&) {}

    /// Of this thread's calls.
    static FailedCall* failed_call(Exec const&) {
        static thread_local FailedCall failed;
        return &failed;
    }
    static FailedCall take_failed(Exec const& exec) { return std::exchange(*failed_call(exec), FailedCall{}); }

    template <class F>
    static void for_each(Exec const& exec, std::size_t n, F const& f) {
        ::thrust::for_each_n(thrust_policy(exec), ::thrust::counting_iterator<std::size_t>(0), n, f);
    }

    /// Sorts pairs by the lowest `bits` bits of their keys, equal ones staying in order; what is higher is 0. There are two arrays for the
    /// keys and two for the values: true if the result is in the second ones.
    template <class Key, class Value>
    static bool sort_pairs(Exec const& exec, std::size_t n, unsigned, Key* keys, Key*, Value* values, Value*) {
        ::thrust::stable_sort_by_key(thrust_policy(exec), keys, keys + n, values);
        return false;
    }

    /// numbers[i] becomes numbers[0] + … + numbers[i].
    static void inclusive_scan(Exec const& exec, std::size_t n, std::int64_t* numbers) {
        ::thrust::inclusive_scan(thrust_policy(exec), numbers, numbers + n, numbers);
    }
};

/// Is its memory the host's?
template <class System>
inline constexpr bool in_host_memory = requires {
    ThrustSystem<System>::in_host_memory;
};

template <class Device>
struct device_system;
template <class System>
struct device_system<ThrustDevice<System>> {
    using type = ThrustSystem<System>;
};
template <class Device>
using system_of = typename device_system<Device>::type;

/// A device that Thrust runs on.
template <class D>
inline constexpr bool is_thrust_device = false;
template <class System>
inline constexpr bool is_thrust_device<ThrustDevice<System>> = true;
template <class D>
concept thrust_device = is_thrust_device<D>;

/// f(k), unless a call that was enqueued before has failed.
template <class F>
struct UnlessFailed {
    FailedCall const* failed;  // none: always
    F f;

    ROWAN_HD void operator()(std::size_t k) const {
        if (failed == nullptr || failed->call == FailedCall::none) f(k);
    }
};

/// Calls f(k) for k in [0, n), unless a call before has failed: the way to write what was there before.
template <thrust_device D, class F>
void launch(D const& exec, std::size_t n, F const& f) {
    if (n != 0) system_of<D>::for_each(exec, n, UnlessFailed<F>{system_of<D>::failed_call(exec), f});
}

/// The same whatever has happened: for checks, and to fill memory that nobody has seen yet with what does no harm.
template <thrust_device D, class F>
void launch_always(D const& exec, std::size_t n, F const& f) {
    if (n != 0) system_of<D>::for_each(exec, n, UnlessFailed<F>{nullptr, f});
}

/// May a call on `exec` use these tensors?
template <thrust_device D, class... T>
void check_here(D const& exec, T const&... tensors) {
    (tensors.check(exec), ...);
}

template <thrust_device D>
IdCheck id_check(D const& exec, char const* field, std::int64_t bound) {
    system_of<D>::check(exec);
    return {system_of<D>::failed_call(exec), next_call(), bound, field};
}

}  // namespace rowan::inline v0::detail
