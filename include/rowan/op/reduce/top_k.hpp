// rowan/op/reduce/top_k.hpp: top_k, the k greatest elements of each row and their positions.
#pragma once

#include <rowan/op/detail/greatest.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_k(std::int64_t k, std::int64_t n) {
    throw ValueError("k", k, n == UNK ? std::string("at least 1") : "in [1, " + std::to_string(n) + "]");
}

/// Reads the elements of a row as numbers.
template <class T>
struct NumberOfRow {
    T const* x;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE sum_t<T> operator()(std::int64_t i) const { return load<sum_t<T>>(x + i); }
};

/// Finds the k greatest elements of a row, in order.
template <class T>
struct TopOfRow {
    T const* x;
    T* values;
    std::int64_t* ids;
    std::size_t n, k;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        T const* const from = x + row * n;
        std::int64_t* const at = ids + row * k;
        Greatest<NumberOfRow<T>>{{from}, at, k}(0, static_cast<std::int64_t>(n));
        for (std::size_t i = 0; i < k; ++i) values[row * k + i] = from[at[i]];
    }
};

/// Writes the gradients of k elements of a row of zeros.
template <class T>
struct ScatterInRow {
    T const* g;
    std::int64_t const* ids;
    T* to;
    std::size_t n, k;

    ROWAN_HD void operator()(std::size_t row) const {
        for (std::size_t i = row * k; i < (row + 1) * k; ++i) to[row * n + static_cast<std::size_t>(ids[i])] = g[i];
    }
};

}  // namespace detail

template <>
struct detail::function_of<top_k_op> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<std::int64_t, D>> run(D const& exec, Tensor<T, D> const& x,
                                                                 TopKOptions const& options) {
        ElementLoops<D>::check(exec, x);
        if (x.dimension() == 0) spec::the_rank_does_not_fit("x", 0, "at least 1");
        auto shape = x.shape();
        auto const n = shape.back();
        if (options.k < 1 || options.k > static_cast<std::int64_t>(n)) bad_k(options.k, static_cast<std::int64_t>(n));
        shape.back() = static_cast<std::size_t>(options.k);
        auto values = new_tensor<T>(exec, shape);
        auto ids = new_tensor<std::int64_t>(exec, shape);
        ElementLoops<D>::each(exec, x.size() / n, n, TopOfRow<T>{x.data(), values.data(), ids.data(), n, shape.back()});
        return {std::move(values), std::move(ids)};
    }
};

/// See top_k; x has a rank of 2 or more.
struct top_k_op : detail::declared<top_k_op> {
    static constexpr unsigned row_inputs = 0b1;
    using grad = gradient<top_k_op, uses<slot::x, slot::ids, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, TopKOptions const& options = {}) {
        spec::rows_of_elements("top_k: x", x);
        VarSpec values = x;
        std::int64_t& last = values.dims[x.dims.size() - 1];
        if (options.k < 1 || (last != UNK && options.k > last)) detail::bad_k(options.k, last);
        last = options.k;
        VarSpec ids = values;
        ids.dtype = rowan::dtype<std::int64_t>::wire;
        return {values, ids};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<std::int64_t, D>> run(D exec, Tensor<T, D> const& x,
                                                                 TopKOptions const& options = {}) {
        return top_k(exec, x, options);
    }

    /// The gradient of x: that of the values at their positions, and zeros.
    /// errors   ShapeError if ids and out_grad differ in shape, or from x in a dim before the last; IndexError if an id
    ///          is not in [0, n)
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<std::int64_t, D> const& ids,
                                 Tensor<T, D> const& out_grad) {
        detail::ElementLoops<D>::check(exec, x, ids, out_grad);
        detail::check_same_shape("ids", ids, out_grad);
        auto like = x.shape();
        if (!like.empty() && out_grad.dimension() == like.size()) like.back() = out_grad.shape().back();
        if (x.dimension() == 0 || out_grad.shape() != like)
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()),
                             detail::shape_text(x.shape()).append(" except for the last dim"));
        std::size_t const n = x.shape().back(), k = like.back();
        detail::ElementLoops<D>::check_ids(exec, "ids", ids, static_cast<std::int64_t>(n));
        auto x_grad = detail::new_tensor<T>(exec, x.shape());
        if (n != 0)
            detail::ElementLoops<D>::zero_rows(
                exec, x.size() / n, n, x_grad.data(),
                detail::ScatterInRow<T>{out_grad.data(), ids.data(), x_grad.data(), n, k});
        return x_grad;
    }
};

}  // namespace rowan::inline v0
