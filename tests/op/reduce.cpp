// tests/op/reduce.cpp: means, maxima, minima and products along axes.
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace test_reduce {

using namespace rowan;
using Axes = std::vector<std::int64_t>;
using Shape = Tensor<double>::shape_type;

constexpr VarSpec spec_of_x = tensor_spec<float>({UNK, 3, 4}, 1);
static_assert(reduce_mean_op::infer(spec_of_x) == tensor_spec<float>({}));
static_assert(reduce_max_op::infer(spec_of_x, {{-1}, true}) == tensor_spec<float>({UNK, 3, 1}, 1));
static_assert(reduce_prod_op::infer(spec_of_x, {{0}}) == tensor_spec<float>({3, 4}));
static_assert(reduce_min_op::row_wise({{1, 2}}) && !reduce_min_op::row_wise({{1, 0}}));

TEST_CASE("means, maxima, minima and products along axes equal NumPy's", "[op][reduce][golden]") {
    Tensor<float> const t{{{1, -2}, {3, 4}, {5, 0.5F}}, {{10, 20}, {-30, 40}, {0, 2}}};
    CHECK((reduce_mean(t, {.axes = {0}}) == Tensor<float>{{5.5F, 9}, {-13.5F, 22}, {2.5F, 1.25F}}));
    CHECK((reduce_mean(t, {.axes = {0, -1}}) == Tensor<float>{7.25F, 4.25F, 1.875F}));
    CHECK(reference::same(reduce_mean(t), Tensor<float>::full({}, 4.4583335F)));  // NumPy: 53.5 / 12 in float32
    CHECK((reduce_max(t, {.axes = {1}}) == Tensor<float>{{5, 4}, {10, 40}}));
    CHECK((reduce_min(t, {.axes = {1}, .keep_dims = true}) == Tensor<float>{{{1, -2}}, {{-30, 2}}}));
    CHECK(reference::same(reduce_max(t, {.keep_dims = true}), Tensor<float>::full({1, 1, 1}, 40)));
    CHECK((reduce_prod(t, {.axes = {2, 1}}) == Tensor<float>{-60, 0}));
    CHECK((reduce_prod(Tensor<std::int32_t>{{2, -3}, {4, 5}}, {.axes = {1}}) == Tensor<std::int32_t>{-6, 20}));
    CHECK((reduce_max(Tensor<std::int64_t>{{2, -3}, {4, 5}}, {.axes = {0}}) == Tensor<std::int64_t>{4, 5}));
    CHECK((reduce_mean(Tensor<bfloat16>{{bfloat16(1), bfloat16(2), bfloat16(6)}}, {.axes = {1}}) == Tensor<bfloat16>{bfloat16(3)}));
}

TEST_CASE("reductions of no elements: the mean is 0, the product 1, and extrema are refused", "[op][reduce][bad]") {
    auto const none = Tensor<float>::from_shape({0, 2}), wide = Tensor<float>::from_shape({2, 0});
    CHECK((reduce_mean(none, {.axes = {0}}) == Tensor<float>{0, 0}));
    CHECK((reduce_prod(none, {.axes = {0}}) == Tensor<float>{1, 1}));
    CHECK(reference::same(reduce_max(none, {.axes = {1}}), Tensor<float>::from_shape({0})));
    CHECK(reference::same(reduce_min(wide, {.axes = {0}}), Tensor<float>::from_shape({0})));
    CHECK(test::refusal<ShapeError>([&](Cpu e) { reduce_max(e, none, {.axes = {0}}); }, none) == "x.shape() is [0, 2], expected at least one element for each result");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { reduce_min(e, none); }, none) == "x.shape() is [0, 2], expected at least one element for each result");
    CHECK(test::refusal<IndexError>([&](Cpu e) { reduce_mean(e, none, {.axes = {0, 2}}); }, none) == "axes[1] = 2 is not in [-2, 2)");
    CHECK(test::refusal<IndexError>([&](Cpu e) { reduce_prod(e, none, {.axes = {0, -2}}); }, none) == "axes[1] = -2 is the same axis as axes[0]");
    Tensor<float> const x{{1, 2}};
    CHECK(test::refusal<ShapeError>([&](Cpu e) { reduce_max_op::backward(e, x, x, Tensor<float>{1, 2}, {.axes = {0}}); }, x) == "out.shape() is [1, 2], expected [2]");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { reduce_mean_op::backward(e, x, x, {.axes = {0}}); }, x) == "out_grad.shape() is [1, 2], expected [2]");
}

TEST_CASE("NaN propagates through maxima, minima, means and products", "[op][reduce]") {
    for (std::size_t const at : {0u, 1u, 63u, 64u, 129u}) {
        auto t = Tensor<float>::full({130, 3}, 1);
        t.data()[at * 3 + 1] = NAN;
        for (auto const& r : {reduce_max(t, {.axes = {0}}), reduce_min(t, {.axes = {0}}), reduce_mean(t, {.axes = {0}}), reduce_prod(t, {.axes = {0}})}) {
            CHECK((r(0) == 1 && std::isnan(r(1)) && r(2) == 1));
        }
        CHECK(std::isnan(reduce_max(t).data()[0]));
        CHECK(std::isnan(reduce_min(t.reshaped({390})).data()[0]));
    }
}

TEMPLATE_TEST_CASE("the extrema of rows are their first ones, and the first NaN", "[op][reduce]", float, double, bfloat16, float16, std::int32_t) {
    inputs::Random random(11);
    auto const x_of = [&](Shape const& shape, bool nan) {
        auto x = Tensor<TestType>::from_shape({shape[0], shape[1]});
        for (TestType& v : x) v = dtype<TestType>::narrow(static_cast<typename dtype<TestType>::sum>(random.below(9) - 4));
        if constexpr (!std::is_integral_v<TestType>) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                auto const kind = random.below(static_cast<std::int64_t>(shape[1]) * 3);
                float const sign = random.below(2) == 0 ? -1.0F : 1.0F;
                if (kind == 0) x.data()[i] = TestType(sign * INFINITY);
                if (nan && kind == 1) x.data()[i] = TestType(sign * NAN);
                if (x.data()[i] == TestType(0.0F)) x.data()[i] = TestType(sign * 0.0F);
            }
            for (std::size_t i = 0; i < shape[1]; ++i) x.data()[i] = TestType(i % 2 == 0 ? 0.0F : -0.0F);
            for (std::size_t i = 0; i < shape[1]; ++i) x.data()[shape[1] + i] = TestType(i % 2 == 1 ? 0.0F : -0.0F);
        }
        return x;
    };
    auto const is_nan = [](TestType v) {
        if constexpr (std::is_integral_v<TestType>) return false;
        else return v != v;
    };
    auto const first = [&](Tensor<TestType> const& x, auto const& before) {
        auto out = Tensor<TestType>::from_shape({x.shape(0)});
        for (std::size_t k = 0; k < x.shape(0); ++k) {
            TestType best = x(k, 0);
            for (std::size_t i = 1; i < x.shape(1); ++i) {
                TestType const v = x(k, i);
                if (before(v, best) || (is_nan(v) && !is_nan(best))) best = v;
            }
            out(k) = best;
        }
        return out;
    };
    auto const check = [&](std::size_t rows, std::size_t n) {
        CAPTURE(rows, n);
        for (bool const nan : {false, true}) {
            auto const x = x_of({rows, n}, nan);
            auto const most = reduce_max(x, {.axes = {1}}), least = reduce_min(x, {.axes = {1}});
            CHECK(reference::same(most, first(x, [](TestType a, TestType b) { return a > b; })));
            CHECK(reference::same(least, first(x, [](TestType a, TestType b) { return a < b; })));
            auto const all = x.reshaped({1, x.size()});
            CHECK(reference::same(reduce_max(x).reshaped({1}), first(all, [](TestType a, TestType b) { return a > b; })));
        }
    };
    for (std::size_t n = 1; n < 36; ++n) check(37, n);
    for (std::size_t const n : {63u, 64u, 65u, 4095u, 4096u, 4097u, 10'000u}) check(3, n);
    check(2'001, 5);
    check(200, 100);
}

TEST_CASE("reductions along any axes equal a loop over the elements", "[op][reduce]") {
    inputs::Random random(3);
    for (int trial = 0; trial < 300; ++trial) {
        Shape shape;
        Axes axes;
        std::int64_t const most = trial % 10 == 0 ? 8 : 4;
        for (auto rank = random.below(most + 1); rank > 0; --rank) shape.push_back(static_cast<std::size_t>(1 + random.below(most == 8 ? 2 : trial % 7 == 0 ? 70 : 5)));
        while (detail::product_from(shape, 0) > 100'000) shape.pop_back();
        for (std::size_t i = 0; i < shape.size(); ++i) {
            if (random.below(2) == 0) axes.push_back(static_cast<std::int64_t>(i));
        }
        CAPTURE(detail::shape_text(shape), axes);
        auto const reduced = detail::checked_axes(axes, shape.size());
        auto x = test::values(shape, static_cast<std::uint64_t>(trial));
        auto const kept = detail::reduced_shape(shape, reduced, false);
        auto most_of = Tensor<double>::full(kept, -10), least_of = Tensor<double>::full(kept, 10), product_of = Tensor<double>::full(kept, 1);
        auto signs = x;
        for (std::size_t e = 0; e < x.size(); ++e) {
            std::size_t rest = e, step = 1, to = 0;
            for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) {
                if (reduced[i]) continue;
                to += rest % shape[i] * step;
                step *= shape[i];
            }
            double const v = x.data()[e];
            most_of.data()[to] = std::max(most_of.data()[to], v);
            least_of.data()[to] = std::min(least_of.data()[to], v);
            signs.data()[e] = v < 0 ? -1 : e % 5 == 0 ? 2 : e % 5 == 1 ? 0.5 : 1;
            product_of.data()[to] *= signs.data()[e];
        }
        ReduceOptions const options{.axes = axes};
        auto mean_of = reduce_sum(x, options);
        for (double& v : mean_of) v /= static_cast<double>(x.size() / mean_of.size());
        REQUIRE(reduce_max(x, options) == most_of);
        REQUIRE(reduce_min(x, options) == least_of);
        REQUIRE(reduce_prod(signs, options) == product_of);
        REQUIRE(reduce_mean(x, options) == mean_of);
    }
}

TEST_CASE("reductions and their gradients have the same bits for any number of threads", "[op][reduce]") {
    auto const t = inputs::wild<float>({70, 130, 64}, 1);
    auto const check = [&]<class Op>(Op) {
        for (Axes const& axes : std::vector<Axes>{{0}, {1}, {2}, {0, 2}, {}}) {
            INFO(Op::name);
            ReduceOptions const options{.axes = axes};
            test::check_any_threads([&](Cpu exec) { return Op::run(exec, t, options); });
            auto const out = Op::run(Cpu{}, t, options);
            test::check_any_threads([&](Cpu exec) {
                if constexpr (rowan::gradient_operator<Op>::inputs::size == 3) return Op::backward(exec, t, out, out, options);
                else return Op::backward(exec, t, out, options);
            });
        }
    };
    check(reduce_mean_op{});
    check(reduce_max_op{});
    check(reduce_min_op{});
    check(reduce_prod_op{});
}

TEST_CASE("the gradient of a product with zeros equals central differences", "[op][reduce]") {
    test::check_gradients<reduce_prod_op>(std::tuple(Tensor<double>{{2, 0, 3}, {0, 0, 5}, {1, 2, 4}}), {.axes = {1}});
}

TEST_CASE("products and their gradients are right where products of some elements overflow or vanish", "[op][reduce]") {
    auto const check = [](Tensor<float> const& x, Tensor<float> const& product, Tensor<float> const& grad, float g = 1) {
        auto const same = [](Tensor<float> const& a, Tensor<float> const& b) {
            REQUIRE(a.shape() == b.shape());
            for (std::size_t i = 0; i < a.size(); ++i) CHECK(((std::isnan(a.data()[i]) && std::isnan(b.data()[i])) || a.data()[i] == b.data()[i]));
        };
        same(reduce_prod(x, {.axes = {0}}), product);
        same(reduce_prod_op::backward(Cpu{}, x, Tensor<float>::full(product.shape(), g), {.axes = {0}}), grad);
    };
    float const up = 0x1p100F, down = 0x1p-100F, least = 0x1p-149F;
    check({{3 * down, up}, {down, -3 * up}}, {0, -INFINITY}, {{down, -3 * up}, {3 * down, up}});
    check({{up, down}, {up, 3 * down}, {down, up}, {3 * down, up}}, {3, 3}, {{3 * down, 3 * up}, {3 * down, up}, {3 * up, 3 * down}, {up, 3 * down}});
    check({{0x1p-70F, least}, {0x1.8p-76F, 0x1p100F}, {0x1p100F, 0x1.8p100F}}, {0x1.8p-46F, 0x1.8p51F}, {{0x1.8p24F, INFINITY}, {0x1p30F, 0x1.8p-49F}, {0x1.8p-146F, 0x1p-49F}});
    check({{0, 0}, {up, up}, {up, up}, {down, 0}}, {0, 0}, {{up, 0}, {0, 0}, {0, 0}, {0, 0}});
    check({{INFINITY, INFINITY}, {-2, 0}, {3, 3}}, {-INFINITY, NAN}, {{-6, 0}, {INFINITY, INFINITY}, {-INFINITY, NAN}});
    check({{down, up}, {0x1p-40F, 0x1p40F}}, {0x1p-140F, INFINITY}, {{0x1p-60F, 0x1p20F}, {down * 0x1p-20F, 0x1p80F}}, 0x1p-20F);
    auto many = Tensor<double>::full({10'000, 3}, 0x1p-1000);
    for (std::size_t i = 15'000; i < 30'000; ++i) many.data()[i] = 0x1p1000;
    test::check_any_threads([&](Cpu exec) { return reduce_prod(exec, many, {.axes = {0}}); });
    CHECK((reduce_prod(many, {.axes = {0}}) == Tensor<double>{1, 1, 1}));
    CHECK(reduce_prod_op::backward(Cpu{}, many, Tensor<double>{1, 1, 1}, {.axes = {0}})(9'999, 2) == 0x1p-1000);
    bfloat16 const wide(0x1p100F), small(0x1p-100F);
    CHECK((reduce_prod(Tensor<bfloat16>{wide, wide, small}) == Tensor<bfloat16>::full({}, wide)));
}

TEST_CASE("means fit also where their sums overflow", "[op][reduce]") {
    Tensor<float> const x{{3e38F, 3e38F, -3e38F}, {3e38F, -3e38F, -3e38F}, {1, 2, 3}};
    auto const near = [](float a, float b) { return std::abs(a - b) <= 1e-6F * std::abs(b); };
    auto const rows = reduce_mean(x, {.axes = {1}}), columns = reduce_mean(x, {.axes = {0}});
    CHECK((near(rows(0), 1e38F) && near(rows(1), -1e38F) && rows(2) == 2));
    CHECK((near(columns(0), 2e38F) && std::abs(columns(1)) <= 1 && near(columns(2), -2e38F)));
    CHECK((reduce_mean(Tensor<bfloat16>::full({70, 70}, bfloat16(3e38F))) == Tensor<bfloat16>::full({}, bfloat16(3e38F))));
    CHECK(static_cast<float>(reduce_mean(Tensor<float16>::full({70}, float16(60000.0F)))()) == 60000);
    auto const many = Tensor<double>::full({40'000, 3}, 0x1p1023);
    CHECK((reduce_mean(many, {.axes = {0}}) == Tensor<double>{0x1p1023, 0x1p1023, 0x1p1023}));
    CHECK(reduce_mean(many)() == 0x1p1023);
    Tensor<float> const wild{{INFINITY, 3e38F}, {-INFINITY, 3e38F}, {NAN, 3e38F}, {INFINITY, -INFINITY}};
    auto const wild_means = reduce_mean(wild, {.axes = {1}});
    CHECK((wild_means(0) == INFINITY && wild_means(1) == -INFINITY && std::isnan(wild_means(2)) && std::isnan(wild_means(3))));
}

TEST_CASE("equal extrema share the gradient, and a NaN takes it", "[op][reduce][golden]") {
    Tensor<float> const x{{3, 1, 3, 3}, {2, NAN, 5, NAN}, {-1, -1, -2, 0}}, g{6, 8, 10};
    auto const grad = [&]<class Op>(Op) { return Op::backward(Cpu{}, x, Op::run(Cpu{}, x, {.axes = {1}}), g, {.axes = {1}}); };
    // PyTorch 2: torch.amax(x, 1).backward(g), but for the row with NaN
    CHECK((grad(reduce_max_op{}) == Tensor<float>{{2, 0, 2, 2}, {0, 4, 0, 4}, {0, 0, 0, 10}}));
    CHECK((grad(reduce_min_op{}) == Tensor<float>{{0, 6, 0, 0}, {0, 4, 0, 4}, {0, 0, 10, 0}}));
}

}  // namespace test_reduce
