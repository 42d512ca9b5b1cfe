// rowan/op/sequence/edit_distance.hpp: edit_distance, how many tokens one sequence differs from another by.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <limits>

namespace rowan::inline v0 {

namespace detail {

/// The distance of pair s, 64 tokens of y at a time: bit i of `up` or `down` says that the distance to the first i + 1
/// tokens is one larger or smaller than to the first i (G. Myers, A Fast Bit-Vector Algorithm for Approximate String
/// Matching, 1999, with H. Hyyrö's first row of 2003).
template <class I>
struct TokenEdits {
    struct Steps {
        std::uint64_t up, down;
    };

    I const* x;
    I const* y;
    std::int64_t const* x_offsets;
    std::int64_t const* y_offsets;
    Steps* scratch;  // sequence s begins at y_offsets[s] / 64 + s
    bool normalized;
    double* to;

    ROWAN_HD void operator()(std::size_t s) const {
        auto const x_length = static_cast<std::size_t>(x_offsets[s + 1] - x_offsets[s]);
        auto const y_length = static_cast<std::size_t>(y_offsets[s + 1] - y_offsets[s]);
        auto const edits = static_cast<double>(count(x + x_offsets[s], x_length, y + y_offsets[s], y_length,
                                                     scratch + static_cast<std::size_t>(y_offsets[s]) / 64 + s));
        to[s] = !normalized     ? edits
                : edits == 0    ? 0.0
                : y_length == 0 ? infinity
                                : edits / static_cast<double>(y_length);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    ROWAN_HD static std::size_t count(I const* x, std::size_t x_length, I const* y, std::size_t y_length,
                                      Steps* steps) {
        if (y_length == 0) return x_length;
        std::size_t const blocks = (y_length + 63) / 64;
        for (std::size_t b = 0; b < blocks; ++b) steps[b] = {~std::uint64_t{0}, 0};
        std::size_t distance = y_length;
        for (std::size_t j = 0; j < x_length; ++j) {
            // Whether the distance to the tokens of y before this block grows or shrinks.
            std::uint64_t more = 1, less = 0;
            for (std::size_t b = 0; b < blocks; ++b) {
                std::size_t const left = y_length - b * 64, size = left < 64 ? left : 64;
                std::uint64_t equal = 0;
                for (std::size_t i = 0; i < size; ++i) equal |= std::uint64_t{y[b * 64 + i] == x[j]} << i;
                auto const [up, down] = steps[b];
                std::uint64_t const kept = equal | down;
                equal |= less;
                std::uint64_t const reached = (((equal & up) + up) ^ up) | equal;
                std::uint64_t const grows = down | ~(reached | up), shrinks = up & reached;
                std::uint64_t const moved_up = grows << 1 | more, moved_down = shrinks << 1 | less;
                steps[b] = {moved_down | ~(kept | moved_up), moved_up & kept};
                more = grows >> (size - 1) & 1;
                less = shrinks >> (size - 1) & 1;
            }
            distance += more;
            distance -= less;
        }
        return distance;
    }
};

}  // namespace detail

template <>
struct detail::function_of<edit_distance_op> {
    template <id_type I, class D>
    static LoDTensor<double, D> run(D const& exec, LoDTensor<I, D> const& x, LoDTensor<I, D> const& y,
                                    EditDistanceOptions const& options) {
        check_tokens(exec, "x", x);
        check_tokens(exec, "y", y);
        auto upper = upper_levels(x.lod());
        if (y.lod().levels() != x.lod().levels()) {
            throw ShapeError("y.lod().levels()", y.lod().levels(), x.lod().levels());
        }
        auto const x_offsets = last_level(x.lod()), y_offsets = last_level(y.lod());
        std::size_t const n = x_offsets.size() - 1;
        if (y_offsets.size() - 1 != n) throw ShapeError("the number of sequences of y", y_offsets.size() - 1, n);
        if (!(upper_levels(y.lod()) == upper)) throw ShapeError("y.lod()", "other upper levels", "those of x");
        ElementLoops<D>::check(exec, x.value(), y.value());
        auto to = new_tensor<double>(exec, {n, 1});
        if (n == 0) return {std::move(to), std::move(upper)};
        using Edits = TokenEdits<I>;
        OnDevice<std::int64_t, D> const x_begins(exec, x_offsets), y_begins(exec, y_offsets);
        auto steps = ElementLoops<D>::template scratch<typename Edits::Steps>(exec, y.value().size() / 64 + n);
        std::size_t const work = (x.value().size() / n + 1) * (y.value().size() / n + 1);
        ElementLoops<D>::each(exec, n, work,
                              Edits{x.value().data(), y.value().data(), x_begins.data(), y_begins.data(), steps.data(),
                                    options.normalized, to.data()});
        return {std::move(to), std::move(upper)};
    }
};

/// See edit_distance.
struct edit_distance_op : detail::declared<edit_distance_op> {
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, EditDistanceOptions const& = {}) {
        spec::tokens("edit_distance: x", "edit_distance: x.row_size()", x);
        spec::tokens("edit_distance: y", "edit_distance: y.row_size()", y);
        spec::same_dtype("edit_distance: y", y, x);
        spec::same_levels("edit_distance: y", y, x);
        VarSpec out = tensor_spec<double>({UNK, 1});
        out.lod_level = x.lod_level - 1;
        return out;
    }

    template <id_type I, class D>
    static LoDTensor<double, D> run(D exec, LoDTensor<I, D> const& x, LoDTensor<I, D> const& y,
                                    EditDistanceOptions const& options = {}) {
        return edit_distance(exec, x, y, options);
    }
};

}  // namespace rowan::inline v0
