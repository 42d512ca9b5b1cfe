// rowan/op/loss/linear_chain_crf.hpp: linear_chain_crf, the loss of a tagger whose tags depend on their neighbours.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/crf.hpp>
#include <rowan/op/detail/crf_marginals.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>

namespace rowan::inline v0 {

/// The negative log-likelihood of the labels of each sequence of the last level, in a conditional random field: log of
/// the sum of exp(score) over all paths of tags, less the score of the labels, and 0 for an empty sequence. The score of
/// a path is the sum of its emissions, of transition[0, first tag], transition[1, last tag], and of transition[2 + from,
/// to] for adjacent tags. This is Paddle's linear_chain_crf, a cost to minimise, which Paddle calls LogLikelihood.
/// Computed in dtype<T>::sum from logarithms, relative to the largest score of each row. A transition may be -infinity,
/// an emission may not; without any path, the result is NaN. Lafferty et al. 2001.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1] -> [sequences, 1],
///          with the levels of emission above the last one
/// errors   ShapeError if the shapes do not fit or there are no tags or levels; IndexError if a label is not in
///          [0, tags)
/// cost     O(rows · tags²) and temporary memory for rows · tags numbers; the same bits for any number of threads and on
///          devices
template <class T, id_type I, device D>
LoDTensor<T, D> linear_chain_crf(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition,
                                 Tensor<I, D> const& label) {
    using S = detail::sum_t<T>;
    detail::check_crf(exec, emission, transition);
    detail::check_crf_labels(exec, emission, label);
    auto const offsets = detail::last_level(emission.lod());
    std::size_t const n = offsets.size() - 1, tags = transition.shape(1);
    detail::OnDevice<std::int64_t, D> const begins(exec, offsets);
    auto alpha = detail::ElementLoops<D>::template scratch<S>(exec, emission.value().size());
    T const *const x = emission.value().data(), *const w = transition.data();
    detail::crf_scores<false>(exec, offsets, begins.data(), emission, w, w + 2 * tags, false, alpha);
    auto out = detail::new_tensor<T>(exec, {n, 1});
    std::size_t const work = emission.value().size() / (n + 1) + 1;
    detail::ElementLoops<D>::each(
        exec, n, work, detail::CrfLoss<T, I>{x, w, label.data(), begins.data(), alpha.data(), tags, out.data()});
    return {std::move(out), detail::upper_levels(emission.lod())};
}

/// The gradients of emission and transition: the expected number of times that each is in a path, less that in the path
/// of the labels, times out_grad. The gradient of transition is summed in 16 interleaved partial sums of sequences.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1], out_grad
///          [sequences, 1] -> [rows, tags] and [tags + 2, tags]
/// errors   as linear_chain_crf; ShapeError if out_grad has another shape
/// cost     O(rows · tags²) and temporary memory for 2 · rows · tags + 16 · tags² numbers; the same bits for any number
///          of threads and on devices
template <class T, id_type I, device D>
std::tuple<LoDTensor<T, D>, Tensor<T, D>> linear_chain_crf_grad(D const& exec, LoDTensor<T, D> const& emission,
                                                                Tensor<T, D> const& transition,
                                                                Tensor<I, D> const& label,
                                                                Tensor<T, D> const& out_grad) {
    using S = detail::sum_t<T>;
    using Loops = detail::ElementLoops<D>;
    detail::check_crf(exec, emission, transition);
    detail::check_crf_labels(exec, emission, label);
    auto const offsets = detail::last_level(emission.lod());
    std::size_t const n = offsets.size() - 1, tags = transition.shape(1), rows = emission.value().shape(0);
    if (out_grad.dimension() != 2 || out_grad.shape(0) != n || out_grad.shape(1) != 1)
        throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()),
                         detail::shape_text(typename Tensor<T, D>::shape_type{n, 1}));
    Loops::check(exec, out_grad);
    std::vector<std::int64_t> sequence(rows);
    for (std::size_t s = 0; s < n; ++s)
        std::fill(sequence.begin() + offsets[s], sequence.begin() + offsets[s + 1], static_cast<std::int64_t>(s));
    detail::OnDevice<std::int64_t, D> const begins(exec, offsets), of_row(exec, sequence);
    auto alpha = Loops::template scratch<S>(exec, rows * tags), gamma = Loops::template scratch<S>(exec, rows * tags);
    auto of_rows = Loops::template scratch<S>(exec, 3 * rows);
    auto back = Loops::template scratch<T>(exec, tags * tags);
    auto parts = Loops::template scratch<S>(exec, 16 * (tags + 2) * tags);
    T const *const x = emission.value().data(), *const w = transition.data();
    Loops::each(exec, tags * tags, 1, detail::TransposeElement<T>{w + 2 * tags, back.data(), tags});
    detail::crf_scores<false>(exec, offsets, begins.data(), emission, w, w + 2 * tags, false, alpha);
    detail::crf_scores<false>(exec, offsets, begins.data(), emission, w + tags, back.data(), true, gamma);
    detail::CrfMarginals<T, I> const p{x,
                                       w,
                                       out_grad.data(),
                                       label.data(),
                                       begins.data(),
                                       of_row.data(),
                                       alpha.data(),
                                       gamma.data(),
                                       of_rows.data(),
                                       of_rows.data() + rows,
                                       of_rows.data() + 2 * rows,
                                       tags,
                                       n};
    Loops::each(exec, rows, tags, p);
    auto x_grad = detail::new_tensor<T>(exec, emission.value().shape()),
         w_grad = detail::new_tensor<T>(exec, transition.shape());
    Loops::template each_of_rows<S>(exec, rows, tags, tags, detail::CrfEmissionGrad<T, I>{p, x_grad.data()});
    Loops::template each_of_rows<S>(exec, 16 * (tags + 2), tags, rows / 16 * tags + 1,
                                    detail::CrfTransitionGrad<T, I>{p, parts.data()});
    Loops::each(exec, w_grad.size(), 16, detail::CrfPartsSum<T>{parts.data(), w_grad.size(), w_grad.data()});
    return {LoDTensor<T, D>(std::move(x_grad), emission.lod()), std::move(w_grad)};
}

template <class T, class I, class Device>
LoDTensor<T, Device> linear_chain_crf(LoDTensor<T, Device> const& emission, Tensor<T, Device> const& transition,
                                      Tensor<I, Device> const& label) {
    return linear_chain_crf(emission.device(), emission, transition, label);
}
template <class T, class I, class Device>
std::tuple<LoDTensor<T, Device>, Tensor<T, Device>> linear_chain_crf_grad(LoDTensor<T, Device> const& emission,
                                                                          Tensor<T, Device> const& transition,
                                                                          Tensor<I, Device> const& label,
                                                                          Tensor<T, Device> const& out_grad) {
    return linear_chain_crf_grad(emission.device(), emission, transition, label, out_grad);
}

/// See linear_chain_crf. The slots are the emissions x, the transitions w, and the labels, which have the levels of x or
/// none.
struct linear_chain_crf_op : detail::declared<linear_chain_crf_op> {
    using grad = gradient<linear_chain_crf_op, uses<slot::x, slot::w, slot::label, grad_of<slot::out>>,
                          makes<grad_of<slot::x>, grad_of<slot::w>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, VarSpec const& label) {
        VarSpec const of_rows = detail::crf_spec(x, w);
        detail::crf_label_spec(label, x);
        return spec::with_rows(of_rows, UNK, x.lod_level - 1);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w, LoDTensor<I, D> const& label) {
        return linear_chain_crf(exec, x, w, detail::rows_along("label", label, "emission", x.lod()));
    }

    template <class T, id_type I, class D>
    static std::tuple<LoDTensor<T, D>, Tensor<T, D>> backward(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w,
                                                              Tensor<I, D> const& label,
                                                              LoDTensor<T, D> const& out_grad) {
        return linear_chain_crf_grad(exec, x, w, label, out_grad.value());
    }
};

}  // namespace rowan::inline v0
