// rowan/layer/detail/along_axis.hpp: layers along any axis, from those along the last one.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/sequence/lod_reset.hpp>
#include <rowan/op/shape/reshape.hpp>
#include <rowan/op/shape/transpose.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// layer(x) with the axis as the last one of a tensor of rank 2 or more, and then in its place, with the levels of x.
template <class T, class Device, class F>
layer::Var<T, Device> along_axis(char const* field, layer::Var<T, Device> const& x, std::int64_t axis, F const& layer) {
    using rowan::layer::apply;
    VarSpec const& spec = x->spec();
    spec::dense(field, spec);
    spec::has_rows(field, spec);
    std::size_t const rank = spec.dims.size(), at = checked_axis(axis, rank);
    if (rank > 1 && at == rank - 1) return layer(x);
    auto const order = [&](bool back) {
        TransposeOptions options;
        for (std::size_t i = 0; i < rank; ++i)
            options.perm.push_back(static_cast<std::int64_t>(axis_last_order(at, rank, back)[i]));
        return options;
    };
    auto const y = rank == 1 ? apply<squeeze_op>({.axes = {0}}, layer(apply<unsqueeze_op>({.axes = {0}}, x)))
                             : apply<transpose_op>(order(true), layer(apply<transpose_op>(order(false), x)));
    return at == 0 && spec.lod_level != 0 ? apply<lod_reset_op>({}, y, x) : y;
}

}  // namespace rowan::inline v0::detail
