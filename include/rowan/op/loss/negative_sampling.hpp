// rowan/op/loss/negative_sampling.hpp: negative_sampling, word2vec's loss of a class against a few others.
#pragma once

#include <rowan/op/detail/grouped_rows.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The label of ids[k] in a group whose first target is the class: the others are negatives, but the class itself.
struct FirstIsPositive {
    std::int64_t const* ids;

    ROWAN_HD TargetLabel operator()(std::size_t k, std::size_t first) const {
        if (k == first) return TargetLabel::positive;
        return ids[k] == ids[first] ? TargetLabel::none : TargetLabel::negative;
    }
};

/// errors   as negative_sampling
template <class T>
TargetGroups<T> sampled_groups(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                               Tensor<std::int64_t> const& ids) {
    auto groups = row_groups(exec, x, w);
    check_rank("ids", ids, 2);
    if (ids.shape(0) != groups.groups || ids.shape(1) == 0)
        throw ShapeError("ids.shape()", shape_text(ids.shape()),
                         {"[", groups.groups, ", at least 1], a row for each ",
                          x.lod().levels() == 0 ? "row" : "sequence", " of x"});
    ElementLoops<Cpu>::check_ids(exec, "ids", ids, height_of(w));
    groups.each = ids.shape(1);
    groups.ids = ids.data();
    return groups;
}

}  // namespace detail

template <>
struct detail::function_of<negative_sampling_op> {
    template <class T, id_type I>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                Tensor<I> const& ids, LossOptions const& options) {
        auto const all = ids_of_64_bits(ids);
        auto const groups = sampled_groups(exec, x, w, all);
        return target_losses(exec, groups, x.value().shape(0), FirstIsPositive{all.data()}, options);
    }
};

template <>
struct detail::function_of<detail::backward_of<negative_sampling_op>> {
    template <class T, id_type I>
    static std::tuple<Tensor<T>, SelectedRows<T>> run(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                      Tensor<I> const& ids, Tensor<T> const& saved,
                                                      Tensor<T> const& out_grad, LossOptions const& options) {
        auto const all = ids_of_64_bits(ids);
        auto const groups = sampled_groups(exec, x, w, all);
        auto [x_grad, rows] = target_gradients(exec, groups, x, w, all.size(), saved, out_grad, options);
        return {std::move(x_grad), lookup_table_grad(exec, all.reshaped({all.size()}), std::move(rows), height_of(w))};
    }
};

/// See negative_sampling.
struct negative_sampling_op : detail::declared<negative_sampling_op> {
    static constexpr std::array<SlotLookup, 1> lookups{{{1, 2}}};
    using grad = gradient<negative_sampling_op, uses<slot::x, slot::w, slot::sampled, slot::saved, grad_of<slot::out>>,
                          makes<grad_of<slot::x>, grad_of<slot::w>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& w, VarSpec const& ids,
                                                  attributes const& a) {
        spec::matrix("negative_sampling: x", x);
        spec::matrix("negative_sampling: w", w);
        spec::same_dtype("negative_sampling: w", w, x);
        spec::same_dim("negative_sampling: w", 1, w.dims[1], x.dims[1]);
        spec::matrix("negative_sampling: ids", ids);
        spec::ids("negative_sampling: ids", ids);
        return {spec::with_dims(x, detail::reduced_dims(a.reduction, x.dims[0])), spec::with_dims(x, {UNK})};
    }

    template <class T, id_type I>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                Tensor<I> const& ids, attributes const& a) {
        return negative_sampling(exec, x, w, ids, a);
    }

    static constexpr std::array<VarSpec, 2> infer_backward(VarSpec const& x, VarSpec const& w, VarSpec const&,
                                                           VarSpec const&, VarSpec const&, attributes const&) {
        return {x, VarSpec{.type = VarType::SELECTED_ROWS, .dtype = w.dtype, .dims = w.dims, .lod_level = 0}};
    }

    template <class T, id_type I>
    static auto backward(Cpu exec, LoDTensor<T> const& x, Tensor<T> const& w, Tensor<I> const& ids,
                         Tensor<T> const& saved, Tensor<T> const& out_grad, attributes const& a) {
        return negative_sampling_grad(exec, x, w, ids, saved, out_grad, a);
    }
};

}  // namespace rowan::inline v0
