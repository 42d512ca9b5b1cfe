// tests/op/where.cpp: elements of one tensor or another, against a loop over tensors that are broadcast by add.
#include <rowan/op/elementwise/where.hpp>

#include "inputs.hpp"
#include "refused.hpp"

#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/cast.hpp>

#include <cmath>
#include <cstdint>

namespace test_where {

using rowan::bfloat16, rowan::Cpu, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::TypeError, rowan::UNK, rowan::where_op;
using Shape = Tensor<double>::shape_type;
using GradX = rowan::where_grad_op<false>;
using GradY = rowan::where_grad_op<true>;

static_assert(where_op::infer(tensor_spec<bool>({UNK, 1}, 1), tensor_spec<float>({3}), tensor_spec<float>({})) == tensor_spec<float>({UNK, 3}, 1));
static_assert(where_op::infer(tensor_spec<bool>({3}), tensor_spec<std::int64_t>({UNK, 3}, 1), tensor_spec<std::int64_t>({1})) == tensor_spec<std::int64_t>({UNK, 3}, 1));

Tensor<bool> coins(Shape const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto c = Tensor<bool>::from_shape(shape);
    for (bool& b : c) b = random.below(2) == 0;
    return c;
}

TEST_CASE("where takes elements of x where the condition is true, else of y", "[op][golden]") {
    Tensor<bool> const c{{true, false, true}};
    Tensor<float> const x{{1, 2, NAN}, {4, 5, 6}}, y{NAN, 20, 30};
    auto const z = rowan::where(c, x, y);  // NumPy: where(c, x, y)
    CHECK((z(0, 0) == 1 && z(0, 1) == 20 && std::isnan(z(0, 2)) && z(1, 0) == 4 && z(1, 1) == 20 && z(1, 2) == 6));
    CHECK((rowan::where(Tensor<bool>{{false}, {true}}, Tensor<std::int64_t>{INT64_MIN, 7}, Tensor<std::int64_t>{{INT64_MAX}}) ==
           Tensor<std::int64_t>{{INT64_MAX, INT64_MAX}, {INT64_MIN, 7}}));
    CHECK((rowan::where(c, c, Tensor<bool>{{true}}) == Tensor<bool>{{true, true, true}}));
    CHECK(rowan::where(Tensor<bool>::from_shape({0, 1}), x.slice(0, 1), y).shape() == Shape{0, 3});
    CHECK(rowan::where(Tensor<bool>::full({}, false), Tensor<float>::full({}, 1), Tensor<float>::full({}, 2)) == Tensor<float>::full({}, 2));
    Tensor<bfloat16> const signaling{bfloat16::from_bits(0xFF81)};  // bits are copied
    CHECK(rowan::where(Tensor<bool>{true}, signaling, signaling)(0).bits() == 0xFF81);
}

TEST_CASE("random shapes are broadcast as by add", "[op]") {
    inputs::Random random(7);
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n))); };
    for (int trial = 0; trial < 500; ++trial) {
        Shape result, shapes[3];
        for (std::size_t rank = below(6); rank > 0; --rank) result.push_back(below(40) == 0 ? 0 : 1 + below(trial % 50 == 0 && rank < 3 ? 70 : 3));
        for (Shape& s : shapes) {
            for (std::size_t i = below(result.size() + 1); i < result.size(); ++i) s.push_back(below(3) == 0 ? 1 : result[i]);
        }
        auto const c = coins(shapes[0], below(1000));
        auto const x = test::values(shapes[1], below(1000)), y = test::values(shapes[2], below(1000));
        auto const ones = rowan::add(rowan::cast<double>(c), rowan::add(Tensor<double>::zeros(shapes[1]), Tensor<double>::zeros(shapes[2])));
        auto want = rowan::add(y, Tensor<double>::zeros(ones.shape()));
        auto const of_x = rowan::add(x, Tensor<double>::zeros(ones.shape()));
        for (std::size_t i = 0; i < want.size(); ++i) {
            if (ones.data()[i] == 1) want.data()[i] = of_x.data()[i];
        }
        CAPTURE(rowan::detail::shape_text(shapes[0]), rowan::detail::shape_text(shapes[1]), rowan::detail::shape_text(shapes[2]));
        REQUIRE(rowan::where(c, x, y) == want);
    }
}

TEST_CASE("the gradient of where goes to what was chosen, summed over repeated elements", "[op][golden]") {
    Tensor<bool> const c{true, false, true};
    Tensor<float> const x{1, 2, 3}, one{4}, g{{10, NAN, 30}, {1, NAN, 3}};
    CHECK((GradX::run(Cpu{}, c, Tensor<float>{{1, 2, 3}, {4, 5, 6}}, g) == Tensor<float>{{10, 0, 30}, {1, 0, 3}}));
    CHECK((GradX::run(Cpu{}, c, x, g) == Tensor<float>{11, 0, 33}));
    CHECK((GradX::run(Cpu{}, c, one, g) == Tensor<float>{44}));
    CHECK((GradY::run(Cpu{}, Tensor<bool>{{true}, {false}}, one, Tensor<float>{{NAN, 1}, {2, 4}}) == Tensor<float>{6}));
    // Sums of 16-bit elements are formed in float: 1 + 1 + ... would end at 256.
    CHECK(GradX::run(Cpu{}, c, Tensor<bfloat16>{bfloat16(0.F)}, Tensor<bfloat16>::full({1024, 3}, bfloat16(1.F)))(0).bits() == bfloat16(2048.F).bits());
}

TEST_CASE("where refuses shapes that do not broadcast and element types that differ", "[op][bad]") {
    Tensor<bool> const c{true, false, true};
    Tensor<float> const x{1, 2}, y{{1, 2, 3}}, one{1};
    CHECK(test::refusal<ShapeError>([&](Cpu e) { GradX::run(e, c, y, one); }, y, one) == "condition.shape() is [3], expected [1] or one that broadcasts with it");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { GradY::run(e, c, y, Tensor<float>{1, 2, 3}); }, y) == "y.shape() is [1, 3], expected [3] or one that broadcasts with it");
    CHECK_THROWS_AS(where_op::infer(tensor_spec<float>({2}), tensor_spec<float>({2}), tensor_spec<float>({2})), TypeError);
    CHECK_THROWS_AS(where_op::infer(tensor_spec<bool>({2}), tensor_spec<float>({2}), tensor_spec<double>({2})), TypeError);
    CHECK_THROWS_AS(where_op::infer(tensor_spec<bool>({2}), tensor_spec<float>({3}), tensor_spec<float>({3})), ShapeError);
}

}  // namespace test_where
