// rowan/thrust/detail/kept.hpp: kept_of, the positions that a predicate selects, found on a device.
#pragma once

#include <rowan/thrust/core/tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Writes 1 for each selected position, otherwise 0.
template <class Keep>
struct MarkKept {
    Keep keep;
    std::int64_t* marks;
    ROWAN_HD void operator()(std::size_t k) const { marks[k] = keep(k) ? 1 : 0; }
};

/// Writes the list of selected positions, given the inclusive prefix sums of the marks.
struct ListKept {
    std::int64_t const* counts;
    std::int64_t* kept;
    ROWAN_HD void operator()(std::size_t k) const {
        if (counts[k] != (k == 0 ? 0 : counts[k - 1])) kept[counts[k] - 1] = static_cast<std::int64_t>(k);
    }
};

/// The k in [0, n) for which keep(k) is true, ascending. Synchronizes once to get their number.
/// errors   those of synchronize, including bad ids found by `keep`
template <class System, class Keep>
Tensor<std::int64_t, ThrustDevice<System>> kept_of(ThrustDevice<System> const& exec, std::size_t n, Keep const& keep) {
    using Kept = Tensor<std::int64_t, ThrustDevice<System>>;
    if (n == 0) return Kept::from_shape(exec, {0});
    DeviceStorage<std::int64_t, System> const counts(exec, n);
    launch_always(exec, n, MarkKept<Keep>{keep, counts.data()});
    ThrustSystem<System>::inclusive_scan(exec, n, counts.data());
    std::int64_t count = 0;
    read_back(exec, {{&count, counts.data() + n - 1, sizeof count}});
    auto kept = Kept::from_shape(exec, {static_cast<std::size_t>(count)});
    launch_always(exec, n, ListKept{counts.data(), kept.data()});
    return kept;
}

/// A copy made on `exec`.
template <class System, class T>
Tensor<T, ThrustDevice<System>> copy_of(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& from) {
    from.check(exec);
    auto out = Tensor<T, ThrustDevice<System>>::from_shape(exec, from.shape());
    if (out.size() != 0) ThrustSystem<System>::copy(exec, out.data(), from.data(), out.size() * sizeof(T));
    return out;
}

}  // namespace rowan::inline v0::detail
