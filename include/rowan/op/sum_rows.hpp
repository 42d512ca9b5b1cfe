// rowan/op/sum_rows.hpp: sum_rows, the sum of the rows of a tensor, and its adjoint expand_rows.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// Sums the n > 0 rows of a matrix on a device. The Thrust specialization is in rowan/thrust/op/sum_rows.hpp.
template <class D>
struct ColumnSums;

template <>
struct ColumnSums<Cpu> {
    template <class T>
    static void sum(Cpu, std::size_t n, std::size_t width, T const* x, T* out) {
        using S = sum_t<T>;
        Buffer<std::int64_t> positions(n);
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        BlockSum<T, S> sum(x, width, n);
        copy_lanes<S>(width, sum(positions.data(), n, 0), out);
    }
};

}  // namespace detail

/// The sum over the rows, such as the gradient of a bias. Sums are formed in input order and in blocks of 64, as in
/// merge.
/// shapes   x [n, ...] -> [...]
/// errors   ShapeError if x has rank 0
/// cost     one read of x; temporary memory: on the host 8 bytes per row, on a device the sums of blocks of 64 rows
template <class T, device D>
Tensor<T, D> sum_rows(D const& exec, Tensor<T, D> const& x) {
    detail::ElementLoops<D>::check(exec, x);
    detail::check_rows("x", x);
    typename Tensor<T, D>::shape_type shape;
    for (std::size_t i = 1; i < x.dimension(); ++i) shape.push_back(x.shape(i));
    auto out = Tensor<T, D>::zeros(exec, shape);
    if (x.shape(0) != 0) detail::ColumnSums<D>::sum(exec, x.shape(0), x.row_size(), x.data(), out.data());
    return out;
}

template <class T, class Device>
Tensor<T, Device> sum_rows(Tensor<T, Device> const& x) {
    return sum_rows(x.device(), x);
}

/// Repeats a row for each row of `like`: the adjoint of sum_rows.
/// shapes   row [...], like [n, ...] -> the shape of like
/// errors   ShapeError if like has rank 0 or row does not have the shape of its rows
/// cost     one write of the result
template <class T, device D>
Tensor<T, D> expand_rows(D const& exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
    detail::check_rows("like", like);
    detail::ElementLoops<D>::check(exec, row, like);
    if (!std::equal(row.shape().begin(), row.shape().end(), like.shape().begin() + 1, like.shape().end()))
        throw ShapeError("row.shape()", detail::shape_text(row.shape()),
                         "that of the rows of like, " + detail::shape_text(like.shape()));
    auto out = detail::new_tensor<T>(exec, like.shape());
    detail::ElementLoops<D>::repeat_row(exec, like.shape(0), row.size(), row.data(), out.data());
    return out;
}

struct expand_rows_op;

struct sum_rows_op {
    static constexpr std::string_view name = "sum_rows";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    static constexpr bool sums_rows = true;
    using grad = grad_rule<expand_rows_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("sum_rows: x", x);
        spec::has_rows("sum_rows: x", x);
        Dims dims;
        for (std::size_t i = 1; i < x.dims.size(); ++i) dims.push_back(x.dims[i]);
        return {VarType::LOD_TENSOR, x.dtype, dims, 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return sum_rows(exec, x);
    }
};

struct expand_rows_op {
    static constexpr std::string_view name = "expand_rows";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<sum_rows_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& row, VarSpec const& like) {
        spec::dense("expand_rows: x", row);
        spec::dense("expand_rows: y", like);
        spec::same_dtype("expand_rows: y", like, row);
        spec::rank("expand_rows: y", like, row.dims.size() + 1, "one more than that of x");
        for (std::size_t i = 0; i < row.dims.size(); ++i)
            spec::same_dim("expand_rows: a dim of y", like.dims[i + 1], row.dims[i]);
        return like;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
        return expand_rows(exec, row, like);
    }
};

}  // namespace rowan::inline v0
