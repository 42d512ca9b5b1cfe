// tests/op/broadcast.cpp: shapes broadcast by NumPy's rules and with Paddle's axis, against a loop over indices.
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/div.hpp>
#include <rowan/op/elementwise/maximum.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/sub.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <utility>

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

TEST_CASE("gradients of 16-bit inputs are narrowed after the sum", "[op]") {
    using rowan::bfloat16;
    auto const g = Tensor<bfloat16>::full({1000, 3}, bfloat16(1.0F / 3)), x = Tensor<bfloat16>::full({1000, 3}, bfloat16(0.334F));
    auto const sum = rowan::broadcast_grad_op<rowan::mul_op, rowan::detail::mul_formula, true>::run(Cpu{}, x, Tensor<bfloat16>{{bfloat16(1.0F)}}, g);
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
        return rowan::broadcast_grad_op<rowan::mul_op, rowan::detail::mul_formula, true>::run(exec, rows, inputs::wild<float>({64}, 5), rows);
    });
}

}  // namespace test_broadcast
