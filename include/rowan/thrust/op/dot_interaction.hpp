// rowan/thrust/op/dot_interaction.hpp: dot_interaction on a device.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/vector_pairs.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// The dot product of one pair of vectors of an example.
template <class T>
struct DotOfPair {
    VectorPairs pairs;
    std::size_t width;
    T const* x;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        std::size_t const example = k / pairs.size(), pair = k % pairs.size();
        std::size_t i = 0;
        while (pairs.before(i + 1) <= pair) ++i;
        T const* const vectors = x + example * pairs.n * width;
        store(dot_of_pair(width, vectors + i * width, vectors + (pair - pairs.before(i)) * width), to + k);
    }
};

/// One element of the gradient of x.
template <class T>
struct GradOfElement {
    VectorPairs pairs;
    std::size_t width;
    T const *x, *grad;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        std::size_t const vector = k / width, example = vector / pairs.n;
        T const *const element = x + example * pairs.n * width + k % width, *const g = grad + example * pairs.size();
        store(grad_of_element(pairs, vector % pairs.n, width, element, g), to + k);
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
        launch(exec, batch * pairs.n * width, GradOfElement<T>{pairs, width, x, grad, to});
    }
};

}  // namespace rowan::inline v0::detail
