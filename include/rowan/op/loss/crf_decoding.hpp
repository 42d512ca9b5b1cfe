// rowan/op/loss/crf_decoding.hpp: crf_decoding, the best tags of sequences in a conditional random field.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/op/detail/crf.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/lod_tensor.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Follows the best path of sequence s back from its end. Writes its tags, or whether they are the labels; -1 or 0 if a
/// score or a transition is NaN.
template <class T, class I>
struct CrfPath {
    using S = sum_t<T>;
    T const* w;
    std::int64_t const* offsets;
    S const* scores;
    I const* label;
    std::size_t tags;
    std::int64_t* to;

    /// The first tag whose score plus its element of a column or row of transitions is the largest.
    ROWAN_KERNEL std::size_t best(S const* score, T const* transition, std::size_t stride) const {
        std::size_t found = 0;
        S most = score[0] + load<S>(transition);
        for (std::size_t i = 1; i < tags; ++i) {
            S const next = score[i] + load<S>(transition + i * stride);
            if (!(next > most)) continue;
            most = next;
            found = i;
        }
        return found;
    }

    ROWAN_KERNEL void operator()(std::size_t s) const {
        auto const begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
        for (std::size_t i = begin * tags; i < end * tags; ++i) {
            if (unordered(scores[i])) return no_path(begin, end);
        }
        for (std::size_t i = 0; begin != end && i < (tags + 2) * tags; ++i) {
            if (unordered(load<S>(w + i))) return no_path(begin, end);
        }
        std::size_t tag = 0;
        for (std::size_t row = end; row-- != begin;) {
            S const* const score = scores + row * tags;
            tag = row + 1 == end ? best(score, w + tags, 1) : best(score, w + 2 * tags + tag, tags);
            auto const number = static_cast<std::int64_t>(tag);
            to[row] = label == nullptr ? number : static_cast<std::int64_t>(label[row]) == number ? 1 : 0;
        }
    }

private:
    ROWAN_HD void no_path(std::size_t begin, std::size_t end) const {
        for (std::size_t row = begin; row < end; ++row) to[row] = label == nullptr ? -1 : 0;
    }
};

template <class I, class T, class D>
LoDTensor<std::int64_t, D> crf_path(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition,
                                    I const* label) {
    using S = sum_t<T>;
    auto const offsets = last_level(emission.lod());
    std::size_t const n = offsets.size() - 1, tags = transition.shape(1);
    OnDevice<std::int64_t, D> const begins(exec, offsets);
    auto scores = ElementLoops<D>::template scratch<S>(exec, emission.value().size());
    T const* const w = transition.data();
    crf_scores<true>(exec, offsets, begins.data(), emission, w, w + 2 * tags, false, scores);
    auto path = new_tensor<std::int64_t>(exec, {emission.value().shape(0), 1});
    ElementLoops<D>::each(exec, n, emission.value().size() / (n + 1) + 1,
                          CrfPath<T, I>{w, begins.data(), scores.data(), label, tags, path.data()});
    return {std::move(path), emission.lod()};
}

}  // namespace detail

template <>
struct detail::function_of<crf_decoding_op> {
    template <class T, class D>
    static LoDTensor<std::int64_t, D> run(D const& exec, LoDTensor<T, D> const& emission,
                                          Tensor<T, D> const& transition) {
        check_crf(exec, emission, transition);
        return crf_path<std::int64_t>(exec, emission, transition, static_cast<std::int64_t const*>(nullptr));
    }

    template <class T, id_type I, class D>
    static LoDTensor<std::int64_t, D> run(D const& exec, LoDTensor<T, D> const& emission,
                                          Tensor<T, D> const& transition, Tensor<I, D> const& label) {
        check_crf(exec, emission, transition);
        check_crf_labels(exec, emission, label);
        return crf_path<I>(exec, emission, transition, label.data());
    }
};

/// See crf_decoding. The slots are the emissions x and the transitions w.
struct crf_decoding_op : detail::declared<crf_decoding_op> {
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w) {
        VarSpec out = detail::crf_spec(x, w);
        out.dtype = dtype<std::int64_t>::wire;
        return out;
    }

    template <class T, class D>
    static LoDTensor<std::int64_t, D> run(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w) {
        return crf_decoding(exec, x, w);
    }
};

/// See crf_decoding with labels, which have the levels of x or none.
struct crf_matches_op : detail::declared<crf_matches_op> {
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, VarSpec const& label) {
        detail::crf_label_spec(label, x);
        return crf_decoding_op::infer(x, w);
    }

    template <class T, id_type I, class D>
    static LoDTensor<std::int64_t, D> run(D exec, LoDTensor<T, D> const& x, Tensor<T, D> const& w,
                                          LoDTensor<I, D> const& label) {
        return crf_decoding(exec, x, w, detail::rows_along("label", label, "emission", x.lod()));
    }
};

}  // namespace rowan::inline v0
