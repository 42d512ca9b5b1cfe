// rowan/op/detail/recurrent_cell.hpp: checks shared by the recurrent cells.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0::detail {

/// Checks the shapes of a step of n sequences; `gates` is the number of gates. b is left to fc.
/// shapes   x [n, gates · size], h_prev [n, size], w [size, gates · size], b [gates · size]
template <class T, class D>
void check_recurrent_cell(std::size_t gates, Tensor<T, D> const& x, Tensor<T, D> const& h_prev, Tensor<T, D> const& w) {
    check_rank("x", x, 2);
    check_rank("h_prev", h_prev, 2);
    check_rank("w", w, 2);
    std::size_t const n = h_prev.shape(0), size = h_prev.shape(1);
    auto const expect = [](char const* field, std::size_t actual, std::size_t expected, char const* why) {
        if (actual != expected) throw ShapeError(field, actual, {expected, why});
    };
    expect("x.shape(0)", x.shape(0), n, ", the rows of h_prev");
    expect("x.shape(1)", x.shape(1), gates * size, ", the gates times the width of h_prev");
    expect("w.shape(0)", w.shape(0), size, ", the width of h_prev");
    expect("w.shape(1)", w.shape(1), gates * size, ", the gates times the width of h_prev");
}

template <class T, class D>
void check_rows_like(char const* field, Tensor<T, D> const& x, std::size_t rows, std::size_t width) {
    typename Tensor<T, D>::shape_type like;
    like.push_back(rows);
    like.push_back(width);
    if (x.shape() != like) throw ShapeError({field, ".shape()"}, shape_text(x.shape()), shape_text(like));
}

/// The same for specs, including b, at compile time or when a net is built.
constexpr void infer_recurrent_cell(std::int64_t gates, VarSpec const& x, VarSpec const& h_prev, VarSpec const& w,
                                    VarSpec const& b) {
    spec::matrix("cell: x", x);
    spec::matrix("cell: h_prev", h_prev);
    spec::matrix("cell: w", w);
    spec::dense("cell: b", b);
    spec::rank("cell: b", b, 1, "1");
    for (VarSpec const& spec : {h_prev, w, b}) spec::same_dtype("cell: h_prev, w or b", spec, x);
    spec::same_dim("cell: h_prev.shape(0)", h_prev.dims[0], x.dims[0]);
    std::int64_t const width = spec::times("cell: h_prev.shape(1)", h_prev.dims[1], gates);
    spec::same_dim("cell: x.shape(1)", x.dims[1], width);
    spec::same_dim("cell: w.shape(0)", w.dims[0], h_prev.dims[1]);
    spec::same_dim("cell: w.shape(1)", w.dims[1], width);
    spec::same_dim("cell: b.shape(0)", b.dims[0], width);
}

}  // namespace rowan::inline v0::detail
