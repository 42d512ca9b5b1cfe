// rowan/op/detail/vector_pairs.hpp: the dot products of the pairs of an example's vectors, and their gradients.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/row_folds.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// The pairs (i, j) of n vectors with j < i, or with j <= i if `self`: (1, 0), (2, 0), (2, 1) …
struct VectorPairs {
    std::size_t n;
    bool self;

    /// The number of pairs whose first vector comes before i.
    ROWAN_HD constexpr std::size_t before(std::size_t i) const { return i * (i + 1) / 2 - (self ? 0 : i); }
    ROWAN_HD constexpr std::size_t size() const { return before(n); }
    /// The number of pairs whose first vector is i.
    ROWAN_HD constexpr std::size_t of(std::size_t i) const { return self ? i + 1 : i; }
    ROWAN_HD constexpr std::size_t at(std::size_t i, std::size_t j) const {
        return i < j ? before(j) + i : before(i) + j;
    }
};

/// a[i] · b[i]
template <class T>
struct ProductOfElements {
    T const *a, *b;

    ROWAN_FORMULA V operator()(std::size_t i) const { return product(load<V>(a + i), load<V>(b + i)); }
};

/// The dot product of two vectors, in 16 interleaved partial sums.
ROWAN_NO_EXEC_CHECK
template <class T>
ROWAN_HD sum_t<T> dot_of_pair(std::size_t width, T const* a, T const* b) {
    sum_t<T> part[16];
    interleave(part, constant<sum_t<T>>(0.0), width, add_lanes{}, ProductOfElements<T>{a, b});
    return tree_sum(part);
}

/// One element of the gradient of vector i: the sum over j, in order, of the gradient of pair (i, j) times the element
/// of vector j, the first of which is given.
ROWAN_NO_EXEC_CHECK
template <class T>
ROWAN_HD sum_t<T> grad_of_element(VectorPairs const& pairs, std::size_t i, std::size_t width, T const* element,
                                  T const* grad) {
    using S = sum_t<T>;
    S sum = constant<S>(0.0);
    for (std::size_t j = 0; j < pairs.n; ++j) {
        if (i == j && !pairs.self) continue;
        S const once = load<S>(grad + pairs.at(i, j));
        sum = plus(sum, product(i == j ? S(plus(once, once)) : once, load<S>(element + j * width)));
    }
    return sum;
}

/// Vectors of `width` numbers, a multiple of 16, one after another.
template <class S>
struct WideVectors {
    S const* data;
    std::size_t width;

    S const* at(std::size_t i) const { return data + i * width; }
};

/// dots[4 · r + c]: dot_of_pair of vectors a[r] and b[c]. With registers V, as zip_with.
template <class V, class S>
ROWAN_INLINE void dots_of_four(std::size_t width, S const* const (&a)[4], S const* const (&b)[4], S* dots) {
    constexpr std::size_t lanes = V::size, count = 16 / lanes;
    V sums[16];
    unrolled<4>([&](std::size_t r) ROWAN_INLINED {
        V parts[4][count];
        unrolled<4 * count>([&](std::size_t k) ROWAN_INLINED { parts[k / count][k % count] = constant<V>(0.0); });
        for (std::size_t i = 0; i < width; i += 16) {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                V const x = load<V>(a[r] + i + k * lanes);
                unrolled<4>([&](std::size_t c) ROWAN_INLINED {
                    parts[c][k] = plus(parts[c][k], product(x, load<V>(b[c] + i + k * lanes)));
                });
            });
        }
        unrolled<4>([&](std::size_t c) ROWAN_INLINED {
            if constexpr (count > 1) fold_halves(parts[c], add_lanes{}, std::make_index_sequence<count / 2>());
            sums[4 * r + c] = parts[c][0];
        });
    });
    add_lanes const add;
    for (std::size_t k = 0; k < 16; k += lanes) {
        fold_registers(add, sums + k);
        sums[k].store(dots + k);
    }
}

/// The dot products of all pairs of the vectors of an example, of which there are some.
template <class V, class S>
ROWAN_INLINE void dots_of_pairs(VectorPairs const& pairs, WideVectors<S> const& x, S* to) {
    if constexpr (!is_register<V>) {
        for (std::size_t i = 0; i < pairs.n; ++i)
            for (std::size_t j = 0; j < pairs.of(i); ++j) *to++ = dot_of_pair(x.width, x.at(i), x.at(j));
    } else {
        auto const four = [&](std::size_t i, S const*(&from)[4]) ROWAN_INLINED {
            for (std::size_t r = 0; r < 4; ++r) from[r] = x.at(std::min(i + r, pairs.n - 1));
        };
        S const *a[4], *b[4];
        S dots[16];
        for (std::size_t i = 0; i < pairs.n; i += 4) {
            four(i, a);
            for (std::size_t j = 0; j <= i; j += 4) {
                four(j, b);
                dots_of_four<V>(x.width, a, b, dots);
                for (std::size_t r = 0; r < std::min<std::size_t>(4, pairs.n - i); ++r) {
                    S* const row = to + pairs.before(i + r) + j;
                    if (j < i) {
                        std::copy_n(dots + 4 * r, 4, row);
                    } else {
                        std::copy_n(dots + 4 * r, pairs.of(i + r) - j, row);
                    }
                }
            }
        }
    }
}

/// grad_of_element of `count` vectors from i on.
template <class V, std::size_t count, class S>
ROWAN_INLINE void grads_of_some(VectorPairs const& pairs, std::size_t i, WideVectors<S> const& x, S const* grad,
                                S* to) {
    S const* before[count];  // the gradients of their pairs with the vectors before them
    unrolled<count>([&](std::size_t r) ROWAN_INLINED { before[r] = grad + pairs.before(i + r); });
    for (std::size_t column = 0; column < x.width; column += V::size) {
        V sums[count];
        unrolled<count>([&](std::size_t r) ROWAN_INLINED { sums[r] = constant<V>(0.0); });
        auto const vector = [&](std::size_t j) ROWAN_INLINED { return load<V>(x.at(j) + column); };
        for (std::size_t j = 0; j < i; ++j) {
            V const v = vector(j);
            unrolled<count>([&](std::size_t r) ROWAN_INLINED { sums[r] = plus(sums[r], product(V(before[r][j]), v)); });
        }
        for (std::size_t j = i; j < i + count; ++j) {
            V const v = vector(j);
            unrolled<count>([&](std::size_t r) ROWAN_INLINED {
                if (j == i + r && !pairs.self) return;
                S const g = grad[pairs.at(i + r, j)];
                sums[r] = plus(sums[r], product(V(j == i + r ? plus(g, g) : g), v));
            });
        }
        for (std::size_t j = i + count; j < pairs.n; ++j) {
            V const v = vector(j);
            S const* const g = grad + pairs.before(j) + i;
            unrolled<count>([&](std::size_t r) ROWAN_INLINED { sums[r] = plus(sums[r], product(V(g[r]), v)); });
        }
        unrolled<count>([&](std::size_t r) ROWAN_INLINED { store(sums[r], to + (i + r) * x.width + column); });
    }
}

/// The gradients of all vectors of an example.
template <class V, class S>
ROWAN_INLINE void grads_of_vectors(VectorPairs const& pairs, WideVectors<S> const& x, S const* grad, S* to) {
    if constexpr (!is_register<V>) {
        for (std::size_t k = 0; k < pairs.n * x.width; ++k)
            to[k] = grad_of_element(pairs, k / x.width, x.width, x.data + k % x.width, grad);
    } else {
        constexpr std::size_t most = 8;
        std::size_t i = 0;
        for (; i + most < pairs.n; i += most) grads_of_some<V, most>(pairs, i, x, grad, to);
        if (pairs.n >= most) return grads_of_some<V, most>(pairs, pairs.n - most, x, grad, to);  // some a second time
        for (; i < pairs.n; ++i) grads_of_some<V, 1>(pairs, i, x, grad, to);
    }
}

/// Dot products of pairs on a device. The Thrust specialization is in rowan/thrust/op/dot_interaction.hpp.
template <class D>
struct PairProducts {
    static_assert(has_backend<D>, "rowan: dot_interaction on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct PairProducts<Cpu> {
    /// There are examples, and pairs.
    template <class T>
    static void run(Cpu exec, std::size_t batch, std::size_t width, VectorPairs const& pairs, T const* x, T* out) {
        using S = sum_t<T>;
        std::size_t const size = pairs.size();
        each_example<T>(exec, batch, width, pairs, std::is_same_v<T, S> ? 0 : size,
                        [&]<class V>(as<V>, Memory<T>& memory, std::size_t k) ROWAN_INLINED {
                            WideVectors<S> const vectors = memory.template widened<V>(x + k * pairs.n * width);
                            if constexpr (std::is_same_v<T, S>) {
                                dots_of_pairs<V>(pairs, vectors, out + k * size);
                            } else {
                                dots_of_pairs<V>(pairs, vectors, memory.more.data());
                                zip_with<V>(same_number{}, size, out + k * size,
                                            static_cast<S const*>(memory.more.data()));
                            }
                        });
    }

    template <class T>
    static void grad(Cpu exec, std::size_t batch, std::size_t width, VectorPairs const& pairs, T const* x,
                     T const* grad, T* to) {
        using S = sum_t<T>;
        std::size_t const size = pairs.size(), n = pairs.n, wide = Memory<T>::rounded_up(width);
        each_example<T>(exec, batch, width, pairs, std::is_same_v<T, S> && width == wide ? 0 : size + n * wide,
                        [&]<class V>(as<V>, Memory<T>& memory, std::size_t k) ROWAN_INLINED {
                            WideVectors<S> const vectors = memory.template widened<V>(x + k * n * width);
                            T* const result = to + k * n * width;
                            if constexpr (std::is_same_v<T, S>) {
                                if (width == vectors.width)
                                    return grads_of_vectors<V>(pairs, vectors, grad + k * size, result);
                            }
                            S* const g = memory.more.data();
                            zip_with<V>(same_number{}, size, g, grad + k * size);
                            grads_of_vectors<V>(pairs, vectors, static_cast<S const*>(g), g + size);
                            for (std::size_t i = 0; i < n; ++i)
                                zip_with<V>(same_number{}, width, result + i * width,
                                            static_cast<S const*>(g + size + i * vectors.width));
                        });
    }

private:
    /// Memory of one thread: the vectors of an example, unless they can be used as they are, and what else it needs.
    template <class T>
    struct Memory {
        using S = sum_t<T>;
        std::size_t n, width;
        bool as_they_are;
        Buffer<S> vectors, more;

        Memory(std::size_t n_, std::size_t width_, std::size_t more_)
            : n(n_), width(width_), as_they_are(std::is_same_v<T, S> && width % 16 == 0),
              vectors(as_they_are ? 0 : n * rounded_up(width), constant<S>(0.0)), more(more_) {}

        static std::size_t rounded_up(std::size_t width) { return (width + 15) / 16 * 16; }

        template <class V>
        ROWAN_INLINE WideVectors<S> widened(T const* x) {
            if constexpr (std::is_same_v<T, S>) {
                if (as_they_are) return {x, width};
            }
            std::size_t const wide = rounded_up(width);
            for (std::size_t i = 0; i < n; ++i)
                zip_with<V>(same_number{}, width, vectors.data() + i * wide, x + i * width);
            return {vectors.data(), wide};
        }
    };

    /// Calls f(as<V>(), memory, k) for each example k, on several threads if there is enough work.
    template <class T, class F>
    static void each_example(Cpu exec, std::size_t batch, std::size_t width, VectorPairs const& pairs, std::size_t more,
                             F const& f) {
        using S = sum_t<T>;
        std::size_t const work = pairs.n * width + pairs.size() * (width / 8 + 2);  // of one example
        for_ranges(exec, batch, work, [&](std::size_t begin, std::size_t end) {
            Memory<T> memory(pairs.n, width, more);
            on_lanes<S>(work, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t k = begin; k < end; ++k) f(as<V>(), memory, k);
            });
        });
    }
};

ROWAN_TEMPLATE(void PairProducts<Cpu>::run(Cpu, std::size_t, std::size_t, VectorPairs const&, float const*, float*))
ROWAN_TEMPLATE(void PairProducts<Cpu>::run(Cpu, std::size_t, std::size_t, VectorPairs const&, double const*, double*))
ROWAN_TEMPLATE(void PairProducts<Cpu>::grad(Cpu, std::size_t, std::size_t, VectorPairs const&, float const*,
                                            float const*, float*))
ROWAN_TEMPLATE(void PairProducts<Cpu>::grad(Cpu, std::size_t, std::size_t, VectorPairs const&, double const*,
                                            double const*, double*))

}  // namespace rowan::inline v0::detail
