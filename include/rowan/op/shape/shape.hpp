// rowan/op/shape/shape.hpp: shape, the dims of a tensor as a tensor.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>

namespace rowan::inline v0 {

template <>
struct detail::function_of<shape_op> {
    template <class T, class D>
    static Tensor<std::int64_t, D> run(D const& exec, Tensor<T, D> const& x) {
        ElementLoops<D>::check(exec, x);
        auto dims = Tensor<std::int64_t>::from_shape({x.dimension()});
        for (std::size_t i = 0; i < x.dimension(); ++i) dims(i) = static_cast<std::int64_t>(x.shape(i));
        return to_device(exec, std::move(dims));
    }
};

/// See shape.
struct shape_op : detail::declared<shape_op> {
    static constexpr bool row_output = false;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("shape: x", x);
        return tensor_spec<std::int64_t>({static_cast<std::int64_t>(x.dims.size())});
    }

    template <class T, class D>
    static Tensor<std::int64_t, D> run(D exec, Tensor<T, D> const& x) {
        return shape(exec, x);
    }
};

}  // namespace rowan::inline v0
