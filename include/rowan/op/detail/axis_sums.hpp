// rowan/op/detail/axis_sums.hpp: sums and other folds along any axes of a tensor, of rows or in blocks of 64 contributions.
#pragma once

#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/row_folds.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <span>

namespace rowan::inline v0::detail {

/// The shape after a reduction along the axes for which `reduced` is true.
template <class Shape>
constexpr Shape reduced_shape(Shape const& shape, std::array<bool, 8> const& reduced, bool keep_dims) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!reduced[i] || keep_dims) result.push_back(reduced[i] ? 1 : shape[i]);
    }
    return result;
}

/// The offsets of the elements along some axes in row-major order. Adjacent axes are merged.
struct AxisOffsets {
    std::size_t count = 0, size[8] = {}, stride[8] = {};

    /// Adds an axis; it varies faster than those before.
    void push(std::size_t n, std::size_t step) {
        if (n == 1) return;
        if (count != 0 && stride[count - 1] == n * step) {
            size[count - 1] *= n;
            stride[count - 1] = step;
        } else {
            size[count] = n;
            stride[count++] = step;
        }
    }

    std::size_t elements() const {
        std::size_t n = 1;
        for (std::size_t k = 0; k < count; ++k) n *= size[k];
        return n;
    }

    /// The offset of element i.
    ROWAN_HD std::size_t operator()(std::size_t i) const {
        if (count == 0) return 0;
        std::size_t offset = 0;
        for (std::size_t k = count - 1; k > 0; --k) {
            offset += i % size[k] * stride[k];
            i /= size[k];
        }
        return offset + i * stride[0];
    }
};

/// A reduction: outer · width sums of n contributions each. The sums of an outer index are `lane` elements apart.
struct AxisReduction {
    AxisOffsets kept, summed;
    std::size_t outer = 1, width = 1, lane = 1, n = 1;
    bool of_rows = false;  // the last axis is reduced, and all contributions to a sum are adjacent

    std::size_t blocks() const { return (n + block_size - 1) / block_size; }

    /// The offset of sum k; that of its contribution i is summed(i) more.
    ROWAN_HD std::size_t first_of(std::size_t k) const { return kept(k / width) + k % width * lane; }

    /// The reduction of the sums of blocks, which are stored as [outer, blocks, width].
    AxisReduction of_blocks() const {
        AxisReduction next{.kept = {}, .summed = {}, .outer = outer, .width = width, .lane = 1, .n = blocks()};
        next.kept.push(outer, next.n * width);
        next.summed.push(next.n, width);
        return next;
    }
};

/// The reduction of a tensor without empty axes.
template <class Shape>
AxisReduction reduction_of(Shape const& shape, std::array<bool, 8> const& reduced) {
    AxisReduction r;
    std::size_t step = product_from(shape, 0);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        step /= shape[i];
        (reduced[i] ? r.summed : r.kept).push(shape[i], step);
    }
    r.n = r.summed.elements();
    if (r.kept.count != 0) {
        r.width = r.kept.size[--r.kept.count];
        r.lane = r.kept.stride[r.kept.count];
    }
    r.outer = r.kept.elements();
    r.of_rows = r.summed.count == 1 && r.summed.stride[0] == 1 && reduced[shape.size() - 1];
    return r;
}

/// Sums blocks of 64 contributions on a device: to[outer, block, lane] = the sum of that block, computed in type `S`.
/// `Fold` adds a contribution to a sum as add_lanes does, or combines them in another way. The Thrust specialization is
/// in rowan/thrust/op/detail/axis_sums.hpp.
template <class D>
struct AxisSums {
    static_assert(has_backend<D>, "rowan: reduce_sum on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

/// Adds four contributions to a sum, one after the other.
template <class Fold>
struct fold_four {
    ROWAN_FORMULA void operator()(V const& a, V const& b, V const& c, V const& d, V& to) const {
        Fold{}(a, to);
        Fold{}(b, to);
        Fold{}(c, to);
        Fold{}(d, to);
    }
};

template <>
struct AxisSums<Cpu> {
    /// Whether fold_all does without the sums of blocks in memory: there are sums enough for all threads.
    static bool has_fold_all(AxisReduction const& r) {
        return r.lane == 1 && r.outer >= 16 && r.blocks() <= block_size;
    }

    /// Folds the blocks of each sum, and their results.
    template <class S, class Fold, class From, class To>
    static void fold_all(Cpu exec, AxisReduction const& r, From const* from, To* to) {
        sum_lanes<S, Fold>(exec, r, from, to, r.blocks());
    }

    template <class S, class Fold, class From, class To>
    static void sum_blocks(Cpu exec, AxisReduction const& r, From const* from, To* to) {
        std::size_t const full = r.n / block_size;
        if (r.width != 1 || full < 2) return sum_lanes<S, Fold>(exec, r, from, to);
        // Each block is one sum of adjacent elements.
        AxisReduction const side_by_side{
            .kept = {}, .summed = r.summed, .outer = 1, .width = full, .lane = block_size, .n = block_size};
        sum_lanes<S, Fold>(exec, side_by_side, from, to);
        AxisReduction const rest{
            .kept = {}, .summed = r.summed, .outer = 1, .width = 1, .lane = 1, .n = r.n - full * block_size};
        if (rest.n != 0) sum_lanes<S, Fold>(exec, rest, from + full * block_size, to + full);
    }

private:
    static constexpr std::size_t most = 16384;  // lanes whose sums stay in the cache

    /// `together` blocks are folded to one: one, or all of them.
    template <class S, class Fold, class From, class To>
    static void sum_lanes(Cpu exec, AxisReduction const& r, From const* from, To* to, std::size_t together = 1) {
        std::size_t const piece = r.lane == 1 ? most : 16, pieces = (r.width + piece - 1) / piece;
        std::size_t const blocks = r.blocks() / together;
        std::size_t const work = std::min(r.width, piece) * std::min(r.n, together * block_size);
        for_ranges(exec, r.outer * pieces * blocks, work, [&](std::size_t begin, std::size_t end) {
            AxisReduction const own = r;  // a local copy: writes to sums cannot alias it
            std::size_t const size = own.lane == 1 ? std::min(own.width, most) : 0;
            Buffer<S> sums(std::is_same_v<S, To> ? 0 : size), more(together == 1 ? 0 : size);
            std::array<std::size_t, block_size> offsets;
            for (; begin < end; ++begin) {
                std::size_t const block = begin % blocks, at = begin / blocks;
                std::size_t const outer = at / pieces, lane = (at - outer * pieces) * piece;
                std::size_t const lanes = std::min(piece, own.width - lane);
                From const* x = from + own.kept(outer) + lane * own.lane;
                To* out = to + (outer * blocks + block) * own.width + lane;
                S* total = sums.data();
                if constexpr (std::is_same_v<S, To>) total = out;
                for (std::size_t k = 0; k < together; ++k) {
                    std::size_t const first = (block * together + k) * block_size;
                    std::size_t const count = std::min(block_size, own.n - first);
                    for (std::size_t i = 0; i < count; ++i) offsets[i] = own.summed(first + i);
                    if (own.lane != 1) {
                        add_apart<S, Fold>(count, offsets.data(), lanes, own.lane, x, out);
                    } else {
                        add_adjacent<Fold>(Contributions<From>{own, first, count, offsets.data(), lanes, x},
                                           k == 0 ? total : more.data());
                        if (k != 0) for_lanes<S>(Fold{}, lanes, static_cast<S const*>(more.data()), total);
                    }
                }
                if constexpr (!std::is_same_v<S, To>) {
                    if (own.lane == 1) copy_lanes<S>(lanes, total, out);
                }
            }
        });
    }

    // Contributions to lanes that are adjacent, at `n` offsets from x. Those from `first` on, and what follows is prefetched.
    template <class From>
    struct Contributions {
        AxisReduction const& r;
        std::size_t first, n;
        std::size_t const* offsets;
        std::size_t lanes;
        From const* x;
        std::size_t ahead = lookahead(lanes * sizeof(From));

        ROWAN_INLINE From const* operator[](std::size_t i) const {
            std::size_t const next = i + ahead;
            if (first + next < r.n)
                prefetch_row<false>(x + (next < n ? offsets[next] : r.summed(first + next)), lanes * sizeof(From));
            return x + offsets[i];
        }
    };

    template <class Fold, class S, class From>
    static void add_adjacent(Contributions<From> const& from, S* sums) {
        on_lanes<S>(from.lanes * from.n, [&]<class V>(as<V>) ROWAN_INLINED { add_with<V, Fold>(from, sums); });
    }
    template <class V, class Fold, class S, class From>
    ROWAN_INLINE static void add_with(Contributions<From> const& from, S* sums) {
        std::size_t const n = from.n, lanes = from.lanes;
        zip_with<V>(same_number{}, lanes, sums, from.x + from.offsets[0]);
        std::size_t i = 1;
        for (; i + 4 <= n; i += 4)
            for_with<V>(fold_four<Fold>{}, lanes, from[i], from[i + 1], from[i + 2], from[i + 3], sums);
        for (; i < n; ++i) for_with<V>(Fold{}, lanes, from[i], sums);
    }

    template <class S, class Fold, class From, class To>
    static void add_apart(std::size_t n, std::size_t const* offsets, std::size_t lanes, std::size_t step, From const* x,
                          To* to) {
        constexpr std::size_t together = 8;  // independent sums, so that no addition waits for the one before
        for (; lanes >= together; lanes -= together, x += together * step, to += together) {
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                S sums[together] = {load<S>(x + k * step + offsets[0])...};
                for (std::size_t i = 1; i < n; ++i) {
                    From const* const p = x + offsets[i];
                    (Fold{}(load<S>(p + k * step), sums[k]), ...);
                }
                (store(sums[k], to + k), ...);
            }
            (std::make_index_sequence<together>{});
        }
        for (; lanes != 0; --lanes, x += step, ++to) {
            S sum = load<S>(x + offsets[0]);
            for (std::size_t i = 1; i < n; ++i) Fold{}(load<S>(x + offsets[i]), sum);
            store(sum, to);
        }
    }
};

/// Sums along the reduced axes of x, or folds them in another way: adjacent contributions to a result as fold_rows, if
/// RowFolds has that, and others, in row-major order, in blocks of 64, then the results of blocks in the same way. Computed in
/// type `S`.
template <class S, class Fold, class D, class From, class To>
void fold_axes(D const& exec, AxisReduction r, From const* x, To* out) {
    if constexpr (RowFolds<D>::template has<S, Fold>) {
        if (r.of_rows) return fold_rows<S, Fold>(exec, r.outer * r.width, r.n, x, out);
    }
    if (r.blocks() == 1) return AxisSums<D>::template sum_blocks<S, Fold>(exec, r, x, out);
    if constexpr (std::is_same_v<D, Cpu>) {
        if (AxisSums<D>::has_fold_all(r)) return AxisSums<D>::template fold_all<S, Fold>(exec, r, x, out);
    }
    std::size_t const sums = r.outer * r.width, blocks = r.blocks(), more = (blocks + block_size - 1) / block_size;
    auto first = ElementLoops<D>::template scratch<S>(exec, sums * blocks);
    auto second = ElementLoops<D>::template scratch<S>(exec, more == 1 ? 0 : sums * more);
    AxisSums<D>::template sum_blocks<S, Fold>(exec, r, x, first.data());
    S *from = first.data(), *to = second.data();
    for (r = r.of_blocks(); r.blocks() != 1; r = r.of_blocks()) {
        AxisSums<D>::template sum_blocks<S, Fold>(exec, r, from, to);
        std::swap(from, to);
    }
    AxisSums<D>::template sum_blocks<S, Fold>(exec, r, from, out);
}

/// Copies elements from offsets given by their axes, such as the gradient of sums along axes: every element gets that of the
/// sum that it is part of.
template <class T>
struct CopyByAxes {
    T const* from;
    T* to;
    AxisOffsets rows;
    std::size_t width = 1, stride = 0;

    /// Takes the last axis out of `rows`, unless it is the only one.
    void split_row() {
        if (rows.count < 2) return;
        width = rows.size[--rows.count];
        stride = rows.stride[rows.count];
    }

    ROWAN_HD std::size_t of_row(std::size_t row) const { return rows(row); }
    ROWAN_HD void operator()(std::size_t at, std::size_t row, std::size_t column) const {
        to[row * width + column] = from[at + column * stride];
    }
};

template <class T, class D>
void repeat_sums(D const& exec, typename Tensor<T, D>::shape_type const& shape, std::array<bool, 8> const& reduced,
                 T const* from, T* to) {
    CopyByAxes<T> repeat{from, to, {}};
    std::size_t step = product_from(reduced_shape(shape, reduced, false), 0);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!reduced[i]) step /= shape[i];
        repeat.rows.push(shape[i], reduced[i] ? 0 : step);
    }
    repeat.split_row();
    ElementLoops<D>::each_element(exec, repeat.rows.elements(), repeat.width, repeat);
}

}  // namespace rowan::inline v0::detail
