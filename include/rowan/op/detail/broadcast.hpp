// rowan/op/detail/broadcast.hpp: element-wise formulas of tensors whose shapes are broadcast.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/broadcast_spec.hpp>
#include <rowan/op/detail/matrix_sums.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// How the elements of n tensors meet: `rows` times `width` results. The rows of a tensor are at offsets[row]; within
/// its row, a tensor has `width` adjacent elements or one.
template <std::size_t n>
struct BroadcastRows {
    AxisOffsets offsets[n];
    bool one[n] = {};
    std::size_t rows = 1, width = 1;
};

/// The dims of n tensors and of their result.
template <std::size_t n>
struct BroadcastShapes {
    std::size_t rank;
    std::size_t dims[n][max_tensor_rank], result[max_tensor_rank];
};

template <std::size_t n>
[[gnu::noinline]] BroadcastRows<n> broadcast_rows(BroadcastShapes<n> const& shapes) {
    BroadcastRows<n> b;
    auto const& result = shapes.result;
    auto const dims = [&](std::size_t k, std::size_t i) { return shapes.dims[k][i]; };
    auto const repeats = [&](std::size_t k, std::size_t i) { return dims(k, i) != result[i]; };
    std::size_t inner = shapes.rank;  // the first of the dims in a row
    for (bool first = true; inner > 0; --inner) {
        if (result[inner - 1] == 1) continue;
        bool fits = true;
        for (std::size_t k = 0; k < n; ++k) {
            if (first) b.one[k] = repeats(k, inner - 1);
            fits = fits && b.one[k] == repeats(k, inner - 1);
        }
        if (!fits) break;
        first = false;
        b.width *= result[inner - 1];
    }
    for (std::size_t i = 0; i < inner; ++i) b.rows *= result[i];
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t step = 1;
        for (std::size_t i = 0; i < shapes.rank; ++i) step *= dims(k, i);
        for (std::size_t i = 0; i < inner; ++i) {
            step /= dims(k, i);
            b.offsets[k].push(result[i], repeats(k, i) ? 0 : step);
        }
    }
    return b;
}
/// `dims(k, i)` is dim i of tensor k, which is that of the result or 1.
template <std::size_t n, class Shape, class Dims>
BroadcastRows<n> broadcast_rows(Shape const& result, Dims const& dims) {
    BroadcastShapes<n> shapes{result.size(), {}, {}};
    for (std::size_t i = 0; i < result.size(); ++i) {
        shapes.result[i] = result[i];
        for (std::size_t k = 0; k < n; ++k) shapes.dims[k][i] = dims(k, i);
    }
    return broadcast_rows(shapes);
}

/// to[row, column] = map(x[0][row, column], …), where a tensor has one element for a row or all of them.
template <class S, class Map, class T, std::size_t n, class To = T>
struct BroadcastStep {
    struct Row {
        T const* x[n];
        To* to;
    };
    BroadcastRows<n> b;
    Map map;
    T const* x[n];
    To* to;

    ROWAN_HD Row of_row(std::size_t i) const {
        Row row;
        for (std::size_t k = 0; k < n; ++k) row.x[k] = x[k] + b.offsets[k](i);
        row.to = to + i * b.width;
        return row;
    }

    ROWAN_FORMULA V element(Row const& row, std::size_t k, std::size_t column) const {
        return b.one[k] ? V(load<S>(row.x[k])) : load<V>(row.x[k] + column);
    }
    ROWAN_FORMULA void at(Row const& row, std::size_t column) const {
        if constexpr (n == 2) {
            store(map(element<V>(row, 0, column), element<V>(row, 1, column)), row.to + column);
        } else {
            store(map(element<V>(row, 0, column), element<V>(row, 1, column), element<V>(row, 2, column)),
                  row.to + column);
        }
    }
};

/// map(x, y) over the elements of two tensors whose shapes are broadcast, as elements of To.
template <class To, class D, class Map, class T>
Tensor<To, D> zip_broadcast_to(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<T, D> const& y,
                               std::int64_t axis = -1) {
    if (x.shape() == y.shape() && (axis == -1 || axis == 0)) return zip_elements_to<To, sum_t<T>>(exec, map, x, y);
    auto const shape = broadcast_shape("y", x.shape(), y.shape(), axis);
    ElementLoops<D>::check(exec, x, y);
    auto out = new_tensor<To>(exec, shape);
    if (out.size() == 0) return out;
    auto const b = broadcast_rows<2>(shape, [&](std::size_t k, std::size_t i) {
        return k == 0 ? aligned_dim(x.shape(), i, shape.size(), -1) : aligned_dim(y.shape(), i, shape.size(), axis);
    });
    ElementLoops<D>::template each_in_rows<sum_t<T>>(
        exec, b.rows, b.width, BroadcastStep<sum_t<T>, Map, T, 2, To>{b, map, {x.data(), y.data()}, out.data()});
    return out;
}
/// The same as elements of T.
template <class D, class Map, class T>
Tensor<T, D> zip_broadcast(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<T, D> const& y,
                           std::int64_t axis = -1) {
    return zip_broadcast_to<T>(exec, map, x, y, axis);
}

/// The reduction of a result of this shape to an input: along the dims that this repeats.
template <class Shape>
AxisReduction reduction_to(Shape const& input, Shape const& shape, std::int64_t axis) {
    std::array<bool, 8> reduced{};
    for (std::size_t i = 0; i < shape.size(); ++i) reduced[i] = aligned_dim(input, i, shape.size(), axis) != shape[i];
    return reduction_of(shape, reduced);
}

/// The sums of map(x, y, g) over rows of x or y, the input that is not repeated in them, and of g.
template <bool of_y, class S, class Map, class T>
struct SumsOfRepeated {
    BroadcastStep<S, Map, T, 3> step;

    struct Row {
        Map map;
        T const *x, *y, *g;

        template <class V>
        ROWAN_INLINE V at(std::size_t, std::size_t column) const {
            V const grad = load<V>(g + column);
            if constexpr (of_y) return map(load<V>(x + column), V(load<S>(y)), grad);
            if constexpr (!of_y) return map(V(load<S>(x)), load<V>(y + column), grad);
        }
    };
    ROWAN_INLINE Row of_row(std::size_t i) const {
        auto const row = step.of_row(i);
        return {step.map, row.x[0], row.x[1], row.x[2]};
    }
    template <class V>
    ROWAN_INLINE void done(std::size_t row, V const& sum) const {
        store(sum, step.to + row);
    }
};

/// map(x, y, g) summed to the shape of x or of y: the gradient of that input of zip_broadcast, where g is the gradient
/// of the result. The terms are not narrowed before they are summed.
template <bool of_y, class D, class Map, class T>
Tensor<T, D> zip_broadcast_grad(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                Tensor<T, D> const& g, std::int64_t axis = -1) {
    using S = sum_t<T>;
    auto const shape = broadcast_shape("y", x.shape(), y.shape(), axis);
    if (g.shape() != shape) throw ShapeError("out_grad.shape()", shape_text(g.shape()), shape_text(shape));
    ElementLoops<D>::check(exec, x, y, g);
    auto const& like = of_y ? y : x;
    if (g.size() == 0) return Tensor<T, D>::zeros(exec, like.shape());
    auto const dim = [&](std::size_t k, std::size_t i) {
        return k == 0   ? aligned_dim(x.shape(), i, shape.size(), -1)
               : k == 1 ? aligned_dim(y.shape(), i, shape.size(), axis)
                        : shape[i];
    };
    auto const b = broadcast_rows<3>(shape, dim);
    auto const step = [&]<class To>(To* to) {
        return BroadcastStep<S, Map, T, 3, To>{b, map, {x.data(), y.data(), g.data()}, to};
    };
    auto out = new_tensor<T>(exec, like.shape());
    if (like.shape() == shape) {
        ElementLoops<D>::template each_in_rows<S>(exec, b.rows, b.width, step(out.data()));
        return out;
    }
    AxisReduction const r = reduction_to(like.shape(), shape, of_y ? axis : -1);
    if constexpr (std::is_same_v<D, Cpu>) {
        if (r.of_rows && r.n == b.width && r.n <= sum_block) {
            MatrixSums<D>::template of_rows<S>(exec, b.rows, b.width, NoStep{},
                                               SumsOfRepeated<of_y, S, Map, T>{step(out.data())});
            return out;
        }
    }
    auto full = ElementLoops<D>::template scratch<S>(exec, g.size());
    ElementLoops<D>::template each_in_rows<S>(exec, b.rows, b.width, step(full.data()));
    fold_axes<S, add_lanes>(exec, r, full.data(), out.data());
    return out;
}

}  // namespace rowan::inline v0::detail
