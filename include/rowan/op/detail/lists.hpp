// rowan/op/detail/lists.hpp: lists of tensors and row-sparse gradients, which kernels are given as a list of each kind.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <vector>

namespace rowan::inline v0::detail {

/// Calls f(i, x) with each part x of a list, in the order of the caller: part i is row-sparse if is_sparse[i].
template <class T, class D, class F>
void visit_list(std::vector<bool> const& is_sparse, std::vector<Tensor<T, D>> const& dense,
                std::vector<SelectedRows<T, D>> const& sparse, F const& f) {
    for (std::size_t i = 0, k = 0; i < is_sparse.size(); ++i) is_sparse[i] ? f(i, sparse[k++]) : f(i, dense[i - k]);
}

/// Checks that the value of part i of the list `field`, a row-sparse gradient, has its number of rows.
template <class T, class D>
void check_gradient(char const* field, std::size_t i, SelectedRows<T, D> const& g) {
    try {
        SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    } catch (ShapeError const&) {
        rethrow_in(part_name(field, i));
    }
}
/// Checks that part i of the list `field`, a tensor, has rank 1 or more.
template <class T, class D>
void check_gradient(char const* field, std::size_t i, Tensor<T, D> const& x) {
    check_rows(part_name(field, i).c_str(), x);
}

}  // namespace rowan::inline v0::detail
