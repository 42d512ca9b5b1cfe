// tests/op/sub.cpp: differences of two tensors.
#include <rowan/op/elementwise/sub.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace test_sub {

using rowan::bfloat16, rowan::Cpu, rowan::negate_op, rowan::ShapeError, rowan::sub_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sub_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}, 1));
static_assert(negate_op::infer(tensor_spec<double>({UNK})) == tensor_spec<double>({UNK}));

TEST_CASE("sub is the difference, element by element", "[op][golden]") {
    CHECK((rowan::sub(Tensor<float>{{11, 22}, {33, 44}}, Tensor<float>{{10, 20}, {30, 50}}) == Tensor<float>{{1, 2}, {3, -6}}));
    auto const least = std::numeric_limits<std::int64_t>::min();
    CHECK((rowan::sub(Tensor<std::int64_t>{least, 1}, Tensor<std::int64_t>{1, 2}) ==
           Tensor<std::int64_t>{std::numeric_limits<std::int64_t>::max(), -1}));
    CHECK((rowan::negate(Tensor<float>{1, -2}) == Tensor<float>{-1, 2}));
    CHECK((rowan::negate(Tensor<std::int64_t>{least, 1}) == Tensor<std::int64_t>{least, -1}));
}

TEST_CASE("gradients of sub equal central differences", "[op]") {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 3}) {
        test::check_gradients<sub_op>(std::tuple(test::values({n, 4}, 1), test::values({n, 4}, 2)));
        test::check_gradients<negate_op>(std::tuple(test::values({n, 4}, 1)));
    }
    test::check_gradients<sub_op>(std::tuple(test::values({}, 1), test::values({}, 2)));
}

TEST_CASE("sub of bfloat16 rounds the difference once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), y = inputs::wild<bfloat16>({37}, 2), z = rowan::sub(x, y);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(float(x(i)) - float(y(i))).bits());
}

TEST_CASE("sub has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below + 77}, 3), y = inputs::wild<float>({rowan::detail::serial_below + 77}, 4);
    test::check_any_threads([&](Cpu exec) { return rowan::sub(exec, x, y); });
    test::check_any_threads([&](Cpu exec) { return rowan::negate(exec, x); });
    CHECK((rowan::sub(x, y) == Tensor<float>(x - y)));
}

TEST_CASE("sub refuses shapes that differ", "[op][bad]") {
    Tensor<float> const x{1, 2}, y{{1, 2, 3}};
    CHECK(test::refusal<ShapeError>([&](Cpu e) { rowan::sub(e, x, y); }, x, y) == "y.shape() is [1, 3], expected [2] or one that broadcasts with it");
    CHECK(test::refusal<ShapeError>([] { sub_op::infer(tensor_spec<float>({2, 3}), tensor_spec<float>({2})); }) ==
          "sub: y.shape(0) is 2, expected 3");
}

}  // namespace test_sub
