// rowan/op/elementwise/mul.hpp: mul, the element-wise product of two tensors.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// x · y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> mul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::zip_broadcast(exec, detail::multiplied{}, x, y);
}

template <class T, class Device>
Tensor<T, Device> mul(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return mul(x.device(), x, y);
}

/// See mul. The gradients are element-wise products, too: out_grad · y and out_grad · x.
struct mul_op : detail::builtin_op<slots<slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "mul";
    static constexpr std::string_view brief = "x · y of elements.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr unsigned row_inputs = 0b11;
    using grad = grad_rules<grad_rule<mul_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) { return spec::elementwise("mul: y", y, x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        detail::check_same_shape("y", y, x);
        return mul(exec, x, y);
    }
};

}  // namespace rowan::inline v0
