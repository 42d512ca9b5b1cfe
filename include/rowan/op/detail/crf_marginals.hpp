// rowan/op/detail/crf_marginals.hpp: the losses and gradients of conditional random fields, from the scores of paths.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/crf.hpp>
#include <rowan/op/detail/matrix_rows.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The loss of sequence s: log of the sum over all paths, less the score of the labels; 0 if it is empty.
template <class T, class I>
struct CrfLoss {
    using S = sum_t<T>;
    T const *x, *w;
    I const* label;
    std::int64_t const* offsets;
    S const* alpha;
    std::size_t tags;
    T* losses;

    ROWAN_KERNEL void operator()(std::size_t s) const {
        auto const begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
        S loss = constant<S>(0.0);
        for (std::size_t row = begin; row < end; ++row) {
            auto const k = static_cast<std::size_t>(label[row]);
            std::size_t const from = row == begin ? 0 : 2 + static_cast<std::size_t>(label[row - 1]);
            S const emission = load<S>(x + row * tags + k) - largest_score<S>(tags, x + row * tags);
            S const own = emission + load<S>(w + from * tags + k);
            if (row + 1 < end) {
                loss = loss + (largest_score<S>(tags, alpha + row * tags) - own);
            } else {
                auto const last = [&](std::size_t i) { return S(alpha[row * tags + i] + load<S>(w + tags + i)); };
                loss = loss + (log_sum_exp<S>(tags, last) - (own + load<S>(w + tags + k)));
            }
        }
        store(loss, losses + s);
    }
};

/// The probability of each tag of a row, and of each pair of tags of adjacent rows. `gamma` are the scores from the end.
template <class T, class I>
struct CrfMarginals {
    using S = sum_t<T>;
    T const *x, *w, *out_grad;
    I const* label;
    std::int64_t const *offsets, *sequence;  // of each row
    S const *alpha, *gamma;
    // of each row: log of the sum of the scores of its tags, the largest alpha, and the largest emission
    S *norms, *greatest, *highest;
    std::size_t tags, n;

    ROWAN_FORMULA V score(std::size_t row, std::size_t tag) const {
        std::size_t const at = row * tags + tag;
        V const own = load<V>(x + at) - V(highest[row]);
        return V(load<V>(alpha + at) + (load<V>(gamma + at) - own));
    }
    ROWAN_FORMULA V of_tag(std::size_t row, std::size_t tag) const {
        return exponential_of_negative(V(score<V>(row, tag) - V(norms[row])));
    }
    ROWAN_FORMULA V of_pair(std::size_t row, std::size_t from, std::size_t tag) const {
        S const before = alpha[(row - 1) * tags + from] - greatest[row - 1];
        V const way = V(before) + load<V>(w + (2 + from) * tags + tag);
        return exponential_of_negative(V(way + (load<V>(gamma + row * tags + tag) - V(norms[row]))));
    }

    /// Computes the norm of a row.
    ROWAN_KERNEL void operator()(std::size_t row) const {
        highest[row] = largest_score<S>(tags, x + row * tags);
        norms[row] = log_sum_exp<S>(tags, [&](std::size_t tag) { return score<S>(row, tag); });
        greatest[row] = largest_score<S>(tags, alpha + row * tags);
    }
};

/// The gradient of the emissions: out_grad · (probability - 1 at the label)
template <class T, class I>
struct CrfEmissionGrad {
    CrfMarginals<T, I> p;
    T* to;

    ROWAN_FORMULA void at(std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        S const g = load<S>(p.out_grad + p.sequence[row]);
        T* const out = to + row * p.tags;
        store(product(p.template of_tag<V>(row, column), V(g)), out + column);
        auto const k = static_cast<std::size_t>(p.label[row]);
        if (k < column || k >= column + lanes_in<V>) return;
        store(product(S(p.template of_tag<S>(row, k) - constant<S>(1.0)), g), out + k);
    }
};

/// Part u / (tags + 2) of row u % (tags + 2) of the gradient of the transitions: that of every 16th sequence.
template <class T, class I>
struct CrfTransitionGrad {
    using S = sum_t<T>;
    CrfMarginals<T, I> p;
    S* parts;

    ROWAN_FORMULA void at(std::size_t u, std::size_t column) const {
        std::size_t const part = u / (p.tags + 2), from = u % (p.tags + 2);
        S* const to = parts + u * p.tags;
        V sum = constant<V>(0.0);
        for (std::size_t s = part; s < p.n; s += 16) {
            auto const begin = static_cast<std::size_t>(p.offsets[s]), end = static_cast<std::size_t>(p.offsets[s + 1]);
            if (begin == end) continue;
            V const g(load<S>(p.out_grad + s));
            if (from < 2) {
                V const probability = p.template of_tag<V>(from == 0 ? begin : end - 1, column);
                sum = plus(sum, product(probability, g));
                continue;
            }
            V pairs = constant<V>(0.0);
            for (std::size_t row = begin + 1; row < end; ++row)
                pairs = plus(pairs, p.template of_pair<V>(row, from - 2, column));
            sum = plus(sum, product(pairs, g));
        }
        store(sum, to + column);
        for (std::size_t s = part; s < p.n; s += 16) {
            auto const begin = static_cast<std::size_t>(p.offsets[s]), end = static_cast<std::size_t>(p.offsets[s + 1]);
            S const g = load<S>(p.out_grad + s);
            for (std::size_t row = begin; row < end; ++row) {
                bool const here = from == 0   ? row == begin
                                  : from == 1 ? row + 1 == end
                                              : row != begin && static_cast<std::size_t>(p.label[row - 1]) == from - 2;
                auto const k = static_cast<std::size_t>(p.label[row]);
                if (here && k >= column && k < column + lanes_in<V>) to[k] = to[k] - g;
            }
        }
    }
};

/// Adds the 16 parts of an element.
template <class T>
struct CrfPartsSum {
    using S = sum_t<T>;
    S const* parts;
    std::size_t size;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        S part[16];
        for (std::size_t k = 0; k < 16; ++k) part[k] = parts[k * size + i];
        store(tree_sum(part), to + i);
    }
};

/// to[j, i] = from[i, j]
template <class T>
struct TransposeElement {
    T const* from;
    T* to;
    std::size_t size;
    ROWAN_HD void operator()(std::size_t k) const { to[k % size * size + k / size] = from[k]; }
};

}  // namespace rowan::inline v0::detail
