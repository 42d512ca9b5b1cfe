// rowan/op/shape/one_hot.hpp: one_hot, a row of zeros with a 1 at each id.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Writes the 1 of a row.
template <class T, class I>
struct MarkId {
    I const* ids;
    T* to;
    std::size_t depth;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        store(constant<sum_t<T>>(1.0), to + (row * depth + static_cast<std::size_t>(ids[row])));
    }
};

/// errors   ShapeError unless ids are [n] or [n, 1]; ValueError if depth is negative
template <class Shape>
constexpr void check_one_hot(Shape const& ids, std::int64_t depth) {
    if (ids.size() != 1 && ids.size() != 2) spec::the_rank_does_not_fit("ids", ids.size(), "1, or 2 with one column");
    if (ids.size() == 2) spec::same_dim("ids.shape(1)", static_cast<std::int64_t>(ids[1]), 1);
    if (depth < 0) throw ValueError("depth", depth, "0 or more");
}

}  // namespace detail

/// A row for each id: 1 in the column of the id, else 0.
///     one_hot<float>([2 0], {.depth = 3})   ->   [[0 0 1] [1 0 0]]
/// shapes   ids [n] or [n, 1] -> [n, depth]
/// errors   IndexError if an id is not in [0, depth); ShapeError if ids have another shape; ValueError if depth is
///          negative
/// cost     one write of the result
template <class T = float, id_type I, device D>
Tensor<T, D> one_hot(D const& exec, Tensor<I, D> const& ids, OneHotOptions const& options) {
    detail::check_one_hot(ids.shape(), options.depth);
    detail::ElementLoops<D>::check(exec, ids);
    detail::ElementLoops<D>::check_ids(exec, "ids", ids, options.depth);
    auto const depth = static_cast<std::size_t>(options.depth);
    auto out = detail::new_tensor<T>(exec, {ids.shape(0), depth});
    if (out.size() != 0)
        detail::ElementLoops<D>::zero_rows(exec, ids.size(), depth, out.data(),
                                           detail::MarkId<T, I>{ids.data(), out.data(), depth});
    return out;
}

template <class T = float, class I, class Device>
Tensor<T, Device> one_hot(Tensor<I, Device> const& ids, OneHotOptions const& options) {
    return one_hot<T>(ids.device(), ids, options);
}

/// See one_hot; the elements are float.
struct one_hot_op : detail::declared<one_hot_op> {
    static constexpr unsigned row_inputs = 0b1;

    static constexpr VarSpec infer(VarSpec const& ids, OneHotOptions const& options = {}) {
        spec::dense("one_hot: ids", ids);
        spec::ids("one_hot: ids", ids);
        detail::check_one_hot(ids.dims, options.depth);
        return tensor_spec<float>({ids.dims[0], options.depth}, ids.lod_level);
    }

    template <id_type I, class D>
    static Tensor<float, D> run(D exec, Tensor<I, D> const& ids, OneHotOptions const& options = {}) {
        return one_hot<float>(exec, ids, options);
    }
};

}  // namespace rowan::inline v0
