// rowan/sparse/gather.hpp: gather, the rows of a table at given ids.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class Shape>
Shape gathered_shape(Shape const& ids, Shape const& table) {
    Shape shape = ids;
    shape.insert(shape.end(), table.begin() + 1, table.end());
    return shape;
}

/// Selects and copies rows of a table.
template <class D>
struct RowGather {
    static_assert(has_backend<D>, "rowan: gather on a Thrust device needs #include <rowan/thrust/sparse/gather.hpp>");
};

template <>
struct RowGather<Cpu> {
    /// Checks the arguments; returns the ids for copy().
    template <class T, class... Out>
    static Ids<> const& checked(Cpu exec, Tensor<T> const& table, Ids<> const& ids, Out const&...) {
        check_ids(exec, "ids", ids, height_of(table));
        return ids;
    }

    /// Writes the rows to `out`; is_new: its contents may be lost.
    template <class T>
    static void copy(Cpu exec, Tensor<T> const& table, Ids<> const& ids, Tensor<T>& out, bool /*is_new*/) {
        std::size_t const width = table.row_size();
        T const* const rows = table.data();
        T* const to = out.data();
        ids.visit([&](auto list) {
            auto const row = [=](std::size_t i) { return rows + static_cast<std::size_t>(list[i]) * width; };
            copy_rows(exec, list.size(), width * sizeof(T), row, [=](std::size_t i) { return to + i * width; });
        });
    }

    /// The numbers i in [0, n) for which keep(i) is true, ascending.
    template <class Keep>
    static Tensor<std::int64_t> where(Cpu, std::size_t n, Keep const& keep) {
        std::vector<std::int64_t> found;
        for (std::size_t i = 0; i < n; ++i) {
            if (keep(i)) found.push_back(static_cast<std::int64_t>(i));
        }
        auto positions = Tensor<std::int64_t>::from_shape({found.size()});
        std::copy(found.begin(), found.end(), positions.data());
        return positions;
    }

    /// to[i] = row positions[i] of a tensor, not bounds-checked.
    template <class T>
    static void take(Cpu exec, Tensor<T> const& from, Tensor<std::int64_t> const& positions, Tensor<T>& to) {
        take_rows(exec, positions.size(), from.row_size(), from.data(), positions.data(), to.data());
    }
};

/// The rows positions[i] of a tensor, not bounds-checked.
template <class T, class D>
Tensor<T, D> rows_at(D const& exec, Tensor<T, D> const& from, Tensor<std::int64_t, D> const& positions) {
    auto shape = from.shape();
    shape[0] = positions.size();
    auto out = new_tensor<T>(exec, shape);
    RowGather<D>::take(exec, from, positions, out);
    return out;
}

}  // namespace detail

/// Writes row `ids[i]` of `table` to row i of `out`.
/// shapes   table [height, ...], ids of any shape, out ids.shape + table.shape[1:]
/// errors   ShapeError if table has rank 0 or out has another shape; IndexError if an id is not in [0, height); Error
///          if out shares memory with table or ids
/// cost     O(n * width), one read and one write of n rows, no allocation; ids in device memory are checked in another
///          pass before, so that `out` is unchanged if one is bad
template <class T, device D>
void gather_into(D const& exec, Tensor<T, D> const& table, std::type_identity_t<Ids<D>> ids, Tensor<T, D>& out) {
    detail::check_rows("table", table);
    auto const shape = detail::gathered_shape(ids.shape(), table.shape());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    auto const& checked = detail::RowGather<D>::checked(exec, table, ids, out);
    detail::check_apart("out", detail::bytes_of(out), "ids", ids.bytes());
    detail::check_apart("out", detail::bytes_of(out), "table", detail::bytes_of(table));
    detail::RowGather<D>::copy(exec, table, checked, out, false);
}

/// The rows of `table` at `ids`, in the order of `ids`: the forward pass of an embedding.
/// shapes   table [height, ...], ids of any shape -> ids.shape + table.shape[1:]
/// errors   as gather_into
/// cost     one read and one write of n rows, and one allocation for the result
template <class T, device D>
Tensor<T, D> gather(D const& exec, Tensor<T, D> const& table, std::type_identity_t<Ids<D>> ids) {
    detail::check_rows("table", table);
    auto const& checked = detail::RowGather<D>::checked(exec, table, ids);
    auto out = detail::new_tensor<T>(exec, detail::gathered_shape(ids.shape(), table.shape()));
    detail::RowGather<D>::copy(exec, table, checked, out, true);
    return out;
}

template <class T, class Device>
void gather_into(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids, Tensor<T, Device>& out) {
    gather_into(table.device(), table, ids, out);
}

template <class T, class Device>
Tensor<T, Device> gather(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids) {
    return gather(table.device(), table, ids);
}

// A mistake, which does not compile.
template <detail::plain_range R, class I = std::initializer_list<std::int64_t>>
Tensor<float> gather(R const&, I const&) {
    static_assert(!detail::plain_range<R>,
                  "rowan::gather: the table comes first, and it is a Tensor: Tensor<T>::borrow(values, {rows, width}) "
                  "is one in your memory");
    return {};
}

ROWAN_TEMPLATE(void gather_into(Cpu const&, Tensor<float> const&, Ids<>, Tensor<float>&))
ROWAN_TEMPLATE(Tensor<float> gather(Cpu const&, Tensor<float> const&, Ids<>))
ROWAN_TEMPLATE(void gather_into(Cpu const&, Tensor<double> const&, Ids<>, Tensor<double>&))
ROWAN_TEMPLATE(Tensor<double> gather(Cpu const&, Tensor<double> const&, Ids<>))

}  // namespace rowan::inline v0
