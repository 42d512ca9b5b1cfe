// rowan/op/matrix/dot_interaction.hpp: dot_interaction, the dot products of the pairs of an example's vectors.
#pragma once

#include <rowan/op/detail/vector_pairs.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The number of pairs of n vectors, or UNK.
constexpr std::int64_t count_of_pairs(std::int64_t n, DotInteractionOptions const& options) {
    if (n == UNK) return UNK;
    if (std::int64_t const most = std::int64_t{1} << 31; n > most)
        spec::the_dim_is_too_great("dot_interaction: x", 1, n, most);
    return static_cast<std::int64_t>(VectorPairs{static_cast<std::size_t>(n), options.self_interaction}.size());
}

/// Checks x and returns its pairs.
template <class T, class D>
VectorPairs pairs_of(Tensor<T, D> const& x, DotInteractionOptions const& options) {
    static_assert(floating_element<T>, "rowan::dot_interaction: x must have a floating-point type");
    check_rank("x", x, 3);
    count_of_pairs(static_cast<std::int64_t>(x.shape(1)), options);
    return {x.shape(1), options.self_interaction};
}

}  // namespace detail

template <>
struct detail::function_of<dot_interaction_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, DotInteractionOptions const& options) {
        auto const pairs = pairs_of(x, options);
        ElementLoops<D>::check(exec, x);
        auto out = new_tensor<T>(exec, {x.shape(0), pairs.size()});
        if (out.size() != 0)
            PairProducts<D>::run(exec, x.shape(0), x.shape(2), pairs, static_cast<T const*>(x.data()), out.data());
        return out;
    }
};

/// See dot_interaction.
struct dot_interaction_op : detail::declared<dot_interaction_op> {
    static constexpr unsigned row_inputs = 0b1;
    using grad = gradient<dot_interaction_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, attributes const& options = {}) {
        spec::dense("dot_interaction: x", x);
        spec::rank("dot_interaction: x", x, 3, "3");
        return spec::with_dims(x, {x.dims[0], detail::count_of_pairs(x.dims[1], options)}, x.lod_level);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, attributes const& options = {}) {
        return dot_interaction(exec, x, options);
    }

    /// The gradient of x: that of vector i is the sum over j, in order, of the gradient of the pair of i and j times
    /// vector j; twice that of a pair (i, i).
    /// shapes   x [batch, n, width], out_grad as the result -> the shape of x
    /// errors   as dot_interaction; ShapeError if out_grad has another shape
    /// cost     one read of both and one write of the result, and as dot_interaction
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                                 attributes const& options = {}) {
        auto const pairs = detail::pairs_of(x, options);
        if (typename Tensor<T, D>::shape_type const shape{x.shape(0), pairs.size()}; out_grad.shape() != shape)
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
        detail::ElementLoops<D>::check(exec, x, out_grad);
        auto x_grad = detail::new_tensor<T>(exec, x.shape());
        if (x.size() != 0)
            detail::PairProducts<D>::grad(exec, x.shape(0), x.shape(2), pairs, static_cast<T const*>(x.data()),
                                          static_cast<T const*>(out_grad.data()), x_grad.data());
        return x_grad;
    }
};

}  // namespace rowan::inline v0
