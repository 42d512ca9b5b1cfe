// rowan/op/sequence/shrink.hpp: shrink_op, the sequences that have not ended before a step.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <limits>
#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// How many of `size` sequences have a step t.
inline std::size_t count_longer(std::size_t size, Lod const& lod, std::optional<std::size_t> level, std::int64_t t) {
    check_levels("y.lod()", lod);
    auto const offsets = lod[level.value_or(lod.levels() - 1)];
    std::size_t count = 0;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) count += offsets[s + 1] - offsets[s] > t;
    if (size < count || size >= offsets.size())
        throw ShapeError("x.size()", size,
                         {"in [", count, ", ", offsets.size() - 1, "], from the number of sequences of y with a step ",
                          t, " to that of all"});
    return count;
}

}  // namespace detail

/// The first first-level sequences of x, or rows if it has no levels: as many as y has sequences longer than `index`,
/// which is the number of a step. The sequences of x are in the order of their lengths in y, longest first, as after
/// reorder_op; those that have ended before the step are left out. Paddle's shrink_rnn_memory; see shrink for any
/// order.
/// shapes   x of n sequences or rows, y with levels, index [1] -> count of them, where n is at least count and at most
///          the number of sequences of y
/// errors   ShapeError if n is outside of that range, y has no levels or index does not have one element; IndexError if
///          y has no such level or the index is negative
/// cost     O(sequences): an alias; an index in device memory is copied to the host, which synchronizes
struct shrink_op : detail::declared<shrink_op> {
    static constexpr bool row_output = false;
    using grad = gradient<shrink_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const& index,
                                   ShrinkOptions const& options = {}) {
        spec::rows("shrink: x", x);
        spec::dense("shrink: y", y);
        spec::has_levels("shrink: y", y);
        spec::has_level("shrink: level", y, options.level.value_or(0));
        spec::dense("shrink: index", index);
        spec::same_dtype("shrink: index", index, tensor_spec<std::int64_t>({}));
        spec::rank("shrink: index", index, 1, "1");
        spec::same_dim("shrink: index.shape(0)", index.dims[0], 1);
        return spec::with_rows(x, UNK, x.lod_level);
    }

    template <class T, class U, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<U, D> const& y,
                               LoDTensor<std::int64_t, D> const& index, ShrinkOptions const& options = {}) {
        if (index.value().size() != 1) throw ShapeError("index.size()", index.value().size(), "1");
        std::int64_t const t = to_host(exec, index.value()).data()[0];
        if (t < 0) throw IndexError("index", t, std::numeric_limits<std::int64_t>::max());
        x.check();
        return x.slice(0, detail::count_longer(x.size(), y.lod(), options.level, t));
    }

    /// The gradient of the sequences that were kept, and zeros for the others.
    /// errors   ShapeError if out_grad has more rows than x, or another trailing dim
    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad,
                                    ShrinkOptions const& = {}) {
        auto const& kept = out_grad.value();
        detail::check_trailing("out_grad", kept, x.shape());
        std::size_t const rows = x.shape()[0];
        if (kept.shape(0) > rows) throw ShapeError("out_grad.shape(0)", kept.shape(0), {"at most ", rows});
        auto x_grad = detail::new_tensor<T>(exec, x.shape());
        std::array<std::int64_t, 2> const starts{0, static_cast<std::int64_t>(kept.shape(0))};
        std::array<std::int64_t, 1> const places{0};
        detail::spread_blocks(exec, starts, places, x_grad.row_size(), kept.data(), detail::zero<T>(), rows,
                              x_grad.data());
        return {std::move(x_grad), x.lod()};
    }
};

}  // namespace rowan::inline v0
