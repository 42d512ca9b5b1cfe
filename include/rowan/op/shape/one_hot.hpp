// rowan/op/shape/one_hot.hpp: one_hot, a row of zeros with a 1 at each id.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>

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

template <>
struct detail::function_of<one_hot_op> {
    template <class T, id_type I, class D>
    static Tensor<T, D> run(D const& exec, Tensor<I, D> const& ids, OneHotOptions const& options,
                            std::type_identity<T>) {
        check_one_hot(ids.shape(), options.depth);
        ElementLoops<D>::check(exec, ids);
        ElementLoops<D>::check_ids(exec, "ids", ids, options.depth);
        auto const depth = static_cast<std::size_t>(options.depth);
        auto out = new_tensor<T>(exec, {ids.shape(0), depth});
        if (out.size() != 0)
            ElementLoops<D>::zero_rows(exec, ids.size(), depth, out.data(),
                                       MarkId<T, I>{ids.data(), out.data(), depth});
        return out;
    }
};

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
