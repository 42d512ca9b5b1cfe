// rowan/op/shape/transpose.hpp: transpose, a tensor with its dims in another order.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/permute.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>

#include <concepts>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_perm(std::vector<std::int64_t> const& perm, std::size_t rank) {
    throw ShapeError("perm", shape_text(perm), {"each of the ", rank, " axes of x once"});
}

/// The dims of x in the order of the result, negative ones counted from the end.
constexpr std::array<std::size_t, 8> checked_perm(std::vector<std::int64_t> const& perm, std::size_t rank) {
    std::array<std::size_t, 8> order{};
    for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
    if (perm.empty()) return order;
    if (perm.size() != rank) bad_perm(perm, rank);
    auto const dims = static_cast<std::int64_t>(rank);
    std::array<bool, 8> seen{};
    for (std::size_t i = 0; i < rank; ++i) {
        if (perm[i] < -dims || perm[i] >= dims) bad_perm(perm, rank);
        order[i] = static_cast<std::size_t>(perm[i] < 0 ? perm[i] + dims : perm[i]);
        if (seen[order[i]]) bad_perm(perm, rank);
        seen[order[i]] = true;
    }
    return order;
}

template <class Shape>
constexpr Shape permuted_shape(Shape const& shape, std::array<std::size_t, 8> const& order) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) result.push_back(shape[order[i]]);
    return result;
}

template <class T, class D>
Tensor<T, D> permuted(D const& exec, Tensor<T, D> const& x, std::array<std::size_t, 8> const& order) {
    ElementLoops<D>::check(exec, x);
    auto const shape = permuted_shape(x.shape(), order);
    auto out = new_tensor<T>(exec, shape);
    if (out.size() == 0) return out;
    CopyByAxes<T> copy{x.data(), out.data(), {}};
    for (std::size_t i = 0; i < shape.size(); ++i) copy.rows.push(shape[i], product_from(x.shape(), order[i] + 1));
    if constexpr (std::same_as<D, Cpu>) {
        permute(exec, copy.rows, copy.from, copy.to);
    } else {
        copy.split_row();
        ElementLoops<D>::each_element(exec, copy.rows.elements(), copy.width, copy);
    }
    return out;
}

}  // namespace detail

template <>
struct detail::function_of<transpose_op> {
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, TransposeOptions options) {
        return permuted(exec, x, checked_perm(options.perm, x.dimension()));
    }
};

/// See transpose.
struct transpose_op : detail::declared<transpose_op> {
    static constexpr TransposeOptions normal(VarSpec const& x, TransposeOptions options) {
        for (std::int64_t& axis : options.perm) axis = detail::from_first(axis, x.dims.size());
        return options;
    }
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = gradient<transpose_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr bool row_wise(TransposeOptions const& options) {
        return !options.perm.empty() && options.perm[0] == 0;
    }
    static constexpr bool row_output(TransposeOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, TransposeOptions const& options = {}) {
        spec::dense("transpose: x", x);
        auto const order = detail::checked_perm(options.perm, x.dims.size());
        bool const rows = x.dims.empty() || order[0] == 0;
        return spec::with_dims(x, detail::permuted_shape(x.dims, order), rows ? x.lod_level : 0);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, TransposeOptions const& options = {}) {
        return detail::run_of<transpose_op, Tensor<T, D>>(exec, x, options);
    }

    static constexpr VarSpec infer_backward(VarSpec const& out_grad, TransposeOptions const& options = {}) {
        VarSpec x = out_grad;
        x.dims = detail::permuted_shape(out_grad.dims, order_of_x(options, x.dims.size()));
        return x;
    }

    /// The gradient of x: that of the result in the order of x.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad, TransposeOptions const& options = {}) {
        return detail::permuted(exec, out_grad, order_of_x(options, out_grad.dimension()));
    }

private:
    static constexpr std::array<std::size_t, 8> order_of_x(TransposeOptions const& options, std::size_t rank) {
        auto const order = detail::checked_perm(options.perm, rank);
        std::array<std::size_t, 8> back{};
        for (std::size_t i = 0; i < rank; ++i) back[order[i]] = i;
        return back;
    }
};

}  // namespace rowan::inline v0
