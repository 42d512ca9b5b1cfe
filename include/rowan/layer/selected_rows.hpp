// rowan/layer/selected_rows.hpp: layer::selected_rows, tables of which only some rows exist, as data or as parameters.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/initializer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// errors   ShapeError if there are no dims; IndexError if a row is not in [0, height), or is repeated
ROWAN_IF_CALLED void check_parameter_rows(Dims const& dims, std::vector<std::int64_t> const& rows);

/// Some rows of a table, with those first values that they have in a whole one; without a seed, with any. The columns
/// are those of a table of `whole_width`, if it is not 0, from `column` on.
template <class T, class Device>
void first_rows(Value& value, Dims const& dims, layer::Initializer const& first, std::span<std::int64_t const> rows,
                std::optional<std::uint64_t> seed, AnyExec given, std::size_t whole_width = 0, std::size_t column = 0) {
    typename Tensor<T>::shape_type shape{rows.size()};
    for (std::size_t i = 1; i < dims.size(); ++i) shape.push_back(static_cast<std::size_t>(dims[i]));
    std::size_t width = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) width *= shape[i];
    if (whole_width == 0) whole_width = width;
    auto t = first_values<T, Device>(given, shape, first, seed, [&](std::size_t i) {
        return static_cast<std::size_t>(rows[i / width]) * whole_width + column + i % width;
    });
    value.set(to_device(given.or_default<Device>(), SelectedRows<T>(dims[0], rows, std::move(t))));
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Declares an input that is a SelectedRows, such as the rows of a huge table that a batch uses. A lookup in it finds
/// rows by their numbers.
///     auto table = layer::selected_rows<float>("table", {1'000'000'000, 64});
///     auto x = layer::embedding(ids, table);
/// shapes   the represented tensor is [dims...]; UNK for dims that vary from batch to batch
/// errors   ShapeError if there are no dims; GraphError if the scope already has that name
/// cost     O(1); a batch's value is aliased, a host value for a device is copied
template <class T = float, class Device = Cpu>
Var<T, Device> selected_rows(std::string const& name, Dims const& dims) {
    rowan::detail::check_parameter_rows(dims, {});
    Variable& v = default_scope().new_var(name, selected_rows_spec<T>(dims), Role::data);
    v.bring = rowan::detail::bring_rows_to<T, Device>();
    return Var<T, Device>(v);
}

/// Creates a parameter that is a SelectedRows, in the outermost scope. It begins with the rows `rows` and those first
/// values that they have in a whole table. With options.initial or options.resume of train, it begins with other rows,
/// such as those that were added since. Only rows that exist can be looked up, and are trained; optimizers have a state
/// for each.
/// shapes   the represented tensor is [dims...]
/// errors   as layer::parameter; ShapeError if there are no dims; IndexError if a row is not in [0, dims[0]) or is
///          repeated
/// cost     as layer::parameter, for the rows that exist
template <class T = float, class Device = Cpu>
Var<T, Device> selected_rows(std::vector<std::int64_t> rows, Dims const& dims, Initializer const& first,
                             std::string const& name = "") {
    rowan::detail::check_known(dims);
    rowan::detail::check_parameter_name(name);
    rowan::detail::check_parameter_rows(dims, rows);
    Initializer const values = first.of(dims);
    Variable& v = rowan::detail::outermost_scope().new_var(name, selected_rows_spec<T>(dims), Role::parameter);
    v.bring = rowan::detail::bring_rows_to<T, Device>();
    v.initialize = [rows = std::move(rows), dims, values](Value& value, std::optional<std::uint64_t> seed,
                                                          AnyExec given) {
        rowan::detail::first_rows<T, Device>(value, dims, values, rows, seed, given);
    };
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(Var<float> selected_rows(std::vector<std::int64_t>, Dims const&, Initializer const&, std::string const&))
ROWAN_TEMPLATE(Var<double> selected_rows(std::vector<std::int64_t>, Dims const&, Initializer const&,
                                         std::string const&))

}  // namespace rowan::inline v0::layer

#include <rowan/layer/selected_rows_inl.hpp>
