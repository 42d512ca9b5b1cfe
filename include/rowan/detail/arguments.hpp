// rowan/detail/arguments.hpp: argument checks that several functions share.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace rowan::inline v0::detail {

/// A vector or another range that is not a tensor.
template <class R>
concept plain_range = std::ranges::range<R> && !xt::is_xexpression<R>::value;

constexpr void check_finite(char const* field, double value) {
    if (!(value - value == 0)) throw ValueError(field, value, "a finite number");
}

/// Checks that the rank is at least 1.
template <class T, class D>
void check_rows(char const* field, Tensor<T, D> const& tensor) {
    if (tensor.dimension() == 0) throw ShapeError({field, " rank"}, "0", "at least 1");
}

template <class T, class D>
void check_height(char const* field, Tensor<T, D> const& tensor, std::int64_t height) {
    check_rows(field, tensor);
    if (tensor.shape()[0] != static_cast<std::size_t>(height)) {
        throw ShapeError({field, ".shape(0)"}, tensor.shape()[0], height);
    }
}

template <class Shape>
void check_trailing_dims(char const* field, Shape const& shape, Shape like) {
    like[0] = shape[0];
    if (shape != like) throw ShapeError({field, ".shape()"}, shape_text(shape), shape_text(like));
}
/// Checks that all dims except the first are those of `like`.
template <class T, class D, class Shape>
void check_trailing(char const* field, Tensor<T, D> const& tensor, Shape const& like) {
    check_trailing_dims(field, tensor.shape(), like);
}

inline bool overlap(std::span<std::byte const> a, std::span<std::byte const> b) {
    std::less<> const before;  // a total order even for unrelated pointers
    return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// Throws Error if the memory written overlaps the memory read.
inline void check_apart(char const* written, std::span<std::byte const> to, char const* read,
                        std::span<std::byte const> from) {
    if (overlap(to, from)) throw Error({written, " shares memory with ", read});
}

template <class T, class D>
std::span<std::byte const> bytes_of(Tensor<T, D> const& tensor) {
    return std::as_bytes(std::span(tensor.data(), tensor.size()));
}

/// Throws Error if two tensors share memory; name(i) is the name of tensor i.
template <class Names, class... T, class... D>
void check_all_apart(Names const& name, Tensor<T, D> const&... tensor) {
    std::array<std::span<std::byte const>, sizeof...(T)> const bytes{detail::bytes_of(tensor)...};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (overlap(bytes[j], bytes[i])) check_apart(name(j).c_str(), bytes[j], name(i).c_str(), bytes[i]);
        }
    }
}

/// The number of rows, as the height of a SelectedRows.
template <class T, class D>
std::int64_t height_of(Tensor<T, D> const& tensor) {
    return static_cast<std::int64_t>(tensor.shape()[0]);
}

}  // namespace rowan::inline v0::detail
