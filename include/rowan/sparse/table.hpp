// rowan/sparse/table.hpp: row_table and row_view, what tables by keys and in files have in common: rows by names.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// The rows of names, which are keys or row numbers, in a table. It is provisional: if it ends without `commit`, the table
/// is as it was before.
///     auto view = table.view(names);              // keys that are new have rows
///     auto x = gather(view.rows(), view.at());    // of names that all have rows
///     adagrad(view, x_grad);                      // a row for each name: write, a step on rows and states, commit
template <class V>
concept row_view = requires(V& view, V const& constant, Cpu exec, std::string_view name) {
    typename V::value_type;
    { view.rows() } -> std::same_as<Tensor<typename V::value_type>&>;      // of the table: these and others
    { constant.at() } -> std::same_as<Tensor<std::int64_t> const&>;        // the place of each name there, or -1
    { view.template state<float>(name) } -> std::same_as<Tensor<float>&>;  // with a row for each of rows()
    { constant.template has_state<float>(name) } -> std::same_as<bool>;
    view.write(exec);  // called before rows change; what may fail, fails here
    view.commit();     // makes the view real
};

/// A table whose rows have names.
template <class X>
concept row_table = requires(X& x, Cpu exec, typename X::names const& names) {
    typename X::value_type;
    { x.height() } -> std::convertible_to<std::int64_t>;
    { x.width() } -> std::convertible_to<std::size_t>;
    { x.view(exec, names) } -> row_view;
};

/// A table or a view, which the functions of optimizers take.
template <class X>
concept named_rows = row_table<std::remove_cvref_t<X>> || row_view<std::remove_cvref_t<X>>;

}  // namespace rowan::inline v0
