// rowan/thrust/detail/kept.hpp: which of many rows stay, found on a device.
#pragma once

#include <rowan/thrust/core/synchronize.hpp>
#include <rowan/thrust/core/tensor.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// 1 for what stays
template <class Keep>
struct MarkKept {
    Keep keep;
    std::int64_t* marks;
    ROWAN_HD void operator()(std::size_t k) const { marks[k] = keep(k) ? 1 : 0; }
};

/// Writes down what stays, given how many of those up to it do.
struct ListKept {
    std::int64_t const* counts;
    std::int64_t* kept;
    ROWAN_HD void operator()(std::size_t k) const {
        if (counts[k] != (k == 0 ? 0 : counts[k - 1])) kept[counts[k] - 1] = static_cast<std::int64_t>(k);
    }
};

/// Those k in [0, n) for which keep(k), ascending. Waits once, for how many there are.
/// errors   those of synchronize, also of what `keep` finds
template <class System, class Keep>
Tensor<std::int64_t, ThrustDevice<System>> kept_of(ThrustDevice<System> const& exec, std::size_t n, Keep const& keep) {
    using Kept = Tensor<std::int64_t, ThrustDevice<System>>;
    if (n == 0) return Kept::from_shape(exec, {0});
    DeviceStorage<std::int64_t, System> const counts(exec, n);
    launch_always(exec, n, MarkKept<Keep>{keep, counts.data()});
    ThrustSystem<System>::inclusive_scan(exec, n, counts.data());
    std::int64_t count = 0;
    ThrustSystem<System>::to_host(exec, &count, counts.data() + n - 1, sizeof count);
    synchronize(exec);
    auto kept = Kept::from_shape(exec, {static_cast<std::size_t>(count)});
    launch_always(exec, n, ListKept{counts.data(), kept.data()});
    return kept;
}

/// Rows positions[i] of a tensor.
template <class System, class T>
Tensor<T, ThrustDevice<System>> rows_at(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& from,
                                        Tensor<std::int64_t, ThrustDevice<System>> const& positions) {
    auto shape = from.shape();
    shape[0] = positions.size();
    auto out = Tensor<T, ThrustDevice<System>>::from_shape(exec, shape);
    copy_device_rows(exec, positions.size(), from.row_size() * sizeof(T), from.data(), out.data(),
                     RowAt<std::int64_t>{positions.data()}, SameRow{}, true);
    return out;
}

/// A copy that is made on `exec`.
template <class System, class T>
Tensor<T, ThrustDevice<System>> copy_of(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& from) {
    auto out = Tensor<T, ThrustDevice<System>>::from_shape(exec, from.shape());
    if (out.size() != 0) ThrustSystem<System>::copy(exec, out.data(), from.data(), out.size() * sizeof(T));
    return out;
}

}  // namespace rowan::inline v0::detail
