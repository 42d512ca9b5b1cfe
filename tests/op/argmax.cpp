// tests/op/argmax.cpp: argmax, argmin, top_k, one_hot, cumprod and cumsum.
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/cumprod.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/shape/one_hot.hpp>
#include <rowan/op/reduce/top_k.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"
#include "register_bytes.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

namespace test_argmax {

using namespace rowan;
using Ids = Tensor<std::int64_t>;

constexpr VarSpec spec_of_x = tensor_spec<float>({UNK, 3, 4}, 1);
static_assert(argmax_op::infer(spec_of_x) == tensor_spec<std::int64_t>({UNK, 3}, 1));
static_assert(argmin_op::infer(spec_of_x, {.axis = 0, .keep_dims = true}) == tensor_spec<std::int64_t>({1, 3, 4}));
static_assert(top_k_op::infer(spec_of_x, {.k = 2})[0] == tensor_spec<float>({UNK, 3, 2}, 1));
static_assert(top_k_op::infer(spec_of_x, {.k = 2})[1] == tensor_spec<std::int64_t>({UNK, 3, 2}, 1));
static_assert(one_hot_op::infer(tensor_spec<std::int32_t>({UNK}, 1), {.depth = 5}) == tensor_spec<float>({UNK, 5}, 1));
static_assert(cumsum_op::infer(spec_of_x) == spec_of_x);

TEST_CASE("argmax and argmin equal NumPy's", "[op][golden]") {
    Tensor<float> const x{{{1, 7}, {7, -2}, {7, -2}}, {{NAN, 3}, {5, 4}, {NAN, 3}}};
    CHECK((rowan::argmax(x, {.axis = 1}) == Ids{{1, 0}, {0, 1}}));
    CHECK((rowan::argmin(x, {.axis = 1}) == Ids{{0, 1}, {0, 0}}));
    CHECK((rowan::argmax(x) == Ids{{1, 0, 0}, {0, 0, 0}}));
    CHECK((rowan::argmax(x, {.axis = 0, .keep_dims = true}) == Ids{{{1, 0}, {0, 1}, {1, 1}}}));
    CHECK((rowan::argmin(Tensor<std::int32_t>{3, -1, -1}) == Ids::full({}, 1)));
    CHECK(rowan::argmax(Tensor<float>::from_shape({0, 3})).size() == 0);
    CHECK(rowan::argmax(Tensor<float>::from_shape({0, 3})).shape() == Ids::shape_type{0});
    CHECK((rowan::argmax(Tensor<double>{{{{{{{{1, 2}}}}}}}}) == Ids{{{{{{{1}}}}}}}));
}

TEST_CASE("top_k returns the greatest elements in order, equal ones by position, and NaN first", "[op][golden]") {
    Tensor<float> const x{{3, 9, 4, 9}, {5, 1, 5, 5}, {1, NAN, 8, NAN}};
    auto const [values, ids] = top_k(x, {.k = 3});
    CHECK((ids == Ids{{1, 3, 2}, {0, 2, 3}, {1, 3, 2}}));  // PyTorch 2: torch.topk(x, 3), which leaves ties open
    CHECK((values.slice(0, 2) == Tensor<float>{{9, 9, 4}, {5, 5, 5}}));
    CHECK((std::isnan(values(2, 0)) && std::isnan(values(2, 1)) && values(2, 2) == 8));
    CHECK((std::get<1>(top_k(Tensor<double>{2, 3}, {.k = 1})) == Ids{1}));
    CHECK(std::get<0>(top_k(Tensor<double>::from_shape({0, 3}), {.k = 2})).shape() == Tensor<double>::shape_type{0, 2});
    auto const check = [](Tensor<float> const& t, std::initializer_list<std::int64_t> ks) {
        for (std::int64_t const k : ks) {
            auto const got = std::get<1>(top_k(t, {.k = k}));
            for (std::size_t row = 0; row < t.shape(0); ++row) {
                std::vector<std::int64_t> order(t.shape(1));
                std::iota(order.begin(), order.end(), 0);
                std::ranges::stable_sort(order, [&](auto a, auto b) {
                    float const p = t(row, static_cast<std::size_t>(a)), q = t(row, static_cast<std::size_t>(b));
                    return p > q || (std::isnan(p) && !std::isnan(q));
                });
                CHECK(std::equal(order.begin(), order.begin() + k, &got.data()[row * static_cast<std::size_t>(k)]));
            }
        }
    };
    check(inputs::wild<float>({40, 33}, 3), {1, 2, 7, 32, 33});
    auto many = inputs::wild<float>({5, 2000}, 4);  // ascending, some equal, descending, NaN last, all equal
    for (std::size_t i = 0; i < 2000; ++i) {
        for (std::size_t row = 0; row < 4; ++row) many(row, i) = static_cast<float>(row == 2 ? -i : i / (3 * row / 2 + 1));
        if (i >= 1500) many(3, i) = NAN;
        many(4, i) = 2;
    }
    check(many, {1, 15, 16, 17, 100, 1000, 1999, 2000});
    check(inputs::wild<float>({3, 2000}, 5), {64, 2000});
}

TEST_CASE("top_k refuses a k that a row does not have, and its gradient positions outside", "[op][bad]") {
    Tensor<float> const x{{3, 9}, {5, 1}}, g{{1}, {1}};
    CHECK(test::refusal<ValueError>([&](Cpu e) { top_k(e, x, {.k = 0}); }, x) == "k is 0, expected in [1, 2]");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { top_k(e, Tensor<float>::full({}, 1)); }) == "x rank is 0, expected at least 1");
    CHECK(test::refusal<IndexError>([&](Cpu e) { rowan::gradient_operator<rowan::top_k_op>::run(e, x, Ids{{0}, {2}}, g); }, x, g) == "ids[1] = 2 is not in [0, 2)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { rowan::gradient_operator<rowan::top_k_op>::run(e, x, Ids{0}, Tensor<float>{1}); }, x) == "out_grad.shape() is [1], expected [2, 2] except for the last dim");
    CHECK(test::refusal<ShapeError>([] { top_k_op::infer(tensor_spec<float>({3})); }) == "top_k: x rank is 1, expected at least 2");
    CHECK(test::refusal<ValueError>([] { top_k_op::infer(tensor_spec<float>({UNK, 3}), {.k = 4}); }) == "k is 4, expected in [1, 3]");
}

TEST_CASE("one_hot has a 1 at each id", "[op][golden]") {
    CHECK((one_hot(Ids{2, 0}, {.depth = 3}) == Tensor<float>{{0, 0, 1}, {1, 0, 0}}));
    CHECK((one_hot<double>(Tensor<std::int32_t>{{1}, {0}}, {.depth = 2}) == Tensor<double>{{0, 1}, {1, 0}}));
    CHECK(one_hot(Ids::from_shape({0}), {.depth = 0}).shape() == Tensor<float>::shape_type{0, 0});
    Ids const bad{0, 3, -1};
    CHECK(test::refusal<IndexError>([&](Cpu e) { one_hot(e, bad, {.depth = 4}); }) == "ids[2] = -1 is not in [0, 4)");
    CHECK(test::refusal<IndexError>([&](Cpu e) { one_hot(e, bad, {.depth = 0}); }) == "ids[0] = 0 is not in [0, 0)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { one_hot(e, Ids{{1, 2}}, {.depth = 3}); }) == "ids.shape(1) is 2, expected 1");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { one_hot(e, Ids::full({}, 1), {.depth = 3}); }) == "ids rank is 0, expected 1, or 2 with one column");
}

TEST_CASE("cumsum sums up to each element, in both directions", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3}, {10, 20, -30}};
    CHECK((rowan::cumsum(x) == Tensor<float>{{1, 3, 6}, {10, 30, 0}}));  // NumPy: x.cumsum(1)
    CHECK((rowan::cumsum(x, {.axis = 0}) == Tensor<float>{{1, 2, 3}, {11, 22, -27}}));
    CHECK((rowan::cumsum(x, {.exclusive = true}) == Tensor<float>{{0, 1, 3}, {0, 10, 30}}));
    CHECK((rowan::cumsum(x, {.reverse = true}) == Tensor<float>{{6, 5, 3}, {0, -10, -30}}));
    CHECK((rowan::cumsum(x, {.axis = -2, .exclusive = true, .reverse = true}) == Tensor<float>{{10, 20, -30}, {0, 0, 0}}));
    CHECK((rowan::cumsum(Tensor<std::int64_t>{4, -1, 5}) == Ids{4, 3, 8}));
    CHECK((rowan::cumsum(Tensor<float>{16777216, 1, 1, 1, -16777216}) == Tensor<float>{16777216, 16777216, 16777218, 16777220, 3}));
    CHECK((rowan::cumsum(Tensor<float>{3e38F, 3e38F, -3e38F}, {.reverse = true}) == Tensor<float>{3e38F, 0, -3e38F}));
    CHECK(rowan::cumsum(Tensor<float>::from_shape({3, 0})).shape() == Tensor<float>::shape_type{3, 0});
}

TEST_CASE("cumprod multiplies up to each element, and its gradient is right where elements are 0", "[op][golden]") {
    Tensor<float> const x{{2, 3, 4}, {0, 5, 0}};
    CHECK((rowan::cumprod(x) == Tensor<float>{{2, 6, 24}, {0, 0, 0}}));  // NumPy: x.cumprod(1)
    CHECK((rowan::cumprod(x, {.axis = 0}) == Tensor<float>{{2, 3, 4}, {0, 15, 0}}));
    CHECK((rowan::cumprod(x, {.exclusive = true}) == Tensor<float>{{1, 2, 6}, {1, 0, 0}}));
    CHECK((rowan::cumprod(x, {.axis = -1, .exclusive = true, .reverse = true}) == Tensor<float>{{12, 4, 1}, {0, 0, 1}}));
    CHECK((rowan::cumprod(Tensor<std::int64_t>{4, -1, 5}) == Ids{4, -4, -20}));
    CHECK((rowan::cumprod(Tensor<float>{1e30F, 1e30F, 1e-30F}) == Tensor<float>{1e30F, INFINITY, 1e30F}));
    CHECK(rowan::cumprod(Tensor<float>::from_shape({3, 0})).shape() == Tensor<float>::shape_type{3, 0});
    Tensor<float> const g{{1, 10, 100}, {1, 10, 100}};
    auto const grad = [&](CumprodOptions const& o) { return cumprod_op::backward(Cpu{}, x, g, o); };
    CHECK((grad({}) == Tensor<float>{{1231, 820, 600}, {51, 0, 0}}));  // 1 + 10 · 3 + 100 · 12; 1 + 10 · 5 + 100 · 0
    CHECK((grad({.exclusive = true}) == Tensor<float>{{310, 200, 0}, {510, 0, 0}}));
    CHECK((grad({.reverse = true}) == Tensor<float>{{12, 48, 136}, {0, 0, 150}}));
    CHECK(cumprod_op::backward(Cpu{}, Tensor<float>{2, INFINITY}, Tensor<float>{1, 3}, {.exclusive = true})(0) == 3);
}

TEST_CASE("the gradient of cumprod is right where a product of finite elements overflows or vanishes", "[op]") {
    Tensor<double> const ones{1, 1, 1, 1};
    CHECK((cumprod_op::backward(Cpu{}, Tensor<double>{0, 1e200, 1e200, 1e200}, ones) == Tensor<double>{INFINITY, 0, 0, 0}));
    CHECK((cumprod_op::backward(Cpu{}, Tensor<double>{1e200, 1e200, 1e200, 0}, ones, {.reverse = true}) == Tensor<double>{0, 0, 0, INFINITY}));
    double const up = 0x1p700, down = 0x1p-700;
    Tensor<double> const last{0, 0, 0, 0, 1};
    CHECK((cumprod_op::backward(Cpu{}, Tensor<double>{down, down, 3, up, up}, last) == Tensor<double>{3 * up, 3 * up, 1, 3 * down, 3 * down}));
    CHECK((cumprod_op::backward(Cpu{}, Tensor<double>{up, up, 3}, Tensor<double>{1, 0, 0}) == Tensor<double>{1, 0, 0}));
    CHECK(std::isnan(cumprod_op::backward(Cpu{}, Tensor<double>{INFINITY, 2}, Tensor<double>{1, 0})(1)));  // as IEEE 754 has it

    auto const check_type = []<class T>(T, double most_power, std::size_t n, double precision) {
        inputs::Random random(3);
        for (std::size_t const inner : {1U, 5U, 40U}) {
            for (int const way : {0, 1, 2, 3}) {
                bool const exclusive = way % 2 != 0, reverse = way > 1;
                auto x = Tensor<T>::from_shape({7, n, inner}), g = x;
                for (auto* const t : {&x, &g}) {
                    for (auto& a : *t) {
                        double const u = static_cast<double>(random.bits() >> 11) * 0x1p-53;
                        a = static_cast<T>(random.bits() % 13 == 0 ? 0.0 : std::exp2((2 * u - 1) * most_power) * (u < 0.3 ? -1 : 1));
                    }
                }
                auto const got = cumprod_op::backward(Cpu{}, x, g, {.axis = 1, .exclusive = exclusive, .reverse = reverse});
                std::size_t wrong = 0;
                for (std::size_t o = 0; o < 7; ++o) {
                    for (std::size_t k = 0; k < inner; ++k) {
                        auto const at = [&](auto const& t, std::size_t i) -> long double { return t(o, reverse ? n - 1 - i : i, k); };
                        for (std::size_t i = 0; i < n; ++i) {
                            long double want = 0, product = 1, size = 0;
                            for (std::size_t j = 0; j < n; ++j) {  // the product of all up to j, without i
                                if (exclusive && j > i) want += product * at(g, j), size += std::abs(product * at(g, j));
                                if (j != i) product *= at(x, j);
                                if (!exclusive && j >= i) want += product * at(g, j), size += std::abs(product * at(g, j));
                            }
                            auto const is = at(got, i);
                            if (size > static_cast<long double>(std::numeric_limits<T>::max()))
                                wrong += std::isnan(is);
                            else
                                wrong += !(std::abs(is - want) <= precision * size + std::numeric_limits<T>::denorm_min());
                        }
                    }
                }
                CHECK(wrong == 0);
            }
        }
    };
    check_type(1.0, 1000, 9, 1e-13);
    check_type(1.0F, 120, 100, 1e-6);
}

TEST_CASE("a lane has the same results alone and among others, with registers of any size", "[op]") {
    auto const check = []<class T>(Tensor<T> const& x, auto const& f) {
        auto const got = f(x);
        test::check_any_registers([&] { return f(x); });
        for (std::size_t i = 0; i < x.shape(0); ++i) {
            for (std::size_t k = 0; k < x.shape(2); ++k) {
                auto lane = Tensor<T>::from_shape({1, x.shape(1), 1});
                for (std::size_t j = 0; j < x.shape(1); ++j) lane(0, j, 0) = x(i, j, k);
                auto const want = f(lane);
                auto own = want;
                for (std::size_t j = 0; j < want.shape(1); ++j) own(0, j, 0) = got(i, j, k);
                CHECK(test::same_bits(own, want));
            }
        }
    };
    auto const check_type = [&]<class T>(T) {
        for (std::size_t const n : {1U, 2U, 40U}) {
            for (std::size_t const inner : {1U, 3U, 16U, 37U}) {
                auto x = Tensor<T>::from_shape({inner == 1 ? 9U : 2U, n, inner});
                for (std::size_t i = 0; i < x.size(); ++i) {
                    double const number = static_cast<double>(i * 7919 % 13) - 6;
                    x.data()[i] = number == 5 && n > 2 && i % 7 == 0 ? static_cast<T>(NAN) : static_cast<T>(static_cast<float>(number == 0 && i % 2 == 0 ? -0.0 : number / 4));
                }
                check(x, [](auto const& t) { return rowan::argmax(t, {.axis = 1, .keep_dims = true}); });
                check(x, [](auto const& t) { return rowan::argmin(t, {.axis = 1, .keep_dims = true}); });
                for (int const way : {0, 1, 2, 3}) {
                    bool const exclusive = way % 2 != 0, reverse = way > 1;
                    check(x, [=](auto const& t) { return rowan::cumsum(t, {.axis = 1, .exclusive = exclusive, .reverse = reverse}); });
                    check(x, [=](auto const& t) { return cumprod_op::backward(Cpu{}, t, t, {.axis = 1, .exclusive = exclusive, .reverse = reverse}); });
                }
            }
        }
    };
    check_type(1.0F);
    check_type(1.0);
    check_type(bfloat16(1.0F));
}

TEST_CASE("argmax, top_k and cumsum have the same bits for any number of threads", "[op]") {
    auto const t = inputs::wild<float>({70, 130, 64}, 1);
    for (std::int64_t const axis : {0, 1, 2}) {
        test::check_any_threads([&](Cpu exec) { return rowan::argmax(exec, t, {.axis = axis}); });
        test::check_any_threads([&](Cpu exec) { return rowan::cumsum(exec, t, {.axis = axis}); });
    }
    test::check_any_threads([&](Cpu exec) { return top_k(exec, t, {.k = 3}); });
}

}  // namespace test_argmax
