// rowan/op/table/to_dense.hpp: to_dense_op, the dense tensor that a SelectedRows represents, as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/to_dense.hpp>

namespace rowan::inline v0 {

/// See to_dense; in a net, of a gradient.
struct to_dense_op : detail::declared<to_dense_op> {
    static constexpr VarSpec infer(VarSpec const& x) {
        if (x.type != VarType::SELECTED_ROWS) spec::the_kinds_do_not_match("to_dense: x", x.type, "SelectedRows");
        return spec::with_dims(x, x.dims);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, SelectedRows<T, D> const& x) {
        return to_dense(exec, x);
    }
};

}  // namespace rowan::inline v0
