// rowan/op/sequence/interleave_rows.hpp: nonzero_rows and interleave_rows, rows divided between two branches and merged again.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/lod.hpp>

#include <algorithm>

namespace rowan::inline v0 {

namespace detail {

/// Checks that all elements of a list are 0 or 1.
template <class D>
void check_branches(D const& exec, Ids<> const& list) {
    check_list("ids", list);
    check_ids(host_exec(exec), "ids", list, 2);
}

/// errors   ValueError if the value is neither 0 nor 1
constexpr void check_branch(std::int64_t value) {
    if (value != 0 && value != 1) throw ValueError("value", value, "0 or 1");
}

/// The number of elements that are 1.
inline std::size_t count_ones(Ids<> const& list) {
    std::size_t ones = 0;
    for (std::size_t i = 0; i < list.size(); ++i) ones += list[i] == 1 ? 1 : 0;
    return ones;
}

/// For each element of the list, the next row of `ones` if it is 1, else that of `zeros`.
template <class T>
std::vector<T*> branch_rows(Ids<> const& list, T* ones, T* zeros, std::size_t width) {
    std::vector<T*> rows(list.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        T*& next = list[i] == 1 ? ones : zeros;
        rows[i] = next;
        next += width;
    }
    return rows;
}

}  // namespace detail

template <>
struct detail::function_of<nonzero_rows_op> {
    template <class D>
    static Tensor<std::int64_t, D> run(D const& exec, Ids<D> const& ids, std::int64_t value) {
        check_branch(value);
        HostIds<D> const on_host(exec, ids);
        Ids<> const& list = on_host;
        check_branches(exec, list);
        std::vector<std::int64_t> rows;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == value) rows.push_back(static_cast<std::int64_t>(i));
        }
        auto host = Tensor<std::int64_t>::from_shape({rows.size()});
        std::copy(rows.begin(), rows.end(), host.data());
        return to_device(exec, std::move(host));
    }
};

template <>
struct detail::function_of<interleave_rows_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Ids<D> const& ids, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        HostIds<D> const on_host(exec, ids);
        Ids<> const& list = on_host;
        check_branches(exec, list);
        check_usable(exec, x, y);
        std::size_t const ones = count_ones(list);
        check_height("x", x, static_cast<std::int64_t>(ones));
        check_height("y", y, static_cast<std::int64_t>(list.size() - ones));
        check_trailing("y", y, x.shape());
        auto shape = x.shape();
        shape[0] = list.size();
        auto out = new_tensor<T>(exec, shape);
        std::size_t const width = out.row_size();
        auto const rows = branch_rows<T const>(list, x.data(), y.data(), width);
        T* const to = out.data();
        copy_rows(
            exec, list.size(), width * sizeof(T), [&](std::size_t i) { return rows[i]; },
            [=](std::size_t i) { return to + i * width; });
        return out;
    }
};

template <>
struct detail::function_of<detail::backward_of<interleave_rows_op>> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D const& exec, Ids<D> const& ids, Tensor<T, D> const& out_grad) {
        HostIds<D> const on_host(exec, ids);
        Ids<> const& list = on_host;
        check_branches(exec, list);
        check_usable(exec, out_grad);
        check_height("out_grad", out_grad, static_cast<std::int64_t>(list.size()));
        auto shape = out_grad.shape();
        shape[0] = count_ones(list);
        auto x = new_tensor<T>(exec, shape);
        shape[0] = list.size() - shape[0];
        auto y = new_tensor<T>(exec, shape);
        std::size_t const width = out_grad.row_size();
        auto const rows = branch_rows<T>(list, x.data(), y.data(), width);
        T const* const from = out_grad.data();
        copy_rows(
            exec, list.size(), width * sizeof(T), [=](std::size_t i) { return from + i * width; },
            [&](std::size_t i) { return rows[i]; });
        return {std::move(x), std::move(y)};
    }
};

/// See nonzero_rows. There is an id for each first-level sequence of x, or for each row if it has no levels.
/// errors   ShapeError if x has another number of sequences or rows
struct nonzero_rows_op : detail::declared<nonzero_rows_op> {
    static constexpr bool row_output = false;

    static constexpr VarSpec infer(VarSpec const& ids, VarSpec const& x, RowsWhereOptions const& options = {}) {
        detail::check_branch(options.value);
        spec::id_list("nonzero_rows: ids", ids);
        spec::rows("nonzero_rows: x", x);
        if (x.lod_level == 0) spec::same_dim("nonzero_rows: ids.shape(0)", ids.dims[0], x.dims[0]);
        return tensor_spec<std::int64_t>({UNK});
    }

    template <class T, id_type I, class D>
    static LoDTensor<std::int64_t, D> run(D exec, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& x,
                                          RowsWhereOptions const& options = {}) {
        auto const expected = x.lod().empty() ? x.value().shape()[0] : x.lod().sequences(0);
        if (ids.value().size() != expected)
            throw ShapeError("ids.shape(0)", ids.value().size(), {expected, ", the number of rows or sequences of x"});
        return LoDTensor<std::int64_t, D>(nonzero_rows(exec, ids.value(), options.value));
    }
};

/// See interleave_rows. In the step of a recurrent layer, the result has a row for each sequence.
struct interleave_rows_op : detail::declared<interleave_rows_op> {
    static constexpr bool row_output_backward = false;
    using grad = gradient<interleave_rows_op, uses<slot::ids, slot::x, slot::y, grad_of<slot::out>>,
                          makes<grad_of<slot::x>, grad_of<slot::y>>>;

    static constexpr VarSpec infer(VarSpec const& ids, VarSpec const& x, VarSpec const& y) {
        spec::id_list("interleave_rows: ids", ids);
        spec::rows("interleave_rows: x", x);
        spec::rows("interleave_rows: y", y);
        spec::same_dtype("interleave_rows: y", y, x);
        VarSpec out = x, other = y;
        out.dims[0] = other.dims[0] = UNK;
        out.lod_level = 0;
        out.dims = spec::same_dims("interleave_rows: y", other, out);
        out.dims[0] = ids.dims[0];
        return out;
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, Tensor<I, D> const& ids, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return interleave_rows(exec, ids, x, y);
    }

    template <class T, id_type I, class D>
    static auto backward(D exec, Tensor<I, D> const& ids, Tensor<T, D> const&, Tensor<T, D> const&,
                         Tensor<T, D> const& out_grad) {
        return interleave_rows_grad(exec, ids, out_grad);
    }
};

}  // namespace rowan::inline v0
