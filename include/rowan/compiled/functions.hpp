// rowan/compiled/functions.hpp: the functions of tensors that no kernel calls, used only by the sources of the compiled library.
#pragma once

#include <rowan/op.hpp>

#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Calls the functions with elements of T that no kernel calls, so that the object file that instantiates this has them
/// for programs. Nothing runs it.
template <class T>
void call_functions(Cpu exec, Tensor<T> const& x) {
    one_hot<T>(exec, Tensor<std::int64_t>(), {});
    one_hot<T>(exec, Tensor<std::int32_t>(), {});
    if constexpr (takes_elements<isfinite_op, T>) {
        isfinite(exec, x);
        isinf(exec, x);
        isnan(exec, x);
    }
    if constexpr (floating_element<T>) {
        dropout(exec, x, 0, 0);
        layer_norm(exec, x);
        auto const none = [](auto const&...) {};
        update_bags(exec, std::span<Tensor<T> const>(), LoDTensor<std::int64_t>(), x, none);
        update_bags(exec, std::span<Tensor<T> const>(), LoDTensor<std::int32_t>(), x, none);
    }
}

/// The same for losses: the one that has no operator, and those of sampled classes with ids of int32.
template <class T>
void call_losses(Cpu exec, LoDTensor<T> const& rows, Tensor<T> const& x, HuffmanTree const& tree, Ids<> const& label,
                 Tensor<std::int32_t> const& ids) {
    hierarchical_softmax(exec, rows, x, tree, label);
    hierarchical_softmax_grad(exec, rows, x, tree, label, x, x);
    auto const of_labels = [&](auto const& labels) {
        nce(exec, x, x, x, labels, ids, x, x);
        nce_grad(exec, x, x, x, labels, ids, x, x);
        sampled_softmax(exec, x, x, x, labels, ids, x, x);
        sampled_softmax_grad(exec, x, x, x, labels, ids, x, x);
    };
    of_labels(Tensor<std::int64_t>());
    of_labels(ids);
}

}  // namespace rowan::inline v0::detail
