// rowan/op/loss/linear_chain_crf.hpp: linear_chain_crf, the loss of a tagger whose tags depend on their neighbours.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/crf.hpp>
#include <rowan/op/detail/crf_marginals.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>

namespace rowan::inline v0 {

template <>
struct detail::function_of<linear_chain_crf_op> {
    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition,
                               Tensor<I, D> const& label) {
        using S = sum_t<T>;
        check_crf(exec, emission, transition);
        check_crf_labels(exec, emission, label);
        auto const offsets = last_level(emission.lod());
        std::size_t const n = offsets.size() - 1, tags = transition.shape(1);
        OnDevice<std::int64_t, D> const begins(exec, offsets);
        auto alpha = ElementLoops<D>::template scratch<S>(exec, emission.value().size());
        T const *const x = emission.value().data(), *const w = transition.data();
        crf_scores<false>(exec, offsets, begins.data(), emission, w, w + 2 * tags, false, alpha);
        auto out = new_tensor<T>(exec, {n, 1});
        std::size_t const work = emission.value().size() / (n + 1) + 1;
        ElementLoops<D>::each(exec, n, work,
                              CrfLoss<T, I>{x, w, label.data(), begins.data(), alpha.data(), tags, out.data()});
        return {std::move(out), upper_levels(emission.lod())};
    }
};

template <>
struct detail::function_of<detail::backward_of<linear_chain_crf_op>> {
    template <class T, id_type I, class D>
    static std::tuple<LoDTensor<T, D>, Tensor<T, D>> run(D const& exec, LoDTensor<T, D> const& emission,
                                                         Tensor<T, D> const& transition, Tensor<I, D> const& label,
                                                         Tensor<T, D> const& out_grad) {
        using S = sum_t<T>;
        using Loops = ElementLoops<D>;
        check_crf(exec, emission, transition);
        check_crf_labels(exec, emission, label);
        auto const offsets = last_level(emission.lod());
        std::size_t const n = offsets.size() - 1, tags = transition.shape(1), rows = emission.value().shape(0);
        if (out_grad.dimension() != 2 || out_grad.shape(0) != n || out_grad.shape(1) != 1)
            throw ShapeError("out_grad.shape()", shape_text(out_grad.shape()),
                             shape_text(typename Tensor<T, D>::shape_type{n, 1}));
        Loops::check(exec, out_grad);
        std::vector<std::int64_t> sequence(rows);
        for (std::size_t s = 0; s < n; ++s)
            std::fill(sequence.begin() + offsets[s], sequence.begin() + offsets[s + 1], static_cast<std::int64_t>(s));
        OnDevice<std::int64_t, D> const begins(exec, offsets), of_row(exec, sequence);
        auto alpha = Loops::template scratch<S>(exec, rows * tags),
             gamma = Loops::template scratch<S>(exec, rows * tags);
        auto of_rows = Loops::template scratch<S>(exec, 3 * rows);
        auto back = Loops::template scratch<T>(exec, tags * tags);
        auto parts = Loops::template scratch<S>(exec, 16 * (tags + 2) * tags);
        T const *const x = emission.value().data(), *const w = transition.data();
        Loops::each(exec, tags * tags, 1, TransposeElement<T>{w + 2 * tags, back.data(), tags});
        crf_scores<false>(exec, offsets, begins.data(), emission, w, w + 2 * tags, false, alpha);
        crf_scores<false>(exec, offsets, begins.data(), emission, w + tags, back.data(), true, gamma);
        CrfMarginals<T, I> const p{x,
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
        auto x_grad = new_tensor<T>(exec, emission.value().shape()), w_grad = new_tensor<T>(exec, transition.shape());
        Loops::template each_of_rows<S>(exec, rows, tags, tags, CrfEmissionGrad<T, I>{p, x_grad.data()});
        Loops::template each_of_rows<S>(exec, 16 * (tags + 2), tags, rows / 16 * tags + 1,
                                        CrfTransitionGrad<T, I>{p, parts.data()});
        Loops::each(exec, w_grad.size(), 16, CrfPartsSum<T>{parts.data(), w_grad.size(), w_grad.data()});
        return {LoDTensor<T, D>(std::move(x_grad), emission.lod()), std::move(w_grad)};
    }
};

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
