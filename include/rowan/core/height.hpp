// rowan/core/height.hpp: Height, the parameter type for the number of rows of a table.
#pragma once

#include <rowan/core/error.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

namespace rowan::inline v0 {

/// The number of rows of a table. Any integer type converts to it, so that `table.shape(0)` needs no cast.
/// errors   ShapeError if it is negative or more than 2^63 - 1
class Height {
public:
    /// errors   ShapeError if it is negative or more than 2^63 - 1
    /// cost     O(1)
    template <std::integral I>
    Height(I height) : value_(static_cast<std::int64_t>(height)) {
        if (std::cmp_less(height, 0) || !std::in_range<std::int64_t>(height)) {
            throw ShapeError("height", height, "in [0, 2^63 - 1]");
        }
    }
    operator std::int64_t() const noexcept { return value_; }  ///< the number of rows, in [0, 2^63 - 1]

private:
    std::int64_t value_;
};

}  // namespace rowan::inline v0
