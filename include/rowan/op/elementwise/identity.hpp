// rowan/op/elementwise/identity.hpp: identity_op, which returns an alias of its input; the gradient of add.
#pragma once

#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

/// Returns an alias of x: it shares the elements and keeps them alive.
struct identity_op : detail::declared<identity_op> {
    static constexpr unsigned row_inputs = 0b1;
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) { return x; }

    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return x.share();
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D, SelectedRows<T, D> const& x) {
        return x.share();
    }
};

}  // namespace rowan::inline v0
