// tests/op/softmax_with_cross_entropy.cpp: losses of logits.
#include <rowan/op/softmax_with_cross_entropy.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

#include <rowan/op/softmax.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_softmax_with_cross_entropy {

using rowan::bfloat16, rowan::Cpu, rowan::IndexError, rowan::Reduction, rowan::ShapeError, rowan::softmax_with_cross_entropy,
    rowan::softmax_with_cross_entropy_grad, rowan::softmax_with_cross_entropy_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

using Labels = Tensor<std::int64_t>;
using grad_op = rowan::softmax_with_cross_entropy_grad_op;

static_assert(softmax_with_cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {})[0] == tensor_spec<float>({1}));
static_assert(softmax_with_cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {Reduction::none})[0] ==
              tensor_spec<float>({4}));
static_assert(softmax_with_cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {})[1] == tensor_spec<float>({4, 3}, 1));
static_assert(grad_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<std::int64_t>({UNK}), tensor_spec<float>({1}), {}) == tensor_spec<float>({UNK, 3}));

namespace {

Labels labels(std::size_t n, std::size_t classes) {
    auto label = Labels::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) label(i) = static_cast<std::int64_t>(i * 7 % classes);
    return label;
}

}  // namespace

TEST_CASE("softmax_with_cross_entropy is log(sum(exp(x))) minus the number at the label", "[op][golden]") {
    Tensor<double> const x{{1, 1, 1, 1}, {0, 90, 90, -800}};
    Labels const label{2, 0};
    auto const [loss, softmax] = softmax_with_cross_entropy(x, label, Reduction::none);
    CHECK((loss == Tensor<double>{std::log(4), std::log(2) + 90}));
    CHECK(reference::same(softmax, rowan::softmax(x)));
    CHECK((std::get<0>(softmax_with_cross_entropy(x, label)) == Tensor<double>{(std::log(4) + (std::log(2) + 90)) / 2}));
    CHECK((std::get<0>(softmax_with_cross_entropy(x, label, Reduction::sum)) == Tensor<double>{std::log(4) + (std::log(2) + 90)}));
    Tensor<double> const half{{0.5, 0.25, 0.25}, {0, 0.5, 0.5}};
    CHECK((softmax_with_cross_entropy_grad(half, Labels{0, 2}, Tensor<double>{4}) == Tensor<double>{{-1, 0.5, 0.5}, {0, 1, -1}}));
    CHECK((softmax_with_cross_entropy_grad(half, Labels{0, 2}, Tensor<double>{4, 8}, Reduction::none) == Tensor<double>{{-2, 1, 1}, {0, 4, -4}}));
}

TEST_CASE("softmax_with_cross_entropy is finite if probabilities underflow", "[op]") {
    Tensor<float> const x{{-1e30F, 1e30F}, {1e30F, -1e30F}};
    auto const [loss, softmax] = softmax_with_cross_entropy(x, Labels{0, 0}, Reduction::none);
    CHECK((loss == Tensor<float>{2e30F, 0}));
    CHECK((softmax_with_cross_entropy_grad(softmax, Labels{0, 0}, Tensor<float>{1, 1}, Reduction::none) == Tensor<float>{{-1, 1}, {0, 0}}));
}

TEST_CASE("softmax_with_cross_entropy of no rows is 0", "[op]") {
    auto const [loss, softmax] = softmax_with_cross_entropy(Tensor<float>::zeros({0, 3}), Labels::zeros({0}));
    CHECK((loss == Tensor<float>{0}));
    CHECK(softmax.shape() == Labels::shape_type{0, 3});
    CHECK(softmax_with_cross_entropy_grad(softmax, Labels::zeros({0}), loss).shape() == softmax.shape());
}

TEST_CASE("the gradient of softmax_with_cross_entropy equals central differences", "[op]") {
    for (Reduction const reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        for (std::size_t const n : std::vector<std::size_t>{0, 1, 4}) {
            for (std::size_t const classes : std::vector<std::size_t>{1, 5, 18})
                test::check_gradients<softmax_with_cross_entropy_op>(std::tuple(test::values({n, classes}, n), labels(n, classes)), {reduction});
        }
    }
}

TEST_CASE("softmax_with_cross_entropy of bfloat16 is computed in float and narrowed once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37, 3}, 1);
    auto wide = Tensor<float>::from_shape({37, 3});
    std::copy(x.data(), x.data() + x.size(), wide.data());
    auto const label = labels(37, 3);
    auto const [loss, softmax] = softmax_with_cross_entropy(x, label, Reduction::none);
    auto const [want, wide_softmax] = softmax_with_cross_entropy(wide, label, Reduction::none);
    for (std::size_t i = 0; i < 37; ++i) CHECK(loss(i).bits() == bfloat16(want(i)).bits());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(softmax.data()[i].bits() == bfloat16(wide_softmax.data()[i]).bits());
    CHECK(softmax_with_cross_entropy_grad(softmax, label, loss, Reduction::none).shape() == x.shape());
}

TEST_CASE("softmax_with_cross_entropy has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below, 3}, 1);
    auto const label = labels(x.shape(0), 3);
    for (Reduction const reduction : {Reduction::none, Reduction::mean}) {
        test::check_any_threads([&](Cpu exec) { return softmax_with_cross_entropy(exec, x, label, reduction); });
        auto const [g, softmax] = softmax_with_cross_entropy(x, label, reduction);
        auto const &grad = g, &saved = softmax;
        test::check_any_threads([&](Cpu exec) { return softmax_with_cross_entropy_grad(exec, saved, label, grad, reduction); });
    }
}

TEST_CASE("softmax_with_cross_entropy throws for invalid labels and shapes that do not match", "[op][bad]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}}, flat{1, 2}, g{1, 2};
    Labels const high{0, 3}, few{1}, good{0, 1};
    CHECK(test::refusal<IndexError>([&](Cpu e) { softmax_with_cross_entropy(e, x, high); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<IndexError>([&](Cpu e) { softmax_with_cross_entropy_grad(e, x, high, g); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { softmax_with_cross_entropy(e, x, few); }, x, few) == "label.shape(0) is 1, expected 2, the number of rows");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { softmax_with_cross_entropy(e, flat, good); }, flat, good) == "x rank is 1, expected 2");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { softmax_with_cross_entropy_grad(e, flat, good, g); }, flat, good) == "softmax rank is 1, expected 2");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { softmax_with_cross_entropy_grad(e, x, good, g); }, x, g) == "out_grad.shape() is [2], expected [1]");
}

}  // namespace test_softmax_with_cross_entropy
