// rowan/op/sequence/reorder.hpp: reorder_op, sequences in the order of the lengths of others, and back.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sequence/pick_sequences.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// For each of `size` sequences of the result, the sequence that it is taken from.
inline std::vector<std::int64_t> order_by_length(std::size_t size, Lod const& lod, ReorderOptions const& options) {
    check_levels("y.lod()", lod);
    auto const offsets = lod[options.level.value_or(lod.levels() - 1)];
    if (size + 1 != offsets.size())
        throw ShapeError("x.size()", size, {offsets.size() - 1, ", the number of sequences of y"});
    std::vector<std::int64_t> order(size), from(size);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int64_t s) {
        auto const i = static_cast<std::size_t>(s);
        return offsets[i + 1] - offsets[i];
    });
    if (!options.restore) return order;
    for (std::size_t j = 0; j < size; ++j) from[static_cast<std::size_t>(order[j])] = static_cast<std::int64_t>(j);
    return from;
}

}  // namespace detail

/// The first-level sequences of x, or its rows if it has no levels, in the order of the lengths of the sequences of y:
/// longest first, and equal lengths as they are. With options.restore, from that order back. Paddle's
/// reorder_lod_tensor_by_rank; see reorder for any order.
/// shapes   x of m sequences or rows, y with m sequences in a level -> the shape of x
/// errors   ShapeError if x has another number of sequences or rows, or y no levels; IndexError if y has no such level
/// cost     one read and one write of every row, a sort of m lengths, and 16 bytes per sequence
struct reorder_op : detail::declared<reorder_op> {
    static constexpr bool row_output = false;
    using grad = gradient<reorder_op, uses<slot::x, slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, ReorderOptions const& options = {}) {
        spec::rows("reorder: x", x);
        spec::dense("reorder: y", y);
        spec::has_levels("reorder: y", y);
        spec::has_level("reorder: level", y, options.level.value_or(0));
        return x;
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                               ReorderOptions const& options = {}) {
        x.check();
        auto const order = detail::order_by_length(x.size(), y.lod(), options);
        return detail::take_sequences(exec, x, order.size(), [&](std::size_t j) { return order[j]; });
    }

    /// errors   as reorder_op, and ShapeError if out_grad has another shape than x
    template <class T, class U, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                                    LoDTensor<T, D> const& out_grad, ReorderOptions const& options = {}) {
        auto const order = detail::order_by_length(x.size(), y.lod(), options);
        auto const rows = detail::first_rows(x);
        std::vector<std::int64_t> starts{0}, places;
        for (std::int64_t const s : order) {
            auto const i = static_cast<std::size_t>(s);
            places.push_back(rows[i]);
            starts.push_back(starts.back() + rows[i + 1] - rows[i]);
        }
        detail::check_same_shape("out_grad", out_grad.value(), x.value());
        auto x_grad = detail::new_tensor<T>(exec, x.shape());
        std::size_t const width = x_grad.row_size();
        detail::copy_blocks(exec, starts, width * sizeof(T), detail::blocks_at(out_grad.value().data(), starts, width),
                            detail::blocks_at(x_grad.data(), places, width));
        return {std::move(x_grad), x.lod()};
    }
};

}  // namespace rowan::inline v0
