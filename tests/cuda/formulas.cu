// tests/cuda/formulas.cu: formulas have the same bits on a device and in the processor's SIMD registers.
#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sparse/adadelta.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/adamax.hpp>
#include <rowan/sparse/ftrl.hpp>
#include <rowan/sparse/lamb.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>

#include "catch.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace {

namespace detail = rowan::detail;

/// formula(g[i], p[i]...) for all i, as for_lanes does on the processor.
template <class S, class Formula, class T, std::same_as<T>... P>
__global__ void elements(Formula formula, std::size_t n, T const* g, P*... p) {
    std::size_t const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    [&](auto... x) {
        formula(detail::load<S>(g + i), x...);
        (detail::store(x, p + i), ...);
    }(detail::load<S>(p + i)...);
}

/// One row of n elements, as rowwise_adagrad_rule does.
template <class T>
__global__ void row(detail::rowwise_adagrad_formula formula, std::size_t n, T const* g, T* p, T* m) {
    using S = detail::sum_t<T>;
    S const moment = formula.moment(detail::load<S>(m), detail::interleaved_sum<S>(n, g, detail::squared{}), n,
                                     [&] { return detail::interleaved_sum<S>(n, g, detail::small_square{}); });
    detail::store(moment, m);
    for (std::size_t i = 0; i < n; ++i) {
        S x = detail::load<S>(p + i);
        formula(detail::load<S>(g + i), formula.root(moment), x);
        detail::store(x, p + i);
    }
}

struct exponentials {
    template <class V>
    ROWAN_HD void operator()(V const& x, V& e, V& s, V& t, V& n) const {
        e = detail::exponential(x);
        s = detail::logistic(x);
        t = detail::hyperbolic_tangent(x);
        n = detail::exponential_of_negative(x);
    }
};

struct extremes {
    template <class V>
    ROWAN_HD void operator()(V const& x, V& least, V& most, V& sum) const {
        least = detail::choose(detail::more_extreme<false>{}(x, least), x, least);
        most = detail::choose(detail::more_extreme<true>{}(x, most), x, most);
        detail::add_lanes{}(detail::minus(x, least), sum);
    }
};

constexpr std::size_t count = 1003;

/// Numbers of both signs and of magnitudes from 2^-14 to 2^6; some are 0.
template <class T>
std::vector<T> numbers(std::uint32_t seed, double factor = 1, double plus = 0) {
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        double const x = std::ldexp(1 + (seed >> 8) * 0x1p-24, static_cast<int>(seed >> 3 & 0xF) * 5 / 4 - 14);
        double const y = i % 50 == 7 ? 0.0 : (seed & 1U) != 0 ? x : -x;
        all.push_back(rowan::dtype<T>::narrow(static_cast<detail::sum_t<T>>(y * factor + plus)));
    }
    return all;
}

template <class T>
std::vector<T> squares(std::uint32_t seed, double plus = 0) {
    auto all = numbers<T>(seed, 1, plus);
    for (T& x : all) {
        if (rowan::dtype<T>::widen(x) < 0) x = rowan::dtype<T>::narrow(-rowan::dtype<T>::widen(x));
    }
    return all;
}

/// A copy on the device.
template <class T>
class Copy {
public:
    explicit Copy(std::vector<T> const& from) : size_(from.size()) {
        REQUIRE(cudaMalloc(&data_, size_ * sizeof(T)) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    }
    Copy(Copy const&) = delete;
    Copy& operator=(Copy const&) = delete;
    ~Copy() { cudaFree(data_); }

    T* data() const { return data_; }
    bool has_bits_of(std::vector<T> const& other) const {
        std::vector<T> all(size_);
        REQUIRE(cudaMemcpy(all.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
        return std::memcmp(all.data(), other.data(), size_ * sizeof(T)) == 0;
    }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

template <class T, class Formula, std::same_as<T>... P>
void check(Formula const& formula, std::vector<T> const& g, std::vector<P>... p) {
    using S = detail::sum_t<T>;
    [&](Copy<T> const& device_g, Copy<P> const&... device) {
        elements<S><<<8, 128>>>(formula, count, static_cast<T const*>(device_g.data()), device.data()...);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        detail::for_lanes<S>(formula, count, g.data(), p.data()...);
        CHECK((device.has_bits_of(p) && ...));
    }(Copy<T>(g), Copy<P>(p)...);
}

}  // namespace

TEMPLATE_TEST_CASE("formulas have the processor's bits on a device", "[cuda]", float, double, rowan::float16,
                   rowan::bfloat16) {
    using T = TestType;
    auto const g = numbers<T>(1);
    auto const p = numbers<T>(2);
    auto const m = numbers<T>(3);
    auto const v = squares<T>(4);
    check(detail::sgd_formula{0.1}, g, p);
    check(detail::adagrad_formula{{}}, g, p, v);
    check(detail::adagrad_decay_formula{{.weight_decay = 0.01}, 1}, g, p, v);
    check(detail::adam_formula{{}, 1 - 0.9, 1 - 0.999}, g, p, m, v);
    check(detail::momentum_formula<false>{{}}, g, p, m);
    check(detail::momentum_formula<true>{{.weight_decay = 0.01}}, g, p, m);
    check(detail::adamax_formula{{.weight_decay = 0.01}, 0.02}, g, p, m, v);
    check(detail::adadelta_formula{{.weight_decay = 0.01}}, g, p, v, squares<T>(8));
    check(detail::lamb_formula{{{}, 1 - 0.9, 1 - 0.999}, {1, 0.1}}, g, p, m, v);
    check(detail::rmsprop_formula{{.momentum = 0.3}}, g, p, v, m);
    check(detail::rmsprop_formula{{}}, g, p, squares<T>(5, 400), numbers<T>(6, 0.1), m);
    check(detail::ftrl_formula{{.l1 = 0.1, .l2 = 0.2}}, g, p, v, m);
    check(exponentials{}, numbers<T>(7, 1.3), p, p, p, p);
}

TEMPLATE_TEST_CASE("sums along a row have the processor's bits on a device", "[cuda]", float, double, rowan::float16,
                   rowan::bfloat16) {
    using T = TestType;
    auto const g = numbers<T>(1);
    auto p = numbers<T>(2);
    std::vector<T> moment{squares<T>(3)[0]};
    Copy<T> const device_g(g), device_p(p), device_moment(moment);
    row<<<1, 1>>>(detail::rowwise_adagrad_formula{{}}, count, device_g.data(), device_p.data(), device_moment.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    if constexpr (std::same_as<T, detail::sum_t<T>>) {
        detail::rowwise_adagrad_rule<detail::rowwise_adagrad_formula>{}(std::span<T const>(g), std::span<T>(p), std::span<T>(moment));
    } else {
        std::vector<float> const wide(g.begin(), g.end());
        detail::rowwise_adagrad_rule<detail::rowwise_adagrad_formula>{}(std::span<float const>(wide), std::span<T>(p), std::span<T>(moment));
    }
    CHECK(device_p.has_bits_of(p));
    CHECK(device_moment.has_bits_of(moment));
}

TEMPLATE_TEST_CASE("extremes and differences have the processor's bits on a device", "[cuda]", float, rowan::float16,
                   std::int32_t) {
    using T = TestType;
    check(extremes{}, numbers<T>(1), numbers<T>(2), numbers<T>(3), numbers<T>(4));
}
