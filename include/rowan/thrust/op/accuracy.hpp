// rowan/thrust/op/accuracy.hpp: accuracy on a device.
#pragma once

#include <rowan/op/loss/accuracy.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/fold.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Part k % 16 of row k / 16: how many of every 16th number are ahead of the number at the label.
template <class T, class I>
struct AheadPart {
    T const* x;
    I const* label;
    std::int64_t* parts;
    std::size_t classes;
    std::int64_t most;

    ROWAN_HD void operator()(std::size_t k) const {
        auto const at = static_cast<std::size_t>(label[k / 16]);
        parts[k] = count_ahead<sum_t<T>>(k % 16, 16, classes, x + k / 16 * classes, at, most);
    }
};

/// 1 if fewer than `most` numbers of a row are ahead, otherwise 0
struct RightAt {
    std::int64_t const* parts;
    std::int64_t most;
    ROWAN_HD std::int64_t operator()(std::size_t row) const {
        std::int64_t ahead = 0;
        for (std::size_t i = 0; i < 16; ++i) ahead += parts[row * 16 + i];
        return ahead < most ? 1 : 0;
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
                      std::int64_t most, double* out) {
        if (n == 0) return launch(exec, 1, StoreShare{nullptr, n, out});
        DeviceStorage<std::int64_t, System> const parts(exec, n * 16);
        launch(exec, n * 16, AheadPart<T, I>{x, label, parts.data(), classes, most});
        Fold<std::int64_t, System> const right(exec, n, RightAt{parts.data(), most}, AddCounts{});
        launch(exec, 1, StoreShare{right.result(), n, out});
    }
};

}  // namespace rowan::inline v0::detail
