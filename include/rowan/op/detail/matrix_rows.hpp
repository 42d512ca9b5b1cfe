// rowan/op/detail/matrix_rows.hpp: row-wise computations on matrices: maxima, exponentials and sums.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/softmax_formulas.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

namespace rowan::inline v0::detail {

/// The largest of n > 0 numbers, 0 with either sign; NaN if the first one is NaN, other NaNs are ignored. With registers V, as zip_with.
template <class V, class T>
ROWAN_INLINE auto largest(std::size_t n, T const* x) {
    using S = typename lane_of<V>::type;
    S most[16];
    take_larger const take;
    interleave_with<V>(most, load<S>(x), n, take, MappedElement<T, same_number>{x, {}});
    return fold_tree(most, take);
}

/// Writes exp(x - greatest) and returns the sum of the results. With registers V, as zip_with.
template <class V, class S, class T>
ROWAN_INLINE S exponentials(std::size_t n, T const* x, S const& greatest, S* e) {
    zip_with<V>([&]<class U>(U const& a) ROWAN_INLINED { return exponential_of_negative(U(a - U(greatest))); }, n, e,
                x);
    return sum_with<V>(n, e);
}

/// Passed as `done` of MatrixRows::results if only the results are needed.
struct NothingMore {
    template <class S>
    ROWAN_HD void operator()(std::size_t, S const&, S const&) const {}
};

/// Computes row by row on a device. The Thrust specialization is in rowan/thrust/op/detail/matrix_rows.hpp.
template <class D>
struct MatrixRows {
    static_assert(has_backend<D>, "rowan: softmax on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct MatrixRows<Cpu> {
    static constexpr std::size_t most_lanes = 64;  // of which the exponentials stay in the cache

    /// Writes the results of a rule, such as softmax_rule, along an axis of x: of rows, or of [outer, classes, inner].
    template <class Rule, class Rows, class T>
    static Tensor<T> along(Cpu exec, Rows const& c, Tensor<T> const& x) {
        if (c.inner < 16)
            return c.map(
                exec, [&](T const* from, T* to) { results<Rule>(exec, c.n, c.classes, from, to, NothingMore{}); }, x);
        auto out = new_tensor<T>(exec, x.shape());
        if (out.size() != 0) results_apart<Rule>(exec, c.n / c.inner, c.classes, c.inner, x.data(), out.data());
        return out;
    }

    /// Writes the results of n rows, and calls done(row, maximum, sum of the exponentials) for each.
    template <class Rule, class T, class Done>
    static void results(Cpu exec, std::size_t n, std::size_t classes, T const* x, T* to, Done const& done) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes);
            on_lanes<S>(classes, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t i = begin; i < end; ++i) {
                    T const* const row = x + i * classes;
                    S const greatest = largest<V>(classes, row);
                    S const total = exponentials<V>(classes, row, greatest, e.data()), norm = Rule::norm(total);
                    auto const result = [&]<class U>(U const& a, U const& b)
                                            ROWAN_INLINED { return Rule::result(a, b, U(greatest), U(norm)); };
                    zip_with<V>(result, classes, to + i * classes, row, e.data());
                    done(i, greatest, total);
                }
            });
        });
    }

    /// Writes the gradients of n rows from the results and their gradients.
    template <class Rule, class T>
    static void slopes(Cpu exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            on_lanes<S>(classes, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t at = begin * classes; at < end * classes; at += classes) {
                    auto const term = [&]<class U>(std::size_t i) ROWAN_INLINED {
                        return Rule::term(load<U>(y + at + i), load<U>(g + at + i));
                    };
                    S part[16];
                    interleave_with<V>(part, constant<S>(0.0), classes, add_lanes{}, term);
                    S const sum = tree_sum(part);
                    auto const slope = [&]<class U>(U const& a, U const& b)
                                           ROWAN_INLINED { return Rule::slope(a, b, U(sum)); };
                    zip_with<V>(slope, classes, to + at, y + at, g + at);
                }
            });
        });
    }

    /// to[row] = Σ a · b
    template <class T>
    static void dots(Cpu exec, std::size_t n, std::size_t width, T const* a, T const* b, sum_t<T>* to) {
        sum_rows(exec, n, width, a, b, to, [](std::size_t) { return multiplied{}; });
    }

    /// to = p · grads(row), except (p - 1) · grads(row) at the label.
    template <class T, class I, class Grads>
    static void label_grad(Cpu exec, std::size_t n, std::size_t classes, T const* p, I const* label, Grads const& grads,
                           T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                T const* const row = p + i * classes;
                if (grads.ignores(i)) {  // whatever its elements are
                    std::fill_n(to + i * classes, classes, dtype<T>::narrow(constant<S>(0.0)));
                    continue;
                }
                S const g = grads(i);
                auto const times = [&]<class V>(V const& a) ROWAN_INLINED { return product(a, V(g)); };
                map_lanes<S>(times, classes, row, to + i * classes);
                auto const k = static_cast<std::size_t>(label[i]);
                store(times(S(load<S>(row + k) - constant<S>(1.0))), to + i * classes + k);
            }
        });
    }

    /// losses[row] = Σ soft_label_loss
    template <class T>
    static void soft_losses(Cpu exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                            sum_t<T> const* greatest, sum_t<T> const* logs, sum_t<T>* losses) {
        sum_rows(exec, n, classes, x, label, losses, [=](std::size_t row) {
            return [most = greatest[row], log = logs[row]]<class V>(V const& a, V const& share)
                       ROWAN_INLINED { return soft_label_loss{}(a, share, V(most), V(log)); };
        });
    }

    /// to = (p · Σ label - label) · grads(row)
    template <class T, class Grads>
    static void soft_label_grad(Cpu exec, std::size_t n, std::size_t classes, T const* p, sum_t<T> const* label,
                                Grads const& grads, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * classes;
                S const total = interleaved_sum<S>(classes, label + at);
                S const g = grads(i);
                auto const slope = [&]<class V>(V const& a, V const& share)
                                       ROWAN_INLINED { return soft_label_slope{}(a, share, V(total), V(g)); };
                zip_lanes<S>(slope, classes, to + at, p + at, label + at);
            }
        });
    }

    /// losses[row] = 0 - Σ weighed_logarithm
    template <class T>
    static void soft_probability_losses(Cpu exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                                        sum_t<T>* losses) {
        using S = sum_t<T>;
        sum_rows(exec, n, classes, x, label, losses, [](std::size_t) { return weighed_logarithm{}; });
        map_lanes<S>([]<class V>(V const& a) ROWAN_INLINED { return constant<V>(0.0) - a; }, n, losses, losses);
    }

private:
    /// to[row] = Σ term(row)(a, b)
    template <class T, class B, class Term>
    static void sum_rows(Cpu exec, std::size_t n, std::size_t width, T const* a, B const* b, sum_t<T>* to,
                         Term const& term) {
        using S = sum_t<T>;
        for_ranges(exec, n, width, [&](std::size_t begin, std::size_t end) {
            Buffer<S> terms(width);
            for (; begin < end; ++begin) {
                zip_lanes<S>(term(begin), width, terms.data(), a + begin * width, b + begin * width);
                to[begin] = interleaved_sum<S>(width, terms.data());
            }
        });
    }
    /// Writes the results along the middle axis of [outer, classes, inner], with the bits of `results`.
    template <class Rule, class T>
    static void results_apart(Cpu exec, std::size_t outer, std::size_t classes, std::size_t inner, T const* x, T* to) {
        using S = sum_t<T>;
        constexpr std::size_t most = most_lanes;
        std::size_t const pieces = (inner + most - 1) / most;
        for_ranges(exec, outer * pieces, classes * std::min(inner, most), [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes * most), parts(16 * most), greatest(most);
            on_lanes<S>(inner, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t i = begin; i < end; ++i) {
                    std::size_t const lane = i % pieces * most, lanes = std::min(most, inner - lane);
                    std::size_t const first = i / pieces * classes * inner + lane;
                    results_of_lanes<V, Rule>(lanes, classes, inner, x + first, e.data(), parts.data(), greatest.data(),
                                              to + first);
                }
            });
        });
    }
    /// The same of some lanes, whose elements are `inner` apart. The arrays have room for `most_lanes` of each class, of
    /// 16 parts, and for one.
    template <class V, class Rule, class S, class T>
    ROWAN_INLINE static void results_of_lanes(std::size_t lanes, std::size_t classes, std::size_t inner, T const* x,
                                              S* e, S* parts, S* greatest, T* to) {
        constexpr std::size_t most = most_lanes;
        S const *const terms = e, *const sums = parts, *const g = greatest;
        zip_with<V>(same_number{}, lanes, greatest, x);
        for (std::size_t k = 1; k < classes; ++k) for_with<V>(take_larger{}, lanes, x + k * inner, greatest);
        std::fill_n(parts, 16 * most, constant<S>(0.0));
        auto const exponential = []<class U>(U const& a, U const& b)
                                     ROWAN_INLINED { return exponential_of_negative(U(a - b)); };
        for (std::size_t k = 0; k < classes; ++k) {
            zip_with<V>(exponential, lanes, e + k * most, x + k * inner, g);
            for_with<V>(add_lanes{}, lanes, terms + k * most, parts + k % 16 * most);
        }
        for (std::size_t half = 8; half != 0; half /= 2) {
            for (std::size_t k = 0; k < half; ++k)
                for_with<V>(add_lanes{}, lanes, sums + (k + half) * most, parts + k * most);
        }
        zip_with<V>([]<class U>(U const& a) ROWAN_INLINED { return Rule::norm(a); }, lanes, parts, sums);
        auto const result = []<class U>(U const& a, U const& b, U const& c, U const& d)
                                ROWAN_INLINED { return Rule::result(a, b, c, d); };
        for (std::size_t k = 0; k < classes; ++k)
            zip_with<V>(result, lanes, to + k * inner, x + k * inner, terms + k * most, g, sums);
    }
};

}  // namespace rowan::inline v0::detail
