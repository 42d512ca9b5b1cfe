// rowan/sparse/detail/row_pieces.hpp: RowPieces, sums of rows on their way between ranks.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Piece i is a sum of contributions to row rows[i]. Of all element types: its elements are dtype<T>::sum.
struct RowPieces {
    using Shape = Tensor<std::int64_t>::shape_type;

    std::int64_t height = 0;
    Shape shape;  // of the value of a SelectedRows; the first dim has no meaning
    std::size_t row_bytes = 0;
    std::vector<std::int64_t> rows, keys;  // keys[i]: the first part of the node that piece i sums
    Storage<std::byte> bytes;              // rows.size() * row_bytes
    bool lent = false;                     // the bytes are the caller's: not to be written or given away

    /// Without pieces, of the same height and shape.
    ROWAN_IF_CALLED RowPieces like() const;
    /// Memory for n pieces, with any contents.
    ROWAN_IF_CALLED void resize(std::size_t n);
};

/// Rows that a thread sums at a time.
inline std::size_t rows_per_range(std::size_t row_bytes) { return (std::size_t{256} << 10) / (row_bytes + 1) + 64; }

/// Sums the pieces of each row, those of one node: the tree over parts. `ends` are those of whole_nodes; without them,
/// all pieces are of one node. Result rows ascend, and the keys of a row.
/// requires   the pieces of a row in the order of `in` have ascending keys
ROWAN_IF_CALLED RowPieces sum_pieces(Cpu exec, ElementSums const& type, std::span<RowPieces const> in,
                                     std::span<std::int64_t const> ends = {});

/// Adds up what a rank may: the pieces of parts [first, first + parts.size()) of all `total` parts, one element each,
/// become those of the nodes that have no other parts.
ROWAN_IF_CALLED RowPieces node_pieces(Cpu exec, ElementSums const& type, std::vector<RowPieces>&& parts,
                                      std::int64_t first, std::int64_t total);

/// Sums narrowed to elements, in memory that is not lent: row_bytes is that of elements then.
ROWAN_IF_CALLED RowPieces narrow_pieces(Cpu exec, ElementSums const& type, RowPieces&& in);

/// The rows of a plan, with the sums of their contributions in `value`, widened, as pieces of the part with this
/// number.
template <class T>
RowPieces planned_pieces(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, std::int64_t number) {
    using S = sum_t<T>;
    RowPieces out;
    out.height = plan.height();
    out.shape = value.shape();
    out.row_bytes = value.row_size() * sizeof(S);
    RowSums<T> sums(exec, plan, value);
    out.resize(plan.rows().size());
    std::copy(plan.rows().begin(), plan.rows().end(), out.rows.begin());
    std::fill(out.keys.begin(), out.keys.end(), number);
    sums.run([](std::size_t) {},
             [to = out.bytes.data(), bytes = out.row_bytes](std::size_t k, S const* sum) {
                 if (bytes != 0) std::memcpy(to + k * bytes, sum, bytes);
             });
    return out;
}

/// The part with this number, merged and widened; it lends its memory if it is merged and its elements are sums.
template <class T>
RowPieces part_pieces(Cpu exec, SelectedRows<T> const& part, std::int64_t number) {
    using S = sum_t<T>;
    SelectedRows<T>::check_value(part.value(), part.rows().size());
    if (std::is_same_v<T, S> && part.merged()) {
        RowPieces out;
        out.height = part.height();
        out.shape = part.value().shape();
        out.row_bytes = part.row_size() * sizeof(S);
        out.rows.assign(part.rows().begin(), part.rows().end());
        out.keys.assign(out.rows.size(), number);
        auto const owner = std::make_shared<Tensor<T>>(part.value().share());
        out.bytes = Storage<std::byte>::of_others(
            std::shared_ptr<std::byte>(owner, reinterpret_cast<std::byte*>(owner->data())),
            out.rows.size() * out.row_bytes);
        out.lent = true;
        return out;
    }
    return planned_pieces(exec, RowPlan<>(exec, part), part.value(), number);
}

/// The SelectedRows of pieces that are already narrowed, whose rows ascend.
template <class T>
SelectedRows<T> rows_of_pieces(RowPieces&& in) {
    auto rows = Tensor<std::int64_t>::from_shape({in.rows.size()});
    std::copy(in.rows.begin(), in.rows.end(), rows.data());
    in.shape[0] = in.rows.size();
    auto* const elements = reinterpret_cast<T*>(in.bytes.data());
    bool const none = in.bytes.empty();
    auto value = none ? Tensor<T>::from_shape(in.shape) : Tensor<T>::borrow(elements, in.shape, std::move(in.bytes));
    return SelectedRowsAccess::adopt(in.height, std::move(rows), std::move(value), true);
}

/// Narrowed and merged: of sum_pieces.
template <class T>
SelectedRows<T> from_pieces(Cpu exec, RowPieces&& in) {
    return rows_of_pieces<T>(narrow_pieces(exec, element_sums<T>(), std::move(in)));
}

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/row_pieces_inl.hpp>
