// tests/op/accuracy.cpp: the share of rows whose largest number is the label's.
#include <rowan/op/loss/accuracy.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>

namespace test_accuracy {

using rowan::accuracy, rowan::accuracy_op, rowan::bfloat16, rowan::Cpu, rowan::IndexError, rowan::ShapeError, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK;

using Labels = Tensor<std::int64_t>;

static_assert(accuracy_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<std::int32_t>({4})) == tensor_spec<double>({1}));
static_assert(!rowan::differentiable<accuracy_op>);

TEST_CASE("accuracy is the fraction of rows whose largest number is the label's", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3}, {9, 2, 3}, {-1, -2, -3}, {0, 5, 4}};
    CHECK((accuracy(x, Labels{2, 0, 0, 1}) == Tensor<double>{1}));
    CHECK((accuracy(x, Labels{2, 0, 1, 2}) == Tensor<double>{0.5}));
    CHECK((accuracy(x, Tensor<std::int32_t>{0, 1, 1, 1}) == Tensor<double>{0.25}));
    CHECK((accuracy(Tensor<std::int32_t>{{1, 2}, {4, 3}}, Labels{1, 1}) == Tensor<double>{0.5}));
    CHECK((accuracy(Tensor<bfloat16>{{bfloat16(1.F), bfloat16(2.F)}}, Labels{1}) == Tensor<double>{1}));
    CHECK((accuracy(Tensor<float>::zeros({0, 3}), Labels::zeros({0})) == Tensor<double>{0}));
}

TEST_CASE("with k, accuracy is the fraction of rows whose label is at one of the k largest numbers", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3, 0}, {9, 2, 3, 9}, {-1, -2, -3, -4}, {5, 5, 5, 5}};
    // the places of the labels are 2, 2, 4 and 3
    double const want[] = {0, 0.5, 0.75, 1, 1};
    for (std::int64_t k = 1; k <= 5; ++k) CHECK((accuracy(x, Labels{1, 3, 3, 2}, k) == Tensor<double>{want[k - 1]}));
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK((accuracy(Tensor<float>{{nan, 7}, {7, nan}, {nan, 1}}, Labels{1, 0, 0}, 5) == Tensor<double>{0}));
    CHECK(accuracy(Tensor<float>{{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN(), 1, 2}}, Labels{3}, std::int64_t{1} << 62)(0) == 0);
    CHECK_THROWS_WITH(accuracy(x, Labels{1, 3, 3, 2}, 0), "accuracy: k is 0, expected at least 1");
    CHECK_THROWS_WITH(accuracy_op::infer(tensor_spec<float>({2, 3}), tensor_spec<std::int64_t>({2}), {.k = 0}), "accuracy: k is 0, expected at least 1");
}

TEST_CASE("of equal numbers the first counts, and a row with a NaN is wrong", "[op]") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK((accuracy(Tensor<float>{{7, 7, 1}, {7, 7, 1}}, Labels{0, 1}) == Tensor<double>{0.5}));
    CHECK((accuracy(Tensor<float>{{nan, 7}, {7, nan}, {nan, 1}, {1, nan}}, Labels{1, 0, 0, 1}) == Tensor<double>{0}));
}

}  // namespace test_accuracy
