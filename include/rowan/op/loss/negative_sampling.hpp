// rowan/op/loss/negative_sampling.hpp: negative_sampling, word2vec's loss of a class against a few others.
#pragma once

#include <rowan/op/detail/grouped_rows.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The label of ids[k] in a group whose first target is the class: the others are negatives, but the class itself.
template <class I>
struct FirstIsPositive {
    I const* ids;

    ROWAN_HD TargetLabel operator()(std::size_t k, std::size_t first) const {
        if (k == first) return TargetLabel::positive;
        return ids[k] == ids[first] ? TargetLabel::none : TargetLabel::negative;
    }
};

/// errors   as negative_sampling
template <class T, class I>
TargetGroups<T, I> sampled_groups(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w, Tensor<I> const& ids) {
    auto groups = row_groups<I>(exec, x, w);
    check_rank("ids", ids, 2);
    if (ids.shape(0) != groups.groups || ids.shape(1) == 0)
        throw ShapeError("ids.shape()", shape_text(ids.shape()),
                         "[" + std::to_string(groups.groups) + ", at least 1], a row for each " +
                             (x.lod().levels() == 0 ? "row" : "sequence") + " of x");
    ElementLoops<Cpu>::check_ids(exec, "ids", ids, height_of(w));
    groups.each = ids.shape(1);
    groups.ids = ids.data();
    return groups;
}

}  // namespace detail

/// For each row x[r], of the scores s[k] = x[r] · w[ids[i][k]]: log(1 + exp(-s[0])) + Σ log(1 + exp(s[k])) for k > 0, or
/// the mean or sum of these. Row i of ids has the class of row i of x first, then its negatives; those that are the class
/// are left out. If x has levels, row i of ids is of all rows of sequence i, the classes of which share their negatives.
/// Mikolov et al.: Distributed Representations of Words and Phrases and their Compositionality, 2013, equation 4.
///     auto [loss, saved] = negative_sampling(x, w, ids);      // x {{0, 2, 3}}: two rows meet ids(0, …), one ids(1, …)
/// The second result are the slopes of the terms, s by s, which the gradients need. Scores are summed in 16 interleaved
/// partial sums, and computed in dtype<T>::sum.
/// shapes   x [n, width], w [classes, width], ids [n, 1 + k], or with levels [sequences, 1 + k] -> [1], or [n] without
///          reduction, and [n · (1 + k)]
/// errors   ShapeError if the shapes do not match; IndexError if an id is not in [0, classes)
/// cost     one read of x, of a row of w for each id, and n · (1 + k) · width products; the same bits for any number of
///          threads, which share out the rows of ids
template <class T, id_type I>
std::tuple<Tensor<T>, Tensor<T>> negative_sampling(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                   Tensor<I> const& ids, LossOptions const& options = {}) {
    auto const groups = detail::sampled_groups(exec, x, w, ids);
    return detail::target_losses(exec, groups, x.value().shape(0), detail::FirstIsPositive<I>{ids.data()}, options);
}

/// The gradients of x, and of w with a row for each id.
/// shapes   x, w, ids and saved as in negative_sampling, out_grad like the loss -> that of x, and a SelectedRows of the
///          shape of w
/// errors   as negative_sampling; ShapeError if saved or out_grad has another shape
/// cost     one read of x and of a row of w for each id, one write of as many, and 2 · n · (1 + k) · width products
template <class T, id_type I>
std::tuple<Tensor<T>, SelectedRows<T>> negative_sampling_grad(Cpu const& exec, LoDTensor<T> const& x,
                                                              Tensor<T> const& w, Tensor<I> const& ids,
                                                              Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                              LossOptions const& options = {}) {
    auto const groups = detail::sampled_groups(exec, x, w, ids);
    auto [x_grad, rows] = detail::target_gradients(exec, groups, x, w, ids.size(), saved, out_grad, options);
    return {std::move(x_grad),
            lookup_table_grad(exec, ids.reshaped({ids.size()}), std::move(rows), detail::height_of(w))};
}

template <class T, class I>
std::tuple<Tensor<T>, Tensor<T>> negative_sampling(LoDTensor<T> const& x, Tensor<T> const& w, Tensor<I> const& ids,
                                                   LossOptions const& options = {}) {
    return negative_sampling(Cpu{}, x, w, ids, options);
}

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
