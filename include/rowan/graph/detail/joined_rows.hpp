// rowan/graph/detail/joined_rows.hpp: RowFunctions, how a device copies the rows of values, whose type it need not know.
#pragma once

#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/any_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

template <class D>
void take_any(AnyExec any, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* rows, void* to) {
    D const& exec = any.get<D>();
    OnDevice<std::int64_t, D> const index(exec, std::span(rows, n));
    RowCopies<D>::take(exec, n, bytes, from, index.data(), to);
}
template <class D>
void put_any(AnyExec any, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* rows, void* to) {
    D const& exec = any.get<D>();
    OnDevice<std::int64_t, D> const index(exec, std::span(rows, n));
    RowCopies<D>::put(exec, n, bytes, from, index.data(), to);
}
template <class D>
void join_any(AnyExec any, std::span<std::int64_t const> starts, std::size_t bytes, void const* const* from, void* to) {
    copy_blocks(any.get<D>(), starts, bytes, BlocksAt{from},
                PlacesOfRows<std::byte>{static_cast<std::byte*>(to), starts.data(), bytes});
}

/// Copies of rows of so many bytes on a device. Numbers of rows are in host memory.
struct RowFunctions {
    /// to[i] = from[rows[i]], i < n
    void (*take)(AnyExec, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* rows, void* to);
    /// to[rows[i]] = from[i], i < n
    void (*put)(AnyExec, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* rows, void* to);
    /// Rows [starts[i], starts[i + 1]) of `to` are those from from[i] on.
    void (*join)(AnyExec, std::span<std::int64_t const> starts, std::size_t bytes, void const* const* from, void* to);
};
template <class D>
inline constexpr RowFunctions row_functions{&take_any<D>, &put_any<D>, &join_any<D>};

ROWAN_TEMPLATE(void take_any<Cpu>(AnyExec, std::size_t, std::size_t, void const*, std::int64_t const*, void*))
ROWAN_TEMPLATE(void put_any<Cpu>(AnyExec, std::size_t, std::size_t, void const*, std::int64_t const*, void*))
ROWAN_TEMPLATE(void join_any<Cpu>(AnyExec, std::span<std::int64_t const>, std::size_t, void const* const*, void*))

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/joined_rows_inl.hpp>
