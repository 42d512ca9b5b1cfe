// tests/op/tanh.cpp: the hyperbolic tangent, and its gradient from the result.
#include <rowan/op/elementwise/tanh.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <limits>

namespace test_tanh {

using rowan::bfloat16, rowan::ShapeError, rowan::tanh_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(tanh_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));
static_assert(rowan::gradient_operator<tanh_op>::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK}))[0] == tensor_spec<float>({4, UNK}));

TEST_CASE("tanh equals the C library's, up to rounding", "[op][golden]") {
    Tensor<double> const x{{0, 1, -1}, {0.3, 1e-9, -20}};
    auto const y = rowan::tanh(x);
    REQUIRE(y.shape() == x.shape());
    for (std::size_t i = 0; i < 6; ++i) {
        double const want = std::tanh(x.data()[i]);
        CHECK(std::abs(y.data()[i] - want) <= 4e-16 * std::abs(want));
    }
    CHECK((rowan::tanh_op::backward(rowan::Cpu{}, Tensor<float>{0.5, -0.25}, Tensor<float>{4, 16}) == Tensor<float>{3, 15}));
}

TEST_CASE("tanh of large numbers is 1 or -1, of a NaN a NaN", "[op]") {
    float const inf = std::numeric_limits<float>::infinity();
    auto const y = rowan::tanh(Tensor<float>{1e30F, inf, -1e30F, -inf, std::nanf("")});
    CHECK((y(0) == 1 && y(1) == 1 && y(2) == -1 && y(3) == -1));
    CHECK(std::isnan(y(4)));
}

TEST_CASE("tanh of bfloat16 is computed in float and narrowed once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1);
    Tensor<float> wide = Tensor<float>::from_shape({37});
    std::copy(x.data(), x.data() + 37, wide.data());
    auto const y = rowan::tanh(wide);
    for (std::size_t i = 0; i < 37; ++i) CHECK(rowan::tanh(x)(i).bits() == bfloat16(y(i)).bits());
}

TEST_CASE("tanh is right to a few units in the last place, of small arguments, too", "[op]") {
    auto const check = []<class T>(T, double relative) {
        auto x = Tensor<T>::from_shape({20'003});
        for (std::size_t i = 0; i < x.size(); ++i)  // ±1e-5 … ±22
            x.data()[i] = static_cast<T>((i % 2 == 0 ? 1 : -1) * 1e-5 * std::exp(static_cast<double>(i) * 7.3e-4));
        auto const y = rowan::tanh(rowan::Cpu{}, x);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const want = std::tanh(static_cast<double>(x.data()[i]));
            worst = std::max(worst, std::abs((static_cast<double>(y.data()[i]) - want) / want));
        }
        CHECK(worst < relative);
    };
    check(float{}, 3e-7);
    check(double{}, 7e-16);
}

}  // namespace test_tanh
