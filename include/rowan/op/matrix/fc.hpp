// rowan/op/matrix/fc.hpp: fc, a fully connected layer.
#pragma once

#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>

namespace rowan::inline v0 {

template <>
struct detail::function_of<fc_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b) {
        check_rank("x", x, 2);
        check_rank("w", w, 2);
        std::size_t const n = x.shape(0), inputs = x.shape(1), outputs = w.shape(1);
        if (w.shape(0) != inputs) throw ShapeError("w.shape(0)", w.shape(0), {inputs, ", the width of x"});
        if (b.dimension() != 1 || b.shape(0) != outputs)
            throw ShapeError("b.shape()", shape_text(b.shape()), {"[", outputs, "]"});
        ElementLoops<D>::check(exec, x, w, b);
        auto out = new_tensor<T>(exec, {n, outputs});
        ElementLoops<D>::repeat_row(exec, n, outputs, b.data(), out.data());
        Products<D>::template multiply<T>(exec, n, outputs, inputs, {x.data(), inputs}, {w.data(), outputs}, out.data(),
                                          true);
        return out;
    }
};

struct fc_op : detail::declared<fc_op> {
    static constexpr unsigned row_inputs = 0b001;
    using grad =
        grad_rules<grad_rule<matrix_grad_op<false>, uses<grad_of<slot::out>, slot::w>, makes<grad_of<slot::x>>>,
                   grad_rule<matrix_grad_op<true>, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::w>>>,
                   grad_rule<bias_grad_op, uses<grad_of<slot::out>>, makes<grad_of<slot::b>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, VarSpec const& b) {
        spec::matrix("fc: x", x);
        spec::matrix("fc: w", w);
        spec::dense("fc: b", b);
        spec::rank("fc: b", b, 1, "1");
        spec::same_dtype("fc: w", w, x);
        spec::same_dtype("fc: b", b, x);
        spec::same_dim("fc: w.shape(0)", w.dims[0], x.dims[1]);
        return spec::with_dims(x, {x.dims[0], spec::same_dim("fc: b.shape(0)", b.dims[0], w.dims[1])}, x.lod_level);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b) {
        return fc(exec, x, w, b);
    }
};

}  // namespace rowan::inline v0
