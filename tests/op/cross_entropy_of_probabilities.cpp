// tests/op/cross_entropy_of_probabilities.cpp: losses of probabilities against row numbers and against probabilities.
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>

#include "check_gradients.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_cross_entropy_of_probabilities {

using rowan::bfloat16, rowan::Cpu, rowan::cross_entropy_of_probabilities, rowan::cross_entropy_of_probabilities_grad, rowan::cross_entropy_of_probabilities_op,
    rowan::IndexError, rowan::Reduction, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

using Labels = Tensor<std::int64_t>;

static_assert(cross_entropy_of_probabilities_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {Reduction::none}) == tensor_spec<float>({4}));
static_assert(cross_entropy_of_probabilities_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<std::int64_t>({UNK}), {Reduction::none}) == tensor_spec<float>({UNK}));
static_assert(cross_entropy_of_probabilities_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({UNK, 3}), {}) == tensor_spec<float>({1}));
static_assert(rowan::gradient_operator<cross_entropy_of_probabilities_op>::infer(tensor_spec<float>({UNK, 3}), tensor_spec<std::int32_t>({4}), tensor_spec<float>({1}))[0] ==
              tensor_spec<float>({UNK, 3}));

namespace {

// Probabilities with many digits.
Tensor<double> shares(std::size_t n, std::size_t classes, std::uint64_t seed) {
    auto x = test::values({n, classes}, seed);
    for (double& p : x) p = 0.3 + 0.25 * p;
    return x;
}

Labels labels(std::size_t n, std::size_t classes) {
    auto label = Labels::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) label(i) = static_cast<std::int64_t>(i * 7 % classes);
    return label;
}

}  // namespace

TEST_CASE("cross_entropy_of_probabilities is -log of the label's probability", "[op][golden]") {
    Tensor<double> const x{{0.5, 0.25, 0.25}, {0, 0, 1}, {0.25, 0.5, 0.25}};
    Labels const label{0, 2, 2};
    double const log2 = std::log(2);
    CHECK((cross_entropy_of_probabilities(x, label, {Reduction::none}) == Tensor<double>{log2, 0, std::log(4)}));
    CHECK((cross_entropy_of_probabilities(x, label, {Reduction::sum}) == Tensor<double>{log2 + 0.0 + std::log(4)}));
    CHECK((cross_entropy_of_probabilities(x, label) == Tensor<double>{(log2 + std::log(4)) / 3}));
    CHECK((cross_entropy_of_probabilities(x, Tensor<std::int32_t>{0, 2, 2}) == cross_entropy_of_probabilities(x, label)));
    CHECK((cross_entropy_of_probabilities_grad(x, label, Tensor<double>{3}) == Tensor<double>{{-2, 0, 0}, {0, 0, -1}, {0, 0, -4}}));
    CHECK((cross_entropy_of_probabilities_grad(x, label, Tensor<double>{1, 2, 3}, {Reduction::none}) == Tensor<double>{{-2, 0, 0}, {0, 0, -2}, {0, 0, -12}}));
    CHECK((cross_entropy_of_probabilities_grad(x, label, Tensor<double>{2}, {Reduction::sum}) == Tensor<double>{{-4, 0, 0}, {0, 0, -2}, {0, 0, -8}}));
}

TEST_CASE("cross_entropy_of_probabilities with soft labels ignores labels of 0", "[op][golden]") {
    Tensor<double> const x{{0.5, 0.25, 0.25}, {0, 0, 1}}, label{{0.5, 0.5, 0}, {0, 0, 1}};
    CHECK((cross_entropy_of_probabilities(x, label, {Reduction::none}) == Tensor<double>{0.5 * std::log(2) + 0.5 * std::log(4), 0}));
    CHECK((cross_entropy_of_probabilities_grad(x, label, Tensor<double>{2}) == Tensor<double>{{-1, -2, 0}, {0, 0, -1}}));
    Tensor<double> const wild = shares(3, 5, 1);
    Tensor<double> const hard{{0, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}};
    CHECK((cross_entropy_of_probabilities(wild, hard) == cross_entropy_of_probabilities(wild, Labels{1, 0, 4})));
    auto const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(cross_entropy_of_probabilities(x, Tensor<double>{{nan, 0, 0}, {0, 0, 1}})(0)));
}

TEST_CASE("cross_entropy_of_probabilities takes classes along any axis, a label to ignore and weights", "[op][golden]") {
    Tensor<double> const x{{0.5, 0.25}, {0.25, 0.5}, {0, 0.25}};  // classes along axis 0
    Labels const label{2, 1};
    double const log2 = std::log(2);
    auto const run = [&](Reduction reduction, std::int64_t ignored) { return cross_entropy_of_probabilities(x, label, {reduction, ignored, 0, {1, 3, 5}}); };
    CHECK((run(Reduction::none, 2) == Tensor<double>{0, 3 * log2}));
    CHECK((run(Reduction::mean, 2) == Tensor<double>{log2}));
    CHECK((cross_entropy_of_probabilities_grad(x, label, Tensor<double>{1}, {Reduction::mean, 2, 0, {1, 3, 5}}) == Tensor<double>{{0, 0}, {0, -2}, {0, 0}}));
    CHECK(std::isinf(run(Reduction::sum, 1)(0)));
    Tensor<double> const soft{{1, 0.5}, {0, 0.5}, {0, 0}};
    CHECK((cross_entropy_of_probabilities(x, soft, {.reduction = Reduction::none, .axis = 0, .weights = {2, 4, 1}}) == Tensor<double>{2 * log2, 2 * log2 + 2 * log2}));
    CHECK((cross_entropy_of_probabilities_grad(x, soft, Tensor<double>{4}, {.axis = 0, .weights = {2, 4, 1}}) == Tensor<double>{{-8, -8}, {0, -8}, {0, 0}}));
    auto const cube = shares(6, 4, 3).reshaped({2, 3, 4});
    for (Reduction const reduction : {Reduction::none, Reduction::mean, Reduction::sum})
        test::check_gradients<cross_entropy_of_probabilities_op>(std::tuple(Tensor<double>(cube), Labels{{2, 0, 1, 7}, {1, 1, 7, 2}}), {reduction, 7, 1, {0.5, 2, 1.25}});
}

TEST_CASE("cross_entropy_of_probabilities of no rows is 0, of a probability 0 infinity", "[op]") {
    auto const none = Tensor<float>::zeros({0, 3});
    CHECK((cross_entropy_of_probabilities(none, Labels::zeros({0})) == Tensor<float>{0}));
    CHECK((cross_entropy_of_probabilities(none, none, {Reduction::sum}) == Tensor<float>{0}));
    CHECK(cross_entropy_of_probabilities(none, none, {Reduction::none}).shape() == Labels::shape_type{0});
    CHECK((cross_entropy_of_probabilities_grad(none, none, Tensor<float>{1}) == none));
    CHECK((cross_entropy_of_probabilities(Tensor<float>{{0, 1}}, Labels{0})(0) == std::numeric_limits<float>::infinity()));
}

TEST_CASE("cross_entropy_of_probabilities of bfloat16 is computed in float and narrowed once", "[op]") {
    auto x = Tensor<bfloat16>::from_shape({37, 3});
    auto wide = Tensor<float>::from_shape({37, 3});
    for (std::size_t i = 0; i < x.size(); ++i) wide.data()[i] = x.data()[i] = bfloat16(0.01F * static_cast<float>(i % 90 + 1));
    auto const label = labels(37, 3);
    CHECK(cross_entropy_of_probabilities(x, label)(0).bits() == bfloat16(cross_entropy_of_probabilities(wide, label)(0)).bits());
    CHECK(cross_entropy_of_probabilities(x, x)(0).bits() == bfloat16(cross_entropy_of_probabilities(wide, wide)(0)).bits());
    auto const got = cross_entropy_of_probabilities_grad(x, label, Tensor<bfloat16>{bfloat16(1.F)}, {Reduction::sum});
    auto const want = cross_entropy_of_probabilities_grad(wide, label, Tensor<float>{1}, {Reduction::sum});
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(got.data()[i].bits() == bfloat16(want.data()[i]).bits());
}

TEST_CASE("cross_entropy_of_probabilities throws for invalid labels and shapes that do not match", "[op][bad]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}}, flat{1, 2}, soft{{1, 2}, {3, 4}}, g{1, 2};
    Labels const high{0, 3}, negative{-1, 0}, few{1}, good{0, 1};
    Labels const column{{0}, {1}};
    CHECK(test::refusal<IndexError>([&](Cpu e) { cross_entropy_of_probabilities_grad(e, x, high, g); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cross_entropy_of_probabilities(e, x, column); }, x, column) == "label rank is 2, expected 1");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cross_entropy_of_probabilities(e, flat, good); }, flat, good) == "x rank is 1, expected at least 2");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cross_entropy_of_probabilities_grad(e, x, good, x, {Reduction::none}); }, x) == "out_grad.shape() is [2, 3], expected [2]");
    CHECK(test::refusal<ShapeError>([] { cross_entropy_of_probabilities_op::infer(tensor_spec<float>({UNK, 3, 4}), tensor_spec<std::int64_t>({UNK, 4}), {}); }) ==
          "cross_entropy_of_probabilities: label.shape(1) is 4, expected 3");
    CHECK(test::refusal<rowan::TypeError>([] { cross_entropy_of_probabilities_op::infer(tensor_spec<float>({2, 3}), tensor_spec<float>({2}), {}); }) ==
          "cross_entropy_of_probabilities: label dtype is f32, expected i64");
}

}  // namespace test_cross_entropy_of_probabilities
