// rowan/sparse/scatter_add.hpp: scatter_add, adds rows to a table, duplicates in input order.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/detail/owned_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

template <class T, class U>
void scatter_add_rows(Cpu exec, Tensor<T>& dst, Ids<> const& ids, Tensor<U> const& src) {
    static_assert(computes_from<T, U>, "rowan::scatter_add: an integer table takes integer rows only");
    for_each_owned(exec, ids, src, dst,
                   [](std::size_t n, U const* from, T* to) { for_lanes<compute_t<T, U>>(add_lanes{}, n, from, to); });
}

}  // namespace detail

/// dst[ids[i]] += src[i] for all i, in input order.
/// shapes   dst [height, ...], ids [n], src [n, ...] with the trailing dims of dst
/// errors   ShapeError if shapes do not match; IndexError if an id is not in [0, height); Error if dst shares memory
///          with ids or src
/// cost     O(n * width), every row of src read once, every touched row of dst read and written; at most 2 MiB of
///          temporary memory to divide lookups among threads; bit-identical to the serial loop for any number of
///          threads
template <class T, class U>
void scatter_add(Cpu exec, Tensor<T>& dst, Ids<> ids, Tensor<U> const& src) {
    detail::check_rows("dst", dst);
    if (ids.shape().size() != 1) throw ShapeError("ids rank", std::to_string(ids.shape().size()), "1");
    detail::check_height("src", src, static_cast<std::int64_t>(ids.size()));
    detail::check_trailing("src", src, dst.shape());
    detail::check_ids(exec, "ids", ids, detail::height_of(dst));
    detail::check_apart("dst", detail::bytes_of(dst), "ids", ids.bytes());
    detail::check_apart("dst", detail::bytes_of(dst), "src", detail::bytes_of(src));
    detail::scatter_add_rows(exec, dst, ids, src);
}

/// dst[g.rows()[i]] += g.value()[i] for all i, in input order.
/// shapes   dst has the shape of g
/// errors   ShapeError if shapes do not match; Error if dst shares memory with g
/// cost     as above
template <class T, class U>
void scatter_add(Cpu exec, Tensor<T>& dst, SelectedRows<U> const& g) {
    SelectedRows<U>::check_value(g.value(), g.rows().size());
    detail::check_height("dst", dst, g.height());
    detail::check_trailing("dst", dst, g.value().shape());
    detail::check_apart("dst", detail::bytes_of(dst), "the gradient's value", detail::bytes_of(g.value()));
    detail::scatter_add_rows(exec, dst, g.rows(), g.value());
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, std::type_identity_t<Ids<Device>> ids, Tensor<U, Device> const& src) {
    scatter_add(Device{}, dst, ids, src);
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, SelectedRows<U, Device> const& g) {
    scatter_add(Device{}, dst, g);
}

ROWAN_TEMPLATE(void scatter_add(Cpu, Tensor<float>&, Ids<>, Tensor<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu, Tensor<float>&, SelectedRows<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu, Tensor<double>&, Ids<>, Tensor<double> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu, Tensor<double>&, SelectedRows<double> const&))

}  // namespace rowan::inline v0
