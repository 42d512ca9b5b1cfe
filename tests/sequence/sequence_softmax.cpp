// tests/sequence/sequence_softmax.cpp: weights of rows that sum to 1 in each sequence, and their gradient.
#include <rowan/sequence/sequence_softmax.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

// A number whose exponential has base 2, found by argument-dependent lookup.
struct base2 {
    double v = 0;
    base2() = default;
    explicit base2(double value) : v(value) {}
    friend base2 operator+(base2 a, base2 b) { return base2(a.v + b.v); }
    friend base2 operator-(base2 a, base2 b) { return base2(a.v - b.v); }
    friend base2 operator*(base2 a, base2 b) { return base2(a.v * b.v); }
    friend base2 operator/(base2 a, base2 b) { return base2(a.v / b.v); }
    friend bool operator<(base2 a, base2 b) { return a.v < b.v; }
    friend bool operator>(base2 a, base2 b) { return a.v > b.v; }
    friend base2 exp(base2 a) { return base2(std::exp2(a.v)); }
};

}  // namespace test

template <>
struct rowan::dtype<test::base2> {
    using sum = test::base2;
    static constexpr std::string_view name = "base2";
    static constexpr std::int32_t wire = 1004;
    static sum widen(test::base2 x) { return x; }
    static test::base2 narrow(sum x) { return x; }
};

namespace test_sequence_softmax {

using namespace ragged;
using rowan::bfloat16, rowan::sequence_softmax, rowan::sequence_softmax_grad, rowan::ShapeError;

namespace {

template <class T>
LoDTensor<T> plain_softmax(LoDTensor<T> const& x) {
    using S = typename dtype<T>::sum;
    auto out = Tensor<T>::from_shape(x.shape());
    each_sequence(x.lod(), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::size_t k = 0; k < out.row_size() && begin != end; ++k) {
            S most = at(x.value(), begin, k);
            for (std::int64_t i = begin; i < end; ++i) most = at(x.value(), i, k) > most ? at(x.value(), i, k) : most;
            std::vector<S> e;
            for (std::int64_t i = begin; i < end; ++i) e.push_back(rowan::detail::exponential_of_negative(S(at(x.value(), i, k) - most)));
            S const sum = reference::block_sum(e);
            for (std::int64_t i = begin; i < end; ++i) put(out, i, k, e[static_cast<std::size_t>(i - begin)] / sum);
        }
    });
    return {out, x.lod()};
}

template <class T>
LoDTensor<T> plain_grad(LoDTensor<T> const& y, Tensor<T> const& g) {
    using S = typename dtype<T>::sum;
    auto out = Tensor<T>::from_shape(y.shape());
    each_sequence(y.lod(), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::size_t k = 0; k < out.row_size() && begin != end; ++k) {
            std::vector<S> products;
            for (std::int64_t i = begin; i < end; ++i) products.push_back(reference::product(at(y.value(), i, k), at(g, i, k)));
            S const dot = reference::block_sum(products);
            for (std::int64_t i = begin; i < end; ++i) put(out, i, k, reference::product(at(y.value(), i, k), at(g, i, k) - dot));
        }
    });
    return {out, y.lod()};
}

}  // namespace

TEST_CASE("the rows of a sequence share a weight of 1", "[sequence_softmax][golden]") {
    LoDTensor<test::base2> const x(Tensor<test::base2>{test::base2(3), test::base2(3), test::base2(4), test::base2(-900)}, Lod{{0, 3, 3, 4}});
    auto const y = sequence_softmax(x);
    std::vector<double> const want{0.25, 0.25, 0.5, 1};
    for (std::size_t i = 0; i < 4; ++i) CHECK(y.value()(i).v == want[i]);
    CHECK(y.lod() == x.lod());
    CHECK((sequence_softmax(LoDTensor<float>({{5, 1}, {5, 1}, {9, -1}}, Lod{{0, 2, 3}})).value() == Tensor<float>{{0.5, 0.5}, {0.5, 0.5}, {1, 1}}));
}

TEST_CASE("the gradient of given weights", "[sequence_softmax][golden]") {
    LoDTensor<double> const y({0.25, 0.25, 0.5, 1}, Lod{{0, 3, 3, 4}});  // dot 0.25 * 4 + 0.5 * 2 = 2
    CHECK((sequence_softmax_grad(y, Tensor<double>{4, 0, 2, 7}).value() == Tensor<double>{0.5, -0.5, 0, 0}));
}

TEST_CASE("sequence_softmax equals that of the C library's exp, up to rounding", "[sequence_softmax]") {
    auto const x = batches::eighths({70, 5}, 1);
    auto const y = sequence_softmax(LoDTensor<double>(x, Lod{{0, 1, 67, 70}})).value();
    for (auto const& [begin, end] : {std::pair(0U, 1U), std::pair(1U, 67U), std::pair(67U, 70U)}) {
        for (std::size_t k = 0; k < 5; ++k) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) sum += std::exp(x(i, k));
            for (std::size_t i = begin; i < end; ++i) CHECK(y(i, k) == Approx(std::exp(x(i, k)) / sum).epsilon(1e-14));
        }
    }
}

TEST_CASE("large numbers do not overflow; a NaN affects its sequence and column only", "[sequence_softmax]") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const y = sequence_softmax(LoDTensor<double>({{1e308, 0}, {1e308, nan}, {nan, 3}}, Lod{{0, 2, 3}})).value();
    CHECK((y(0, 0) == 0.5 && y(1, 0) == 0.5 && y(2, 1) == 1));
    CHECK((std::isnan(y(0, 1)) && std::isnan(y(1, 1)) && std::isnan(y(2, 0))));
}

TEMPLATE_TEST_CASE("sequence_softmax: every element type has the bits of the plain loops", "[sequence_softmax]", float, double, bfloat16, test::fixed) {
    for_batches<TestType>([](auto const& x) {
        auto const y = sequence_softmax(x);
        CHECK(same(y, plain_softmax(x)));
        CHECK(same(sequence_softmax_grad(y, x), plain_grad(y, x.value())));
    });
}

}  // namespace test_sequence_softmax
