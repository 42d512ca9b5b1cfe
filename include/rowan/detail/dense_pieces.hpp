// rowan/detail/dense_pieces.hpp: DensePieces, sums of dense parts on their way between ranks.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/tree_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Pieces of `elements` sums each, one after another. Of all element types: elements are dtype<T>::sum.
struct DensePieces {
    std::size_t elements = 0;
    std::size_t element_bytes = 0;
    std::vector<std::int64_t> keys;  // keys[i]: the first part of the node that piece i sums
    Storage<std::byte> bytes;        // keys.size() * elements * element_bytes
    bool lent = false;               // the bytes are the caller's: not to be written or given away

    std::size_t piece_bytes() const { return elements * element_bytes; }
};

/// Adds the arrays from[k], of `elements` sums each, as the tree does: keys[k] is the first part of the node that array
/// k sums. Keys ascend.
/// requires   out is none of them
ROWAN_IF_CALLED void sum_dense(Cpu exec, ElementSums const& type, std::size_t elements,
                               std::span<std::int64_t const> keys, std::span<std::byte const* const> from,
                               std::byte* out);

/// The sum of pieces that ascend by key, those of one node: of `ends`, those of whole_nodes, or of all.
ROWAN_IF_CALLED DensePieces sum_pieces(Cpu exec, ElementSums const& type, std::span<DensePieces const> in,
                                       std::span<std::int64_t const> ends = {});

/// Adds up what a rank may: as for RowPieces.
ROWAN_IF_CALLED DensePieces node_pieces(Cpu exec, ElementSums const& type, std::vector<DensePieces>&& parts,
                                        std::int64_t first, std::int64_t total);

/// Sums narrowed to elements, in memory that is not lent: element_bytes is that of elements then.
ROWAN_IF_CALLED DensePieces narrow_pieces(Cpu exec, ElementSums const& type, DensePieces&& in);

/// n elements as sums.
template <class T>
void widen_elements(Cpu exec, std::size_t n, T const* from, std::byte* to) {
    using S = sum_t<T>;
    parallel_work(exec, n, n, serial_below, [=](std::size_t begin, std::size_t end) {
        copy_lanes<S>(end - begin, from + begin, reinterpret_cast<S*>(to) + begin);
    });
}

/// The part with this number, widened; it lends its memory if its elements are sums.
template <class T>
DensePieces part_pieces(Cpu exec, Tensor<T> const& part, std::int64_t number) {
    using S = sum_t<T>;
    DensePieces out;
    out.elements = part.size();
    out.element_bytes = sizeof(S);
    out.keys = {number};
    if constexpr (std::is_same_v<T, S>) {
        auto const owner = std::make_shared<Tensor<T>>(part.share());
        out.bytes = Storage<std::byte>::of_others(
            std::shared_ptr<std::byte>(owner, reinterpret_cast<std::byte*>(owner->data())), out.piece_bytes());
        out.lent = true;
    } else {
        out.bytes = Storage<std::byte>(out.piece_bytes());
        widen_elements(exec, part.size(), part.data(), out.bytes.data());
    }
    return out;
}

template <class T>
DensePieces sum_pieces(Cpu exec, DensePieces const& in) {
    return sum_pieces(exec, element_sums<T>(), std::span(&in, 1));
}

/// The tensor of a piece that is already narrowed.
template <class T>
Tensor<T> tensor_of_pieces(DensePieces&& in, typename Tensor<T>::shape_type const& shape) {
    auto* const elements = reinterpret_cast<T*>(in.bytes.data());
    return in.bytes.empty() ? Tensor<T>::from_shape(shape) : Tensor<T>::borrow(elements, shape, std::move(in.bytes));
}

/// Narrowed: of sum_pieces.
template <class T>
Tensor<T> from_pieces(Cpu exec, DensePieces&& in, typename Tensor<T>::shape_type const& shape) {
    return tensor_of_pieces<T>(narrow_pieces(exec, element_sums<T>(), std::move(in)), shape);
}

}  // namespace rowan::inline v0::detail

#include <rowan/detail/dense_pieces_inl.hpp>
