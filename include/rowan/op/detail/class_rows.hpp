// rowan/op/detail/class_rows.hpp: tensors whose classes lie along any axis, as matrices with a row for each label.
#pragma once

#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/transpose.hpp>

namespace rowan::inline v0::detail {

/// Checks that the tensor has rank 1 and one element for each row of the matrix.
template <class T, class D>
void check_one_per_row(char const* field, Tensor<T, D> const& x, std::size_t rows) {
    check_rank(field, x, 1);
    if (x.size() == rows) return;
    throw ShapeError({field, ".shape(0)"}, x.size(), {rows, ", the number of rows"});
}

/// The shape without the dim of an axis.
template <class Shape>
constexpr Shape without_axis(Shape const& shape, std::size_t axis) {
    Shape rest;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i != axis) rest.push_back(shape[i]);
    }
    return rest;
}

/// The axes of a tensor with one of them as the last, or `back` from there.
constexpr std::array<std::size_t, 8> axis_last_order(std::size_t axis, std::size_t rank, bool back) {
    std::array<std::size_t, 8> order{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < rank; ++i) {
        std::size_t const to = i == axis ? rank - 1 : at++;
        back ? order[i] = to : order[to] = i;
    }
    return order;
}

/// A tensor of `n` rows of `classes` elements along an axis.
template <class T, class D>
struct ClassRows {
    std::size_t axis, n = 1, classes, inner;  ///< inner: the number of elements from one class to the next
    typename Tensor<T, D>::shape_type rest;   ///< the shape without the classes

    /// errors   ShapeError if the rank is below `least`; IndexError if there is no such axis
    ClassRows(char const* field, Tensor<T, D> const& x, std::int64_t along, std::size_t least) {
        if (x.dimension() < least)
            spec::the_rank_does_not_fit(field, x.dimension(), least == 1 ? "at least 1" : "at least 2");
        axis = checked_axis(along, x.dimension());
        classes = x.shape(axis), inner = product_from(x.shape(), axis + 1);
        rest = without_axis(x.shape(), axis);
        for (std::size_t const dim : rest) n *= dim;
    }

    /// x with the axis as the last one.
    template <class U>
    Tensor<U, D> rows(D const& exec, Tensor<U, D> const& x) const {
        return axis == rest.size() ? x.share() : permuted(exec, x, axis_last_order(axis, rest.size() + 1, false));
    }
    /// A new tensor of the shape of `rows`.
    template <class U>
    Tensor<U, D> new_rows(D const& exec) const {
        auto shape = rest;
        shape.push_back(classes);
        return new_tensor<U>(exec, shape);
    }
    /// What `new_rows` has made, with the axis in its place.
    template <class U>
    Tensor<U, D> back(D const& exec, Tensor<U, D> rows) const {
        if (axis == rest.size()) return rows;
        return permuted(exec, rows, axis_last_order(axis, rest.size() + 1, true));
    }

    /// A tensor like x: what write(rows of x..., rows of the result) writes. It is not called if there are no elements.
    template <class Write, class... X>
    Tensor<T, D> map(D const& exec, Write const& write, Tensor<X, D> const&... x) const {
        auto out = new_rows<T>(exec);
        if (out.size() != 0) write(static_cast<Tensor<X, D> const&>(rows(exec, x)).data()..., out.data());
        return back(exec, std::move(out));
    }

    /// errors   ShapeError if there is not one label for each row
    template <class I>
    void check_labels(Tensor<I, D> const& label) const {
        if (rest.size() == 1) return check_one_per_row("label", label, n);
        if (label.shape() != rest) throw ShapeError("label.shape()", shape_text(label.shape()), shape_text(rest));
    }
};

}  // namespace rowan::inline v0::detail
