// rowan/sparse/scatter_add.hpp: scatter_add, adds rows to a table, duplicates in input order.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/owned_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Applies an element-wise formula to pairs of a row of `src` and a row of a table: on the host in input order, on a
/// Thrust device to the sums of duplicates. prepare() makes what apply() takes of ids or of a gradient's rows.
template <class D>
struct RowPairs {
    static_assert(has_backend<D>,
                  "rowan: scatter_add on a Thrust device needs "
                  "#include <rowan/thrust/sparse/scatter_add.hpp>, and sgd <rowan/thrust/sparse/sgd.hpp>");
};

template <>
struct RowPairs<Cpu> {
    /// errors   IndexError if an id is not in [0, height)
    static Ids<> const& prepare(Cpu exec, Ids<> const& ids, std::int64_t height) {
        check_ids(exec, "ids", ids, height);
        return ids;
    }
    template <class U>
    static Ids<> prepare(Cpu, SelectedRows<U> const& g) {
        return g.rows();
    }

    template <class T, class U, class Formula>
    static void apply(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Formula const& formula) {
        for_each_owned(exec, ids, src, table, formula);
    }
};

template <class T, class U>
constexpr void check_addition() {
    static_assert(computes_from<T, U>, "rowan::scatter_add: only integers can be added to integers");
}

template <class T>
constexpr void check_written(T&) {
    static_assert(!std::is_const_v<T>,
                  "rowan: a table that is updated must not be const or a temporary: give an alias such as "
                  "table.slice(0, 2) a name");
}

}  // namespace detail

/// dst[ids[i]] += src[i] for all i, in input order. On a Thrust device duplicates are summed first, in the order of
/// merge, and their sum is added: otherwise threads would wait for each other at a frequent row. Rows without
/// duplicates are bit-identical on all devices.
/// shapes   dst [height, ...], ids [n], src [n, ...] with the trailing dims of dst
/// errors   ShapeError if shapes do not match; IndexError if an id is not in [0, height); Error if dst shares memory
///          with ids or src
/// cost     O(n * width), every row of src read once, every touched row of dst read and written; on the host at most
///          2 MiB of temporary memory to divide lookups among threads, and bit-identical to the serial loop for any
///          number of threads; on a Thrust device a RowPlan
template <class T, class U, device D>
void scatter_add(D const& exec, Tensor<T, D>& dst, std::type_identity_t<Ids<D>> ids, Tensor<U, D> const& src) {
    detail::check_addition<T, U>();
    detail::check_rows("dst", dst);
    if (ids.shape().size() != 1) throw ShapeError("ids rank", ids.shape().size(), "1");
    detail::check_height("src", src, static_cast<std::int64_t>(ids.size()));
    detail::check_trailing("src", src, dst.shape());
    auto const& rows = detail::RowPairs<D>::prepare(exec, ids, detail::height_of(dst));
    detail::check_apart("dst", detail::bytes_of(dst), "ids", ids.bytes());
    detail::check_apart("dst", detail::bytes_of(dst), "src", detail::bytes_of(src));
    detail::RowPairs<D>::apply(exec, rows, src, dst, detail::add_lanes{});
}

/// dst[g.rows()[i]] += g.value()[i] for all i, in input order; on a Thrust device duplicates are summed first, in the
/// order of merge.
/// shapes   dst has the shape of g
/// errors   ShapeError if shapes do not match; Error if dst shares memory with g
/// cost     O(n * width), every row of g read once, every touched row of dst read and written; on a Thrust device a
///          RowPlan, which needs no sort if g is merged
template <class T, class U, device D>
void scatter_add(D const& exec, Tensor<T, D>& dst, SelectedRows<U, D> const& g) {
    detail::check_addition<T, U>();
    SelectedRows<U, D>::check_value(g.value(), g.rows().size());
    detail::check_height("dst", dst, g.height());
    detail::check_trailing("dst", dst, g.value().shape());
    detail::check_apart("dst", detail::bytes_of(dst), "the gradient's value", detail::bytes_of(g.value()));
    detail::RowPairs<D>::apply(exec, detail::RowPairs<D>::prepare(exec, g), g.value(), dst, detail::add_lanes{});
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, std::type_identity_t<Ids<Device>> ids, Tensor<U, Device> const& src) {
    scatter_add(dst.device(), dst, ids, src);
}

template <class T, class U, class Device>
void scatter_add(Tensor<T, Device>& dst, SelectedRows<U, Device> const& g) {
    scatter_add(dst.device(), dst, g);
}

// Mistakes, which do not compile.
template <class T, detail::plain_range R>
void scatter_add(Tensor<T>&, std::type_identity_t<Ids<>> const&, R const&) {
    static_assert(
        !detail::plain_range<R>,
        "rowan::scatter_add: src is a Tensor: Tensor<T>::borrow(values, {rows, width}) is one in your memory");
}
template <class T, class U, class Device>
void scatter_add(Tensor<T, Device> const& dst, std::type_identity_t<Ids<Device>> const&, Tensor<U, Device> const&) {
    detail::check_written(dst);
}
template <class T, class U, class Device>
void scatter_add(Tensor<T, Device> const& dst, SelectedRows<U, Device> const&) {
    detail::check_written(dst);
}

ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<float>&, Ids<>, Tensor<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<float>&, SelectedRows<float> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<double>&, Ids<>, Tensor<double> const&))
ROWAN_TEMPLATE(void scatter_add(Cpu const&, Tensor<double>&, SelectedRows<double> const&))

}  // namespace rowan::inline v0
