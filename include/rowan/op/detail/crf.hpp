// rowan/op/detail/crf.hpp: scores of the paths of linear-chain conditional random fields.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <span>

namespace rowan::inline v0::detail {

/// The largest of n > 0 scores.
ROWAN_NO_EXEC_CHECK
template <class S, class T>
ROWAN_HD S largest_score(std::size_t n, T const* x) {
    S most = load<S>(x);
    for (std::size_t i = 1; i < n; ++i) take_larger{}(load<S>(x + i), most);
    return most;
}

/// x if it is finite, else 0
ROWAN_FORMULA V finite_or_zero(V const& x) {
    V const zero = constant<V>(0.0);
    return choose(not_above(V(x - x), zero), x, zero);
}

/// log(Σ exp(x(i))) over n > 0 terms, in order. It is -infinity if all terms are.
ROWAN_NO_EXEC_CHECK
template <class S, class X>
ROWAN_HD S log_sum_exp(std::size_t n, X const& x) {
    S most = x(0), total = constant<S>(0.0);
    for (std::size_t i = 1; i < n; ++i) take_larger{}(x(i), most);
    S const shift = finite_or_zero(most);
    for (std::size_t i = 0; i < n; ++i) total = plus(total, exponential_of_negative(S(x(i) - shift)));
    return shift + logarithm(total);
}

/// Step t of all sequences: the scores of the paths that end in row t of a sequence, or begin there from the end, by the
/// tag of this row. With `best`, it is that of the best path. Else it is log of the sum of their exponentials, less the
/// largest scores of all rows before, and emissions are relative to the largest one of their row: the loss and marginals
/// are those of the emissions, and more accurate.
template <class T, bool best>
struct CrfStep {
    using S = sum_t<T>;
    T const *x, *ends, *weights;  // emissions [rows, tags], scores of the first row, and [from, to]
    std::int64_t const* offsets;
    S* scores;
    std::size_t tags;
    bool reverse;
    std::size_t t = 0;

    ROWAN_FORMULA void at(std::size_t s, std::size_t column) const {
        auto const begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
        if (t >= end - begin) return;
        std::size_t const row = reverse ? end - 1 - t : begin + t;
        V own = load<V>(x + row * tags + column);
        if constexpr (!best) own = own - V(largest_score<S>(tags, x + row * tags));
        S* const to = scores + row * tags + column;
        if (t == 0) return store(V(own + load<V>(ends + column)), to);
        S const* const before = scores + (reverse ? row + 1 : row - 1) * tags;
        auto const via = [&](std::size_t i) { return V(V(before[i]) + load<V>(weights + i * tags + column)); };
        V most = via(0);
        for (std::size_t i = 1; i < tags; ++i) take_larger{}(via(i), most);
        if constexpr (best) {
            store(V(own + most), to);
        } else {
            V const shift = finite_or_zero(most);
            V total = constant<V>(0.0);
            for (std::size_t i = 0; i < tags; ++i) total = plus(total, exponential_of_negative(V(via(i) - shift)));
            store(V(own + ((shift - V(largest_score<S>(tags, before))) + logarithm(total))), to);
        }
    }
};

/// Runs the steps of all sequences on a device. The Thrust specialization is in rowan/thrust/op/crf.hpp.
template <class D>
struct CrfSteps {
    static_assert(has_backend<D>, "rowan: conditional random fields on a Thrust device need <rowan/thrust/op.hpp>");
};

template <>
struct CrfSteps<Cpu> {
    template <class T, bool best>
    static void run(Cpu exec, std::span<std::int64_t const> offsets, CrfStep<T, best> const& step) {
        for_sequences(exec, offsets, step.tags * step.tags, [&](std::size_t s, std::size_t end) {
            auto own = step;
            for (; s < end; ++s) {
                for (own.t = 0; own.t < length_at(offsets, s); ++own.t)
                    each_lane<sum_t<T>>(own.tags,
                                        [&]<class V>(std::size_t j) ROWAN_INLINED { own.template at<V>(s, j); });
            }
        });
    }
};

/// The scores of all paths to each row, from the start or, in reverse, from the end.
template <bool best, class T, class D, class Scores>
void crf_scores(D const& exec, std::span<std::int64_t const> offsets, std::int64_t const* on_device,
                LoDTensor<T, D> const& x, T const* ends, T const* weights, bool reverse, Scores& to) {
    std::size_t const tags = x.value().shape(1);
    CrfSteps<D>::run(exec, offsets,
                     CrfStep<T, best>{x.value().data(), ends, weights, on_device, to.data(), tags, reverse});
}

/// Checks emissions [rows, tags] with levels and transitions [tags + 2, tags].
template <class T, class D>
void check_crf(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition) {
    static_assert(floating_element<T>, "rowan: conditional random fields need a floating-point type: convert x");
    check_sequences(exec, "emission", emission);
    check_rank("emission", emission.value(), 2);
    std::size_t const tags = emission.value().shape(1);
    if (tags == 0) throw ShapeError("emission.shape(1)", "0", "at least 1");
    check_rank("transition", transition, 2);
    if (transition.shape(0) != tags + 2 || transition.shape(1) != tags)
        throw ShapeError("transition.shape()", shape_text(transition.shape()),
                         shape_text(typename Tensor<T, D>::shape_type{tags + 2, tags}));
    ElementLoops<D>::check(exec, emission.value(), transition);
}

/// Checks that there is a label in [0, tags) for each row.
template <class I, class T, class D>
void check_crf_labels(D const& exec, LoDTensor<T, D> const& emission, Tensor<I, D> const& label) {
    std::size_t const rows = emission.value().shape(0);
    if (label.dimension() == 0 || label.shape(0) != rows || label.size() != rows)
        throw ShapeError("label.shape()", shape_text(label.shape()), {"[", rows, "] or the same with a dim of 1"});
    ElementLoops<D>::check(exec, label);
    ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(emission.value().shape(1)));
}

/// Checks the specs of emissions and transitions, and returns the spec of a result of one element per row.
constexpr VarSpec crf_spec(VarSpec const& x, VarSpec const& w) {
    spec::matrix("crf: x", x);
    spec::has_levels("crf: x", x);
    spec::matrix("crf: w", w);
    spec::same_dtype("crf: w", w, x);
    std::int64_t const tags = spec::same_dim("crf: w.shape(1)", w.dims[1], x.dims[1]);
    spec::same_dim("crf: w.shape(0)", w.dims[0], spec::plus("crf: x", 1, tags, 2));
    return spec::with_dims(x, {x.dims[0], 1}, x.lod_level);
}

/// Checks the spec of labels, one per row, with the levels of x or none.
constexpr void crf_label_spec(VarSpec const& label, VarSpec const& x) {
    spec::dense("crf: label", label);
    spec::ids("crf: label", label);
    if (label.dims.size() != 2) spec::rank("crf: label", label, 1, "1, or 2 with a dim of 1");
    if (label.dims.size() == 2) spec::same_dim("crf: label.shape(1)", label.dims[1], 1);
    spec::same_dim("crf: label.shape(0)", label.dims[0], x.dims[0]);
    if (label.lod_level != 0) spec::same_levels("crf: label", label, x);
}

}  // namespace rowan::inline v0::detail
