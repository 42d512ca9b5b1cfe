// rowan/thrust/accuracy.hpp: accuracy on a device.
#pragma once

#include <rowan/op/accuracy.hpp>
#include <rowan/thrust/elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// Part k % 16 of row k / 16: is the number at the label the first largest, beside every 16th number?
template <class T, class I>
struct RightPart {
    T const* x;
    I const* label;
    std::uint8_t* parts;
    std::size_t classes;

    ROWAN_HD void operator()(std::size_t k) const {
        using S = sum_t<T>;
        T const* const row = x + k / 16 * classes;
        auto const at = static_cast<std::size_t>(label[k / 16]);
        S const most = load<S>(row + at);
        bool yes = true;
        for (std::size_t j = k % 16; j < classes; j += 16) {
            S const a = load<S>(row + j);
            yes = yes && (j < at ? a < most : a <= most);
        }
        parts[k] = yes ? 1 : 0;
    }
};

/// How many of 64 rows are right in all their parts?
struct CountRight {
    std::uint8_t const* parts;
    std::int64_t* counts;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        std::int64_t count = 0;
        for (std::size_t row = k * 64; row < n && row < k * 64 + 64; ++row) {
            bool yes = true;
            for (std::size_t i = 0; i < 16; ++i) yes = yes && parts[row * 16 + i] != 0;
            count += yes ? 1 : 0;
        }
        counts[k] = count;
    }
};

struct SumCounts {
    std::int64_t const* from;
    std::int64_t* to;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        std::int64_t count = 0;
        for (std::size_t i = k * 64; i < n && i < k * 64 + 64; ++i) count += from[i];
        to[k] = count;
    }
};

struct StoreShare {
    std::int64_t const* count;  // none: 0
    std::size_t n;
    double* out;

    ROWAN_HD void operator()(std::size_t) const {
        *out = n == 0 ? 0.0 : quotient(static_cast<double>(*count), static_cast<double>(n));
    }
};

template <class System>
struct RightRows<ThrustDevice<System>> {
    template <class T, class I>
    static void share(ThrustDevice<System> const& exec, std::size_t n, std::size_t classes, T const* x, I const* label,
                      double* out) {
        std::size_t counts = (n + 63) / 64;
        DeviceStorage<std::uint8_t, System> const parts(exec, n * 16);
        DeviceStorage<std::int64_t, System> const first(exec, counts), second(exec, (counts + 63) / 64);
        launch(exec, n * 16, RightPart<T, I>{x, label, parts.data(), classes});
        launch(exec, counts, CountRight{parts.data(), first.data(), n});
        std::int64_t *from = first.data(), *to = second.data();
        for (; counts > 1; std::swap(from, to)) {
            std::size_t const sums = (counts + 63) / 64;
            launch(exec, sums, SumCounts{from, to, counts});
            counts = sums;
        }
        launch(exec, 1, StoreShare{from, n, out});
    }
};

}  // namespace rowan::inline v0::detail
