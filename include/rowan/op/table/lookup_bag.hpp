// rowan/op/table/lookup_bag.hpp: lookup_bag, the former name of embedding_bag, which a later version removes.
#pragma once

#include <rowan/op/table/weighted_embedding_bag.hpp>

#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// As embedding_bag.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag")]] LoDTensor<T, D> lookup_bag(D const& exec, Tensor<T, D> const& table,
                                                               LoDTensor<I, D> const& ids,
                                                               BagOptions const& options = {}) {
    return embedding_bag(exec, table, ids, options);
}
/// As embedding_bag.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag")]] LoDTensor<T, D> lookup_bag(D const& exec, Tensor<T, D> const& table,
                                                               LoDTensor<I, D> const& ids,
                                                               std::type_identity_t<Tensor<T, D>> const& weight,
                                                               BagOptions const& options = {}) {
    return embedding_bag(exec, table, ids, weight, options);
}

/// As embedding_bag_grad.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag_grad")]] SelectedRows<T, D> lookup_bag_grad(
    D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& out_grad, BagOptions const& options = {}) {
    return embedding_bag_grad(exec, table, ids, out_grad, options);
}
/// As embedding_bag_grad.
template <class T, id_type I, device D>
[[deprecated("use embedding_bag_grad")]] std::tuple<SelectedRows<T, D>, Tensor<T, D>> lookup_bag_grad(
    D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& weight, std::type_identity_t<Tensor<T, D>> const& out_grad,
    BagOptions const& options = {}) {
    return embedding_bag_grad(exec, table, ids, weight, out_grad, options);
}

using lookup_bag_op [[deprecated("use embedding_bag_op")]] = embedding_bag_op;  ///< As embedding_bag_op.
using weighted_bag_op [[deprecated("use weighted_embedding_bag_op")]] = weighted_embedding_bag_op;  ///< As that.

}  // namespace rowan::inline v0
