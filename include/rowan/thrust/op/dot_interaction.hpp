// rowan/thrust/op/dot_interaction.hpp: dot_interaction on a device.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/op/detail/vector_pairs.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// a[i] · b[i]
template <class T>
struct ProductOfElements {
    T const *a, *b;

    ROWAN_FORMULA V operator()(std::size_t i) const { return product(load<V>(a + i), load<V>(b + i)); }
};

/// The dot product of one pair of vectors of an example.
template <class T>
struct DotOfPair {
    VectorPairs pairs;
    std::size_t width;
    T const* x;
    T* to;

    ROWAN_HD void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const example = k / pairs.size(), pair = k % pairs.size();
        std::size_t i = 0;
        while (pairs.before(i + 1) <= pair) ++i;
        T const *const vectors = x + example * pairs.n * width, *const other =
                                                                    vectors + (pair - pairs.before(i)) * width;
        S part[16];
        interleave(part, constant<S>(0.0), width, add_lanes{}, ProductOfElements<T>{vectors + i * width, other});
        store(tree_sum(part), to + k);
    }
};

/// One element of the gradient of x.
template <class T>
struct GradOfVectors {
    VectorPairs pairs;
    std::size_t width;
    T const *x, *grad;
    T* to;

    ROWAN_HD void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const vector = k / width, example = vector / pairs.n, i = vector % pairs.n;
        T const *const column = x + example * pairs.n * width + k % width, *const g = grad + example * pairs.size();
        S sum = constant<S>(0.0);
        for (std::size_t j = 0; j < pairs.n; ++j) {
            if (i == j && !pairs.self) continue;
            S const once = load<S>(g + pairs.at(i, j));
            sum = plus(sum, product(i == j ? plus(once, once) : once, load<S>(column + j * width)));
        }
        store(sum, to + k);
    }
};

template <class System>
struct PairProducts<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, std::size_t batch, std::size_t width, VectorPairs const& pairs, T const* x,
                    T* out) {
        launch(exec, batch * pairs.size(), DotOfPair<T>{pairs, width, x, out});
    }

    template <class T>
    static void grad(Exec const& exec, std::size_t batch, std::size_t width, VectorPairs const& pairs, T const* x,
                     T const* grad, T* to) {
        launch(exec, batch * pairs.n * width, GradOfVectors<T>{pairs, width, x, grad, to});
    }
};

}  // namespace rowan::inline v0::detail
