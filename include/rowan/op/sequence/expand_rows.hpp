// rowan/op/sequence/expand_rows.hpp: expand_rows, a row repeated for each row of a tensor.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>

#include <algorithm>

namespace rowan::inline v0 {

template <>
struct detail::function_of<expand_rows_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
        check_rows("like", like);
        ElementLoops<D>::check(exec, row, like);
        if (!std::equal(row.shape().begin(), row.shape().end(), like.shape().begin() + 1, like.shape().end()))
            throw ShapeError("row.shape()", shape_text(row.shape()),
                             {"that of the rows of like, ", shape_text(like.shape())});
        auto out = new_tensor<T>(exec, like.shape());
        ElementLoops<D>::repeat_row(exec, like.shape(0), row.size(), row.data(), out.data());
        return out;
    }
};

struct expand_rows_op : detail::declared<expand_rows_op> {
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<bias_grad_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

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
