// tests/op/sigmoid.cpp: the logistic function, and its gradient from the result.
#include <rowan/op/elementwise/sigmoid.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <limits>

namespace test_sigmoid {

using rowan::bfloat16, rowan::ShapeError, rowan::sigmoid_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sigmoid_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));
static_assert(rowan::gradient_operator<sigmoid_op>::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK}))[0] == tensor_spec<float>({4, UNK}));

TEST_CASE("sigmoid is 1 / (1 + exp(-x))", "[op][golden]") {
    Tensor<double> const x{{0, 1}, {-1, 3}};
    auto const y = rowan::sigmoid(x);
    REQUIRE(y.shape() == x.shape());
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(y.data()[i] - 1 / (1 + std::exp(-x.data()[i]))) <= 4e-16);
    CHECK(y(0, 0) == 0.5);
    CHECK((rowan::sigmoid_op::backward(rowan::Cpu{}, Tensor<float>{0.5, 0.25}, Tensor<float>{4, 16}) == Tensor<float>{1, 3}));
}

TEST_CASE("sigmoid of large numbers is 0 or 1, of a NaN a NaN", "[op]") {
    float const inf = std::numeric_limits<float>::infinity();
    auto const y = rowan::sigmoid(Tensor<float>{1e30F, inf, -1e30F, -inf, std::nanf("")});
    CHECK((y(0) == 1 && y(1) == 1));
    CHECK((y(2) >= 0 && y(2) < 1e-37F && y(3) == y(2)));
    CHECK(std::isnan(y(4)));
}

TEST_CASE("sigmoid of bfloat16 is computed in float and narrowed once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1);
    Tensor<float> wide = Tensor<float>::from_shape({37});
    std::copy(x.data(), x.data() + 37, wide.data());
    auto const y = rowan::sigmoid(wide);
    auto const g = rowan::sigmoid_op::backward(rowan::Cpu{}, wide, y);
    for (std::size_t i = 0; i < 37; ++i) CHECK(rowan::sigmoid(x)(i).bits() == bfloat16(y(i)).bits());
    CHECK(rowan::sigmoid_op::backward(rowan::Cpu{}, x, rowan::sigmoid(x)).shape() == g.shape());
}

TEST_CASE("sigmoid is right to a few units in the last place, of any argument and in any position of a register", "[op]") {
    auto const check = []<class T>(T, double relative) {
        auto x = Tensor<T>::from_shape({20'003});
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>((static_cast<double>(i) - 10'001) * 3e-3);
        auto const y = rowan::sigmoid(x);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const want = 1 / (1 + std::exp(-static_cast<double>(x.data()[i])));
            worst = std::max(worst, std::abs(static_cast<double>(y.data()[i]) - want) / want);
        }
        CHECK(worst < relative);
    };
    check(float{}, 2.5e-7);
    check(double{}, 5e-16);
}

}  // namespace test_sigmoid
