// rowan/op/detail/broadcast_spec.hpp: the shapes of results of tensors whose shapes are broadcast.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/var_spec.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class Shape>
[[noreturn]] void do_not_broadcast(char const* field, Shape const& y, Shape const& x) {
    throw ShapeError({field, ".shape()"}, shape_text(y), {shape_text(x), " or one that broadcasts with it"});
}

[[noreturn]] inline void too_many_dims(char const* field, std::size_t rank, std::size_t of_x, std::int64_t axis) {
    std::size_t const first = std::min(of_x, static_cast<std::size_t>(axis));
    std::string const most = std::to_string(of_x - first);
    spec::the_rank_does_not_fit(field, rank,
                                ("at most " + most + ", the dims of x from " + std::to_string(axis) + " on").c_str());
}

/// The dim of y at dim i of a result of `rank` dims: y's last dims are the result's, or its first dim is dim `axis`.
template <class Shape>
constexpr auto aligned_dim(Shape const& y, std::size_t i, std::size_t rank, std::int64_t axis) {
    std::size_t const first = axis < 0 ? rank - y.size() : static_cast<std::size_t>(axis);
    using Dim = std::remove_cvref_t<decltype(y[0])>;
    return i < first || i >= first + y.size() ? Dim{1} : y[i - first];
}

/// Checks the axis for shapes of these ranks.
/// errors   ValueError if it is less than -1; ShapeError if y has more dims than x from the axis on
constexpr void check_axis(char const* field, std::size_t of_x, std::size_t of_y, std::int64_t axis) {
    if (axis < -1) throw ValueError("axis", axis, "-1 or a dim of x");
    if (axis >= 0 && (of_y > of_x || static_cast<std::size_t>(axis) > of_x - of_y))
        too_many_dims(field, of_y, of_x, axis);
}

/// The shape of the result of x and y by NumPy's rules: aligned at the last dims, a dim of 1 is repeated, and so are
/// dims that one of them lacks. With an axis of 0 or more, y's first dim is that dim of x, as in Paddle.
template <class Shape>
Shape broadcast_shape(char const* field, Shape const& x, Shape const& y, std::int64_t axis) {
    check_axis(field, x.size(), y.size(), axis);
    std::size_t const rank = std::max(x.size(), y.size());
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i) {
        auto const a = aligned_dim(x, i, rank, -1), b = aligned_dim(y, i, rank, axis);
        if (a != b && a != 1 && b != 1) do_not_broadcast(field, y, x);
        shape.push_back(a == 1 ? b : a);
    }
    return shape;
}

/// The dims of the result as far as they are known: UNK meets a dim other than 1 as that dim.
constexpr Dims broadcast_dims(char const* field, Dims const& x, Dims const& y, std::int64_t axis) {
    check_axis(field, x.size(), y.size(), axis);
    std::size_t const rank = std::max(x.size(), y.size());
    Dims dims;
    for (std::size_t i = 0; i < rank; ++i) {
        auto const a = aligned_dim(x, i, rank, -1), b = aligned_dim(y, i, rank, axis);
        if (a == 1 || b == 1) {
            dims.push_back(a == 1 ? b : a);
        } else {
            std::size_t const first = axis < 0 ? rank - y.size() : static_cast<std::size_t>(axis);  // that of y
            dims.push_back(spec::same_dim(field, i - first, b, a));
        }
    }
    return dims;
}

/// Whether one of the shapes is to be repeated: ranks differ, or one has a dim of 1 where the other may have another.
constexpr bool may_broadcast(VarSpec const& x, VarSpec const& y) {
    if (x.type != VarType::LOD_TENSOR || y.type != VarType::LOD_TENSOR) return false;
    if (x.dims.size() != y.dims.size()) return true;
    for (std::size_t i = 0; i < x.dims.size(); ++i) {
        if ((x.dims[i] == 1) != (y.dims[i] == 1)) return true;
    }
    return false;
}

/// Names the ways out for both that meant rows by rows and all pairs.
[[noreturn]] inline void rows_meet_columns(char const* field, bool of_y, Dims const& fewer, Dims const& more) {
    auto const text = [](Dims const& dims) {
        std::ostringstream all;
        all << dims;
        return std::move(all).str();
    };
    Dims column{fewer[0]};
    for (std::size_t i = fewer.size(); i < more.size(); ++i) column.push_back(1);
    for (std::size_t i = 1; i < fewer.size(); ++i) column.push_back(fewer[i]);
    std::string const y(field), own = of_y ? y : y.substr(0, y.rfind(' ') + 1) + "x", list = text(column);
    throw ShapeError(
        {own, ".shape()"}, text(fewer),
        {"as many dims as ", text(more), ", or each row would meet every other: layer::reshape, or layer::data(\"",
         own.substr(own.rfind(' ') + 1), "\", {", list.substr(1, list.size() - 2),
         "}); for all pairs, layer::reshape to [1, ...]"});
}

/// Throws if the first dims of both are the unknown number of rows, and that of one meets a dim of 1 behind the rows of
/// the other, as of [UNK, 1] and [UNK].
constexpr void check_rows_meet_rows(char const* field, Dims const& x, Dims const& y) {
    bool const of_y = y.size() < x.size();
    Dims const &fewer = of_y ? y : x, &more = of_y ? x : y;
    if (fewer.empty() || fewer.size() == more.size() || fewer[0] != UNK || more[0] != UNK) return;
    if (more[more.size() - fewer.size()] == 1) rows_meet_columns(field, of_y, fewer, more);
}

/// The result's spec: the element type of both, and the levels of the one that has the rows.
constexpr VarSpec broadcast_spec(char const* field, VarSpec const& x, VarSpec const& y, std::int64_t axis) {
    spec::dense(field, x);
    spec::dense(field, y);
    spec::same_dtype(field, y, x);
    if (axis == -1) check_rows_meet_rows(field, x.dims, y.dims);
    bool const same_rank = x.dims.size() == y.dims.size();
    bool const repeats_x = same_rank && !x.dims.empty() && x.dims[0] == 1 && y.dims[0] != 1;
    bool const rows_of_x = same_rank ? !repeats_x : x.dims.size() > y.dims.size();
    return spec::with_dims(x, broadcast_dims(field, x.dims, y.dims, axis), rows_of_x ? x.lod_level : y.lod_level);
}

}  // namespace rowan::inline v0::detail
