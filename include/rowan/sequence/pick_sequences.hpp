// rowan/sequence/pick_sequences.hpp: pick_sequences, the sequences of a batch that a list names.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/sequence_expand.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The first rows of the first-level sequences, followed by the number of rows. Without levels, sequences are rows.
template <class T, class D>
std::vector<std::int64_t> first_rows(LoDTensor<T, D> const& x) {
    if (!x.lod().empty()) return x.lod().absolute()[0];
    std::vector<std::int64_t> rows(x.size() + 1);
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    return rows;
}

/// The picks of a list, stably sorted by sequence.
struct SortedPicks {
    std::vector<std::int64_t> times;   // that each sequence is picked
    std::vector<std::int64_t> starts;  // of the sorted picks, in rows
    std::vector<std::int64_t> from;    // their first rows in the unsorted result
    bool sorted = true;                // whether the list was sorted
};

SortedPicks sort_picks(Ids<> const& list, std::vector<std::int64_t> const& rows);

/// Throws unless `list` is flat and its ids are sequences of x.
template <class T, class D>
void check_picks([[maybe_unused]] D const& exec, LoDTensor<T, D> const& x, Ids<> const& list) {
    Cpu host;
    if constexpr (std::same_as<D, Cpu>) host = exec;
    x.check();
    check_list("ids", list);
    check_ids(host, "ids", list, static_cast<std::int64_t>(x.size()));
}

}  // namespace detail

/// Result j is first-level sequence ids[j] of x with all that it contains, or row ids[j] if x has no levels. Ids may
/// repeat and be in any order.
///
///     [a b]  [c]  [d e]     ids {0, 2, 2}   ->   [a b]  [d e]  [d e]
///
/// shapes   x of m sequences or rows, ids [n] -> n of them, with the levels of x
/// errors   IndexError if an id is not in [0, m); ShapeError if ids are a tensor whose rank is not 1, or the result is
///          too large
/// cost     one read and one write of every row of the result; ids in device memory are copied to the host, which
///          synchronizes
template <class T, device D>
LoDTensor<T, D> pick_sequences(D const& exec, LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> ids) {
    detail::HostIds<D> const on_host(exec, ids);
    Ids<> const& list = on_host;
    detail::check_picks(exec, x, list);
    return detail::take_sequences(exec, x, list.size(), [&](std::size_t j) { return list[j]; });
}

/// The adjoint of pick_sequences: the gradient of each row is the sum over the picks of its sequence, in the order of
/// the list and blocks of 64; 0 for a sequence that is not picked. Only the shape and the levels of x are used.
/// shapes   out_grad as the result of pick_sequences -> the shape and levels of x
/// errors   as pick_sequences, and ShapeError if out_grad has another shape
/// cost     one read of out_grad and one write of the result; unless ids ascend, also a copy of out_grad
template <class T, device D>
LoDTensor<T, D> pick_sequences_grad(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                                    LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> ids) {
    detail::HostIds<D> const on_host(exec, ids);
    Ids<> const& list = on_host;
    detail::check_picks(exec, x, list);
    auto const picks = detail::sort_picks(list, detail::first_rows(x));
    detail::check_height("out_grad", out_grad, picks.starts.back());
    auto const times = Lod::from_lengths({picks.times});
    if (picks.sorted) return sequence_expand_grad(exec, out_grad, x, times);
    detail::check_usable(exec, out_grad);
    auto grad = detail::new_tensor<T>(exec, out_grad.shape());
    std::size_t const width = grad.row_size();
    detail::copy_blocks(exec, picks.starts, width * sizeof(T), detail::blocks_at(out_grad.data(), picks.from, width),
                        detail::blocks_at(grad.data(), picks.starts, width));
    return sequence_expand_grad(exec, grad, x, times);
}

template <class T, class Device>
LoDTensor<T, Device> pick_sequences(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> ids) {
    return pick_sequences(x.device(), x, ids);
}
template <class T, class Device>
LoDTensor<T, Device> pick_sequences_grad(std::type_identity_t<Tensor<T, Device>> const& out_grad,
                                         LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> ids) {
    return pick_sequences_grad(out_grad.device(), out_grad, x, ids);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/pick_sequences_inl.hpp>
