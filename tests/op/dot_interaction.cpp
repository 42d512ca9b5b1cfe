// tests/op/dot_interaction.cpp: dot products of the pairs of vectors against sums in double, and their gradients; row_dot.
#include <rowan/op/matrix/dot_interaction.hpp>
#include <rowan/op/matrix/row_dot.hpp>

#include "inputs.hpp"
#include "op/check_gradients.hpp"
#include "op/register_bytes.hpp"
#include "sanitizers.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_dot_interaction {

using rowan::bfloat16, rowan::Cpu, rowan::dot_interaction, rowan::dot_interaction_op, rowan::DotInteractionOptions, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(dot_interaction_op::infer(tensor_spec<float>({UNK, 27, 16}, 1)) == tensor_spec<float>({UNK, 351}, 1));
static_assert(dot_interaction_op::infer(tensor_spec<float>({4, 27, UNK}), {.self_interaction = true}) == tensor_spec<float>({4, 378}));
static_assert(dot_interaction_op::infer(tensor_spec<float>({4, UNK, 2})) == tensor_spec<float>({4, UNK}));

namespace {

template <class T>
Tensor<T> numbers(Tensor<double>::shape_type const& shape, std::uint64_t seed) {
    auto const from = test::values(shape, seed);
    auto x = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = inputs::narrow<T>(from.data()[i]);
    return x;
}

/// Sums in double, in plain order, and the greatest error of sums of T.
template <class T>
void check_values(std::size_t n, std::size_t width, bool self) {
    CAPTURE(n, width, self);
    auto const x = numbers<T>({3, n, width}, 1);
    auto const out = dot_interaction(x, {.self_interaction = self});
    auto const g = numbers<T>(out.shape(), 2);
    auto const x_grad = dot_interaction_op::backward(Cpu{}, x, g, {.self_interaction = self});
    auto const number = [](T v) { return static_cast<double>(rowan::dtype<T>::widen(v)); };
    auto grad = Tensor<double>::zeros(x.shape());
    double const unit = std::is_same_v<T, bfloat16> ? 0x1p-8 : std::is_same_v<T, float> ? 0x1p-23 : 0x1p-52;
    std::size_t wrong = 0;
    for (std::size_t b = 0; b < 3; ++b) {
        std::size_t k = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < i + (self ? 1 : 0); ++j, ++k) {
                double sum = 0;
                for (std::size_t c = 0; c < width; ++c) {
                    sum += number(x(b, i, c)) * number(x(b, j, c));
                    grad(b, i, c) += number(g(b, k)) * number(x(b, j, c));
                    grad(b, j, c) += number(g(b, k)) * number(x(b, i, c));
                }
                wrong += std::abs(number(out(b, k)) - sum) <= unit * static_cast<double>(width) ? 0 : 1;
            }
        }
        REQUIRE(k == out.shape(1));
    }
    for (std::size_t k = 0; k < x.size(); ++k)
        wrong += std::abs(number(x_grad.data()[k]) - grad.data()[k]) <= unit * static_cast<double>(2 * n) ? 0 : 1;
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("dot_interaction has a column for each pair of vectors", "[op][golden]") {
    Tensor<float> const x{{{1, 2}, {3, 4}, {5, 6}}, {{1, 0}, {0, 1}, {2, -3}}};
    CHECK((dot_interaction(x) == Tensor<float>{{11, 17, 39}, {0, 2, -3}}));
    CHECK((dot_interaction(x, {.self_interaction = true}) == Tensor<float>{{5, 11, 25, 17, 39, 61}, {1, 0, 1, 2, -3, 13}}));
    Tensor<float> const g{{1, 10, 100}, {0, 1, 2}};
    CHECK((dot_interaction_op::backward(Cpu{}, x, g) == Tensor<float>{{{53, 64}, {501, 602}, {310, 420}}, {{2, -3}, {4, -6}, {1, 2}}}));
    Tensor<float> const one{{{1, 2}, {3, 4}}};
    CHECK((dot_interaction_op::backward(Cpu{}, one, {{1, 10, 100}}, {.self_interaction = true}) == Tensor<float>{{{32, 44}, {610, 820}}}));
    // no vector, one, no examples, and no numbers
    CHECK(dot_interaction(Tensor<float>::zeros({2, 0, 3})).shape() == Tensor<float>::shape_type{2, 0});
    CHECK(dot_interaction(Tensor<float>::zeros({2, 1, 3})).shape() == Tensor<float>::shape_type{2, 0});
    CHECK((dot_interaction_op::backward(Cpu{}, Tensor<float>::full({2, 1, 3}, 1), Tensor<float>::zeros({2, 0})) == Tensor<float>::zeros({2, 1, 3})));
    CHECK(dot_interaction(Tensor<bfloat16>::zeros({0, 5, 3})).shape() == Tensor<float>::shape_type{0, 10});
    CHECK((dot_interaction(Tensor<double>::zeros({2, 3, 0})) == Tensor<double>::zeros({2, 3})));
    CHECK(dot_interaction_op::backward(Cpu{}, Tensor<bfloat16>::zeros({2, 3, 0}), Tensor<bfloat16>::zeros({2, 3})).size() == 0);
    // sums are not rounded to bfloat16 before the end
    Tensor<bfloat16> const narrow{{{bfloat16(16), bfloat16(1), bfloat16(1)}}};
    CHECK((dot_interaction(narrow, {.self_interaction = true}) == Tensor<bfloat16>{{bfloat16(258)}}));
}

TEMPLATE_TEST_CASE("dot_interaction equals sums in double, for any number of vectors", "[op]", float, double, bfloat16) {
    for (std::size_t const n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 27U}) {
        for (std::size_t const width : {1U, 15U, 16U, 17U, 32U, 64U})
            for (bool const self : {false, true}) check_values<TestType>(n, width, self);
    }
}

TEMPLATE_TEST_CASE("dot_interaction has the bits of row_dot, on any number of threads and with any registers", "[op]", float, double, bfloat16) {
    std::size_t const batch = sanitizers::any ? 150 : 500;
    for (std::size_t const width : {16U, 19U, 64U}) {
        CAPTURE(width);
        auto const x = numbers<TestType>({batch, 27, width}, 1);
        auto const out = dot_interaction(x);
        auto const row = [&](std::size_t i) {
            auto rows = Tensor<TestType>::from_shape({batch, width});
            for (std::size_t k = 0; k < rows.size(); ++k) rows.data()[k] = x(k / width, i, k % width);
            return rows;
        };
        for (auto const& [i, j] : {std::pair(1U, 0U), std::pair(13U, 12U), std::pair(26U, 3U), std::pair(26U, 25U)}) {
            auto const dots = row_dot(row(i), row(j));
            bool same = true;
            for (std::size_t b = 0; b < batch; ++b) same = same && dots(b, 0) == out(b, i * (i - 1) / 2 + j);
            CHECK(same);
        }
        auto const both = [&](Cpu exec) { return std::vector{dot_interaction(exec, x), dot_interaction_op::backward(exec, x, out)}; };
        test::check_any_threads(both);
        test::check_any_registers([&] { return both(Cpu{1}); });
    }
}

TEST_CASE("row_dot sums the products of each row", "[op][golden]") {
    CHECK((rowan::row_dot(Tensor<float>{{1, 2}, {3, 4}}, Tensor<float>{{5, 6}, {7, 8}}) == Tensor<float>{{17}, {53}}));
    CHECK((rowan::row_dot(Tensor<double>::zeros({2, 0}), Tensor<double>::zeros({2, 0})) == Tensor<double>{{0}, {0}}));
    CHECK(rowan::row_dot(Tensor<double>::zeros({0, 3}), Tensor<double>::zeros({0, 3})).shape() == Tensor<double>::shape_type{0, 1});
    CHECK(rowan::row_dot_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({UNK, 3})) == tensor_spec<float>({UNK, 1}, 1));
    auto const m = inputs::wild<float>({9100, 64}, 1);
    test::check_any_threads([&](Cpu exec) { return row_dot(exec, m, m); });
    test::check_any_threads([&](Cpu exec) { return rowan::row_dot_grad_op::run(exec, m, rowan::row_dot(m, m)); });
    // float sums of bfloat16, narrowed once: 256 + 1 + 1 is 258, which bfloat16 holds
    CHECK((rowan::row_dot(Tensor<bfloat16>{{bfloat16(16), bfloat16(1), bfloat16(1)}}, Tensor<bfloat16>{{bfloat16(16), bfloat16(1), bfloat16(1)}}) == Tensor<bfloat16>{{bfloat16(258)}}));
}

TEST_CASE("dot_interaction is differentiated", "[op]") {
    for (bool const self : {false, true}) {
        for (std::size_t const n : {1U, 3U, 9U})
            test::check_gradients<dot_interaction_op>(std::tuple(test::values({2, n, 3}, 4)), DotInteractionOptions{.self_interaction = self});
    }
}

TEST_CASE("only products with an infinite or undefined vector are so", "[op]") {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    auto x = Tensor<float>::full({1, 9, 3}, 1);
    x(0, 4, 1) = inf;
    auto out = dot_interaction(x);
    std::size_t k = 0;
    for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t j = 0; j < i; ++j, ++k) CHECK(out(0, k) == (i == 4 || j == 4 ? inf : 3));
    auto const grad = dot_interaction_op::backward(Cpu{}, x, Tensor<float>::full({1, 36}, 1));
    for (std::size_t i = 0; i < 9; ++i) CHECK(grad(0, i, 1) == (i == 4 ? 8 : inf));  // its own gradient is finite
    x(0, 4, 1) = nan;
    out = dot_interaction(x);
    CHECK((out(0, 0) == 3 && std::isnan(out(0, 6)) && std::isnan(out(0, 35 - 3))));
}

TEST_CASE("dot_interaction throws for bad inputs", "[op][bad]") {
    CHECK_THROWS_WITH(dot_interaction(Tensor<float>{{1, 2}}), "x rank is 2, expected 3");
    CHECK_THROWS_WITH(dot_interaction_op::backward(Cpu{}, Tensor<float>::zeros({2, 3, 4}), Tensor<float>::zeros({2, 6})), "out_grad.shape() is [2, 6], expected [2, 3]");
    CHECK_THROWS_WITH(dot_interaction_op::infer(tensor_spec<float>({1, std::int64_t{1} << 32, 0})), "dot_interaction: x.shape(1) is 4294967296, expected at most 2147483648");
    CHECK_THROWS_WITH(dot_interaction(Tensor<float>::zeros({0, std::size_t{1} << 32, 0})), "dot_interaction: x.shape(1) is 4294967296, expected at most 2147483648");
    CHECK_THROWS_AS(dot_interaction(Cpu{-1}, Tensor<float>::zeros({1, 2, 3})), rowan::ValueError);
}

}  // namespace test_dot_interaction
