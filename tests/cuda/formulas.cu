// The formulas that the processor runs over SIMD registers compile for devices, for every element type.
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/matrix_rows.hpp>
#include <rowan/detail/sequences.hpp>
#include <rowan/op/sub.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/ftrl.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>

#include <cstddef>
#include <cstdint>

namespace {

namespace detail = rowan::detail;

/// One element of each array by formula(x...), all but the first of which are written back.
template <class Formula, class T, class... P>
__global__ void element(Formula formula, T const* g, P*... p) {
    using S = detail::compute_t<T, P...>;
    [&](auto... x) {
        formula(detail::load<S>(g), x...);
        (detail::store(x, p), ...);
    }(detail::load<S>(p)...);
}

/// A row of n elements, by its own moment.
template <class T>
__global__ void row(detail::rowwise_adagrad_formula formula, std::size_t n, T const* g, T* p, T* m) {
    using S = detail::sum_t<T>;
    S const moment = formula.moment(detail::load<S>(m), detail::interleaved_sum<S>(n, g, detail::squared{}), n);
    detail::store(moment, m);
    for (std::size_t i = 0; i < n; ++i) {
        S x = detail::load<S>(p + i);
        formula(detail::load<S>(g + i), formula.root(moment), x);
        detail::store(x, p + i);
    }
}

struct exponentials {
    template <class V>
    __device__ void operator()(V const& x, V& e, V& s, V& t, V& n) const {
        e = detail::exponential(x);
        s = detail::logistic(x);
        t = detail::hyperbolic_tangent(x);
        n = detail::exponential_of_negative(x);
    }
};

struct extremes {
    template <class V>
    __device__ void operator()(V const& x, V& least, V& most, V& sum) const {
        least = detail::choose(detail::more_extreme<false>{}(x, least), x, least);
        most = detail::choose(detail::more_extreme<true>{}(x, most), x, most);
        detail::add_lanes{}(detail::minus(x, least), sum);
    }
};

template <class T>
void launch(T* x) {
    element<<<1, 1>>>(detail::sgd_formula{}, x, x);
    element<<<1, 1>>>(detail::adagrad_formula{}, x, x, x);
    element<<<1, 1>>>(detail::adam_formula{}, x, x, x, x);
    element<<<1, 1>>>(detail::momentum_formula<false>{}, x, x, x);
    element<<<1, 1>>>(detail::momentum_formula<true>{}, x, x, x);
    element<<<1, 1>>>(detail::rmsprop_formula{}, x, x, x, x);
    element<<<1, 1>>>(detail::rmsprop_formula{}, x, x, x, x, x);
    element<<<1, 1>>>(detail::ftrl_formula{}, x, x, x, x);
    row<<<1, 1>>>(detail::rowwise_adagrad_formula{}, 1, x, x, x);
    element<<<1, 1>>>(exponentials{}, x, x, x, x, x);
    element<<<1, 1>>>(extremes{}, x, x, x, x);
}

void compile() {
    launch<float>(nullptr);
    launch<double>(nullptr);
    launch<rowan::float16>(nullptr);
    launch<rowan::bfloat16>(nullptr);
    element<<<1, 1>>>(extremes{}, static_cast<std::int32_t*>(nullptr), static_cast<std::int32_t*>(nullptr),
                      static_cast<std::int32_t*>(nullptr), static_cast<std::int32_t*>(nullptr));
}

[[maybe_unused]] auto const used = &compile;

}  // namespace
