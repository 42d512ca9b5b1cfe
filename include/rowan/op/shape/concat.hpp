// rowan/op/shape/concat.hpp: concat, tensors concatenated along one axis.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <span>

namespace rowan::inline v0 {

namespace detail {

/// Checks that all tensors have the rank of the first and, except along the axis, its dims. Returns the axis counted
/// from the first dim.
template <class T, class D>
std::size_t check_joinable(std::vector<Tensor<T, D>> const& x, std::int64_t axis) {
    check_some(x.size());
    std::size_t const rank = x[0].dimension(), at = checked_axis(axis, rank);
    for (std::size_t k = 1; k < x.size(); ++k) {
        if (x[k].dimension() != rank)
            throw ShapeError(part_name("x", k).append(" rank"), x[k].dimension(), {rank, ", that of x[0]"});
        for (std::size_t i = 0; i < rank; ++i) {
            if (i != at && x[k].shape(i) != x[0].shape(i))
                throw ShapeError(dim_name(part_name("x", k), i), x[k].shape(i), {x[0].shape(i), ", that of x[0]"});
        }
    }
    return at;
}

/// The levels of x if they are concatenated along axis `at`. Along the first axis, those of all, one after another, or
/// none if their numbers differ; along other axes, those of the first.
template <class T, class D>
Lod lod_of_joined(std::vector<LoDTensor<T, D>> const& x, std::size_t at) {
    if (at != 0 || x[0].lod().empty()) return at != 0 ? x[0].lod() : Lod();
    std::vector<Lod> lods;
    for (auto const& part : x) {
        part.check();
        if (part.lod().levels() != x[0].lod().levels()) return {};
        lods.push_back(part.lod());
    }
    return join_lods(lods);
}

/// Aliases of the rows.
template <class T, class D>
std::vector<Tensor<T, D>> rows_of(std::vector<LoDTensor<T, D>> const& x) {
    std::vector<Tensor<T, D>> rows;
    rows.reserve(x.size());
    for (auto const& part : x) rows.push_back(part.value().share());
    return rows;
}

}  // namespace detail

template <>
struct detail::function_of<concat_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, std::vector<Tensor<T, D>> const& x, std::int64_t axis) {
        ElementLoops<D>::check(exec);
        std::size_t const at = check_joinable(x, axis);
        auto shape = x[0].shape();
        std::size_t const inner = product_from(shape, at + 1);
        std::vector<T const*> from;
        std::vector<std::size_t> widths;
        shape[at] = 0;
        for (auto const& part : x) {
            ElementLoops<D>::check(exec, part);
            from.push_back(part.data());
            widths.push_back(part.shape(at) * inner);
            shape[at] += part.shape(at);
        }
        auto out = new_tensor<T>(exec, shape);
        std::size_t const outer = out.size() == 0 ? 0 : out.size() / (shape[at] * inner);
        ConcatSplit<D>::join(exec, outer, widths, from, out.data());
        return out;
    }
};

/// See concat. The slot `x` holds all tensors as a std::vector. Along the first axis, batches with as many levels are
/// joined as merge_batches does; if their numbers of levels differ, the result has none. Along other axes, the result
/// has the levels of the first.
struct concat_op : detail::declared<concat_op> {
    static constexpr Linearity linearity = Linearity::sum;
    using grad = gradient<concat_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr bool row_wise(attributes const& a) { return a.axis > 0; }

    static constexpr VarSpec infer(std::span<VarSpec const> x, attributes const& a) {
        detail::check_some(x.size());
        spec::dense("concat: x", x[0]);
        std::size_t const at = detail::checked_axis(a.axis, x[0].dims.size());
        VarSpec out = x[0];
        for (std::size_t k = 1; k < x.size(); ++k) {
            VarSpec part = x[k];
            detail::with_part_name("concat: x", k, [&](char const* name) {
                spec::dense(name, part);
                spec::same_dtype(name, part, out);
                spec::rank(name, part, out.dims.size(), "that of the first");
                if (at == 0 && part.lod_level != out.lod_level) out.lod_level = 0;
                std::int64_t const dim = part.dims[at], before = out.dims[at];
                part.dims[at] = before;
                out.dims = spec::same_dims(name, part, out);
                out.dims[at] = spec::plus(name, at, dim, before);
            });
        }
        return out;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, std::vector<LoDTensor<T, D>> const& x, attributes const& a) {
        auto const rows = detail::rows_of(x);
        auto out = concat(exec, rows, a.axis);
        return {std::move(out), detail::lod_of_joined(x, detail::checked_axis(a.axis, out.dimension()))};
    }

    /// Splits the gradient of the result into the gradients of the inputs.
    /// errors   ShapeError if the tensors of x cannot be concatenated, or out_grad does not have the shape of the
    ///          result; IndexError if the axis is out of range
    template <class T, class D>
    static std::vector<LoDTensor<T, D>> backward(D exec, std::vector<LoDTensor<T, D>> const& x,
                                                 LoDTensor<T, D> const& out_grad, attributes const& a) {
        auto const& whole = out_grad.value();
        detail::ElementLoops<D>::check(exec, whole);
        std::size_t const at = detail::check_joinable(detail::rows_of(x), a.axis);
        auto shape = x[0].shape();
        shape[at] = 0;
        std::vector<std::int64_t> sections;
        for (auto const& part : x) {
            sections.push_back(static_cast<std::int64_t>(part.shape()[at]));
            shape[at] += part.shape()[at];
        }
        if (whole.shape() != shape)
            throw ShapeError("out_grad.shape()", detail::shape_text(whole.shape()), detail::shape_text(shape));
        std::vector<LoDTensor<T, D>> grads;
        grads.reserve(x.size());
        for (auto& part : detail::cut_along(exec, whole, at, sections)) {
            grads.emplace_back(std::move(part), x[grads.size()].lod());
        }
        return grads;
    }
};

}  // namespace rowan::inline v0
