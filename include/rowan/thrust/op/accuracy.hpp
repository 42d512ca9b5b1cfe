// rowan/thrust/op/accuracy.hpp: accuracy on a device.
#pragma once

#include <rowan/op/accuracy.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/fold.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Part k % 16 of row k / 16: whether the number at the label is the first maximum, compared with every 16th number.
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
        for (std::size_t j = k % 16; j < classes; j += 16) yes = yes && leaves_first(j, load<S>(row + j), at, most);
        parts[k] = yes ? 1 : 0;
    }
};

/// 1 if a row is correct in all its parts, otherwise 0
struct RightAt {
    std::uint8_t const* parts;
    ROWAN_HD std::int64_t operator()(std::size_t row) const {
        bool yes = true;
        for (std::size_t i = 0; i < 16; ++i) yes = yes && parts[row * 16 + i] != 0;
        return yes ? 1 : 0;
    }
};

struct AddCounts {
    ROWAN_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

struct StoreShare {
    std::int64_t const* count;  // nullptr if n is 0
    std::size_t n;
    double* out;

    ROWAN_HD void operator()(std::size_t) const {
        *out = n == 0 ? 0.0 : quotient(static_cast<double>(*count), static_cast<double>(n));
    }
};

template <class System>
struct CorrectShare<ThrustDevice<System>> {
    template <class T, class I>
    static void share(ThrustDevice<System> const& exec, std::size_t n, std::size_t classes, T const* x, I const* label,
                      double* out) {
        if (n == 0) return launch(exec, 1, StoreShare{nullptr, n, out});
        DeviceStorage<std::uint8_t, System> const parts(exec, n * 16);
        launch(exec, n * 16, RightPart<T, I>{x, label, parts.data(), classes});
        Fold<std::int64_t, System> const right(exec, n, RightAt{parts.data()}, AddCounts{});
        launch(exec, 1, StoreShare{right.result(), n, out});
    }
};

}  // namespace rowan::inline v0::detail
