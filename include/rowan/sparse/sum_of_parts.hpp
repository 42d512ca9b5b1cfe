// rowan/sparse/sum_of_parts.hpp: sum_of_parts, the sum of the gradients of a batch's parts.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Checks that there are parts, which can be added.
template <class T>
void check_parts(std::span<SelectedRows<T> const> parts) {
    if (parts.empty()) throw ShapeError("parts", "0", "at least 1, which may have no rows");
    SelectedRows<T>::check_value(parts[0].value(), parts[0].rows().size());
    for (auto const& p : parts.subspan(1)) check_addable(parts[0], p);
}

template <class T>
void check_parts(std::span<Tensor<T> const> parts) {
    if (parts.empty()) throw ShapeError("parts", "0", "at least 1");
    for (auto const& p : parts) {
        if (p.shape() != parts[0].shape())
            throw ShapeError("parts shape", shape_text(p.shape()), shape_text(parts[0].shape()));
    }
}

/// Each part for itself, numbered from 0 on.
template <class Pieces, class Part>
std::vector<Pieces> all_pieces(Cpu exec, std::span<Part const> parts, std::int64_t first = 0) {
    std::vector<Pieces> pieces;
    pieces.reserve(parts.size());
    for (auto const& p : parts) pieces.push_back(part_pieces(exec, p, first++));
    return pieces;
}

}  // namespace detail

/// The sum of the gradients of a batch's parts, merged. Each part is merged, and the parts of each row are summed as a
/// binary tree over their numbers: (0 + 1) + (2 + 3), where a part without the row does not count. So the sum of parts
/// on several ranks, which row_allreduce forms, has the same bits. Sums are formed in dtype<T>::sum and narrowed once.
/// shapes   SelectedRows of the same height and row shape -> SelectedRows of these with the distinct rows, ascending
/// errors   ShapeError if there are no parts, or heights or row shapes differ
/// cost     a merge of each part, a sort of their rows, and one sum of them; the same bits for any number of threads
template <class T>
SelectedRows<T> sum_of_parts(Cpu exec, std::span<SelectedRows<T> const> parts) {
    detail::check_exec(exec);
    detail::check_parts(parts);
    if (parts.size() == 1) return merge(exec, parts[0]);
    auto const pieces = detail::all_pieces<detail::RowPieces>(exec, parts);
    return detail::from_pieces<T>(exec, detail::sum_pieces(exec, detail::element_sums<T>(), pieces));
}

/// The sum of dense gradients of a batch's parts, as a binary tree over their numbers: (0 + 1) + (2 + 3). Sums are
/// formed in dtype<T>::sum and narrowed once.
/// shapes   tensors of one shape -> a tensor of it
/// errors   ShapeError if there are no parts, or shapes differ
/// cost     every part read once
template <class T>
Tensor<T> sum_of_parts(Cpu exec, std::span<Tensor<T> const> parts) {
    detail::check_exec(exec);
    detail::check_parts(parts);
    auto const pieces = detail::all_pieces<detail::DensePieces>(exec, parts);
    return detail::from_pieces<T>(exec, detail::sum_pieces(exec, detail::element_sums<T>(), pieces), parts[0].shape());
}

template <class T>
SelectedRows<T> sum_of_parts(std::span<SelectedRows<T> const> parts) {
    return sum_of_parts(Cpu{}, parts);
}
template <class T>
Tensor<T> sum_of_parts(std::span<Tensor<T> const> parts) {
    return sum_of_parts(Cpu{}, parts);
}

/// The sum of a vector of parts: SelectedRows or tensors.
/// shapes   parts of one shape -> the sum, of that shape
/// errors   ShapeError if there are no parts, or shapes differ
/// cost     that of sum_of_parts for a span
template <class Part>
Part sum_of_parts(Cpu exec, std::vector<Part> const& parts) {
    return sum_of_parts(exec, std::span<Part const>(parts));
}
template <class Part>
Part sum_of_parts(std::vector<Part> const& parts) {
    return sum_of_parts(Cpu{}, std::span<Part const>(parts));
}

}  // namespace rowan::inline v0
