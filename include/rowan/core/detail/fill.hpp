// rowan/core/detail/fill.hpp: fill_elements, which sets elements to one value.
#pragma once

#include <rowan/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Sets n elements. Zeros by memset: at -O2, g++ 12 stores them one by one.
template <class T>
void fill_elements(T* to, std::size_t n, T const& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
        unsigned char const zeros[sizeof(T)]{};
        if (std::memcmp(&value, zeros, sizeof(T)) == 0) {
            if (n != 0) std::memset(static_cast<void*>(to), 0, n * sizeof(T));
            return;
        }
    }
    std::fill_n(to, n, value);
}

}  // namespace rowan::inline v0::detail
