// tests/op/broadcast.cpp: shapes broadcast by NumPy's rules and with Paddle's axis, against a loop over indices.
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/div.hpp>
#include <rowan/op/elementwise/maximum.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/sub.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace test_broadcast {

using rowan::Cpu, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;
using Shape = Tensor<double>::shape_type;

static_assert(rowan::add_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({3})) == tensor_spec<float>({UNK, 3}, 1));
static_assert(rowan::mul_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({UNK, 1}, 1)) == tensor_spec<float>({UNK, 3}, 1));
static_assert(rowan::sub_op::infer(tensor_spec<float>({4, 1}), tensor_spec<float>({2, 1, 5})) == tensor_spec<float>({2, 4, 5}));
static_assert(rowan::add_op::row_inputs(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK})) == 0b11);
static_assert(rowan::mul_op::row_inputs(tensor_spec<float>({UNK, 3}), tensor_spec<float>({UNK, 1})) == 0);
static_assert(rowan::sub_op::row_inputs(tensor_spec<float>({UNK, 3}), tensor_spec<float>({3})) == 0);
static_assert(rowan::div_op::row_inputs(tensor_spec<float>({3}), tensor_spec<float>({3}), {.axis = 0}) == 0);
static_assert(rowan::add_op::infer(tensor_spec<float>({2, 3, 4}), tensor_spec<float>({3}), {.axis = 1}) == tensor_spec<float>({2, 3, 4}));

/// The result by an index for each dim.
Tensor<double> slow(Tensor<double> const& x, Tensor<double> const& y, auto const& f) {
    std::size_t const rank = std::max(x.dimension(), y.dimension());
    auto const dim = [&](auto const& t, std::size_t i) { return i + t.dimension() < rank ? 1 : t.shape(i + t.dimension() - rank); };
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(dim(x, i) == 1 ? dim(y, i) : dim(x, i));
    auto out = Tensor<double>::from_shape(shape);
    for (std::size_t k = 0; k < out.size(); ++k) {
        auto const at = [&](auto const& t) {
            std::size_t rest = k, step = 1, offset = 0;
            for (std::size_t i = rank; i-- > 0;) {
                std::size_t const index = rest % shape[i];
                rest /= shape[i];
                if (dim(t, i) != 1) offset += index * step;
                step *= dim(t, i);
            }
            return t.data()[offset];
        };
        out.data()[k] = f(at(x), at(y));
    }
    return out;
}

TEST_CASE("2,000 random pairs of shapes are broadcast as by a loop over indices", "[op]") {
    inputs::Random random(7);
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n))); };
    for (int trial = 0; trial < 2000; ++trial) {
        Shape result, a, b;
        for (std::size_t rank = below(9); rank > 0; --rank) result.push_back(below(40) == 0 ? 0 : 1 + below(trial % 50 == 0 && rank < 3 ? 70 : rank > 3 ? 2 : 4));
        for (Shape* const s : {&a, &b}) {
            std::size_t const skip = s == &b ? below(result.size() + 1) : 0;
            for (std::size_t i = skip; i < result.size(); ++i) s->push_back(below(3) == 0 ? 1 : result[i]);
        }
        if (below(2) == 0) std::swap(a, b);
        auto const x = test::values(a, below(1000)), y = test::values(b, below(1000));
        CAPTURE(rowan::detail::shape_text(a), rowan::detail::shape_text(b));
        REQUIRE(rowan::add(x, y) == slow(x, y, [](double p, double q) { return p + q; }));
        REQUIRE(rowan::sub(x, y) == slow(x, y, [](double p, double q) { return p - q; }));
        REQUIRE(rowan::mul(x, y) == slow(x, y, [](double p, double q) { return p * q; }));
        REQUIRE(rowan::div(x, y) == slow(x, y, [](double p, double q) { return p / q; }));
        REQUIRE(rowan::maximum(x, y) == slow(x, y, [](double p, double q) { return std::max(p, q); }));
        REQUIRE(rowan::minimum(x, y) == slow(x, y, [](double p, double q) { return std::min(p, q); }));
    }
}

TEST_CASE("broadcasting repeats dims of 1 and dims that are missing", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}};
    CHECK((rowan::add(x, Tensor<float>{10, 20, 30}) == Tensor<float>{{11, 22, 33}, {14, 25, 36}}));
    CHECK((rowan::sub(Tensor<float>{{1}, {2}}, Tensor<float>{10, 20}) == Tensor<float>{{-9, -19}, {-8, -18}}));
    CHECK((rowan::mul_op::run(Cpu{}, x, Tensor<float>{2, -1}, {.axis = 0}) == Tensor<float>{{2, 4, 6}, {-4, -5, -6}}));
    CHECK((rowan::maximum(Tensor<std::int32_t>{-3, 7}, Tensor<std::int32_t>{{1}}) == Tensor<std::int32_t>{{1, 7}}));
    auto const nan = rowan::maximum(Tensor<float>{NAN, 1}, Tensor<float>{1, NAN});
    CHECK((std::isnan(nan(0)) && std::isnan(nan(1))));
}

TEST_CASE("gradients of broadcast inputs are summed to their shapes", "[op]") {
    auto const check = []<class Op>(Op) {
        INFO(Op::name);
        for (auto const& [a, b] : std::vector<std::pair<Shape, Shape>>{{{3, 4}, {4}}, {{4}, {3, 4}}, {{2, 1, 3}, {1, 4, 1}}, {{3}, {}}, {{2, 3}, {2, 3}}, {{0, 3}, {1, 3}}}) {
            auto y = test::values(b, 5);
            for (double& v : y) v = v < 0 ? v - 1 : v + 1;  // for quotients
            test::check_gradients<Op>(std::tuple(test::values(a, 4), y));
        }
        test::check_gradients<Op>(std::tuple(test::values({2, 3, 4}, 6), Tensor<double>{1.5, -2, 3}), {.axis = 1});
    };
    check(rowan::add_op{});
    check(rowan::sub_op{});
    check(rowan::mul_op{});
    check(rowan::div_op{});
    check(rowan::maximum_op{});
    check(rowan::minimum_op{});
}

TEST_CASE("gradients of 16-bit inputs are narrowed after the sum", "[op]") {
    using rowan::bfloat16;
    auto const g = Tensor<bfloat16>::full({1000, 3}, bfloat16(1.0F / 3)), x = Tensor<bfloat16>::full({1000, 3}, bfloat16(0.334F));
    auto const sum = rowan::broadcast_grad_op<rowan::detail::mul_formula, true>::run(Cpu{}, x, Tensor<bfloat16>{{bfloat16(1.0F)}}, g);
    float want = 0;
    for (int i = 0; i < 3000; ++i) want += static_cast<float>(g(0, 0)) * static_cast<float>(x(0, 0));
    CHECK(static_cast<float>(sum(0, 0)) == static_cast<float>(bfloat16(want)));
}

TEST_CASE("broadcasting has the same bits on any number of threads", "[op]") {
    std::size_t const n = rowan::detail::serial_below + 77;
    auto const x = inputs::wild<float>({n}, 3), rows = inputs::wild<float>({n / 64, 64}, 4);
    test::check_any_threads([&](Cpu exec) { return rowan::add(exec, x, Tensor<float>{0.1F}); });
    test::check_any_threads([&](Cpu exec) { return rowan::mul(exec, rows, inputs::wild<float>({64}, 5)); });
    test::check_any_threads([&](Cpu exec) { return rowan::mul(exec, rows, inputs::wild<float>({n / 64, 1}, 6)); });
    test::check_any_threads([&](Cpu exec) {
        return rowan::broadcast_grad_op<rowan::detail::mul_formula, true>::run(exec, rows, inputs::wild<float>({64}, 5), rows);
    });
}

TEST_CASE("shapes that do not broadcast are refused", "[op][bad]") {
    Tensor<double> const x{{1, 2, 3}, {4, 5, 6}}, y{1, 2};
    auto const text = [&](auto const& f) { return test::refusal<ShapeError>([&](Cpu exec) { f(exec); }, x, y); };
    CHECK(text([&](Cpu e) { rowan::add(e, x, y); }) == "y.shape() is [2], expected [2, 3] or one that broadcasts with it");
    CHECK(text([&](Cpu e) { rowan::add_op::run(e, x, y, {.axis = 1}); }) == "y.shape() is [2], expected [2, 3] or one that broadcasts with it");
    CHECK(text([&](Cpu e) { rowan::add_op::run(e, x, x, {.axis = 1}); }) == "y rank is 2, expected at most 1, the dims of x from 1 on");
    CHECK_THROWS_WITH(rowan::add_op::run(Cpu{}, x, x, {.axis = -7}), "axis is -7, expected -1 or a dim of x");
    CHECK(rowan::add_op::infer(rowan::tensor_spec<float>({1, 1, 2}), rowan::tensor_spec<float>({rowan::UNK, 2}, 1), {}).lod_level == 0);
    CHECK(text([&](Cpu e) { rowan::add_op::run(e, x, y, {.axis = 2}); }) == "y rank is 1, expected at most 0, the dims of x from 2 on");
    CHECK(text([&](Cpu e) { rowan::broadcast_grad_op<rowan::detail::add_formula, true>::run(e, x, y, y, {.axis = 0}); }) == "out_grad.shape() is [2], expected [2, 3]");
    CHECK(test::refusal<ShapeError>([] { static_cast<void>(rowan::add_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({2}))); }) ==
          "add: y.shape(0) is 2, expected 3");
}

}  // namespace test_broadcast
