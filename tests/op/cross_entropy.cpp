// tests/op/cross_entropy.cpp: losses of logits.
#include <rowan/op/loss/cross_entropy.hpp>

#include "inputs.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <rowan/op/norm/softmax.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace test_cross_entropy {

using rowan::bfloat16, rowan::Cpu, rowan::IndexError, rowan::Reduction, rowan::ShapeError, rowan::cross_entropy,
    rowan::cross_entropy_grad, rowan::cross_entropy_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

using Labels = Tensor<std::int64_t>;

static_assert(cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {})[0] == tensor_spec<float>({1}));
static_assert(cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {.reduction = Reduction::none, .ignore_index = 7})[0] ==
              tensor_spec<float>({4}));
static_assert(cross_entropy_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<std::int32_t>({4}), {})[1] == tensor_spec<float>({4, 3}, 1));
static_assert(rowan::cross_entropy_op::infer_backward(tensor_spec<float>({UNK, 3}), tensor_spec<std::int64_t>({UNK}), tensor_spec<float>({1}), {}) == tensor_spec<float>({UNK, 3}));

namespace {

Labels labels(std::size_t n, std::size_t classes) {
    auto label = Labels::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) label(i) = static_cast<std::int64_t>(i * 7 % classes);
    return label;
}

// |got - want| is at most 2^-51 of want.
bool near(Tensor<double> const& got, Tensor<double> const& want) {
    return got.shape() == want.shape() && std::equal(got.data(), got.data() + got.size(), want.data(), [](double a, double b) { return std::abs(a - b) <= std::ldexp(std::abs(b), -51); });
}

}  // namespace

TEST_CASE("cross_entropy is log(sum(exp(x))) minus the number at the label", "[op][golden]") {
    Tensor<double> const x{{1, 1, 1, 1}, {0, 90, 90, -800}};
    Labels const label{2, 0};
    auto const [loss, softmax] = cross_entropy(x, label, {Reduction::none});
    CHECK((loss == Tensor<double>{std::log(4), std::log(2) + 90}));
    CHECK(reference::same(softmax, rowan::softmax(x)));
    CHECK((std::get<0>(cross_entropy(x, label)) == Tensor<double>{(std::log(4) + (std::log(2) + 90)) / 2}));
    CHECK((std::get<0>(cross_entropy(x, label, {Reduction::sum})) == Tensor<double>{std::log(4) + (std::log(2) + 90)}));
    Tensor<double> const half{{0.5, 0.25, 0.25}, {0, 0.5, 0.5}};
    CHECK((cross_entropy_grad(half, Labels{0, 2}, Tensor<double>{4}) == Tensor<double>{{-1, 0.5, 0.5}, {0, 1, -1}}));
    CHECK((cross_entropy_grad(half, Labels{0, 2}, Tensor<double>{4, 8}, {Reduction::none}) == Tensor<double>{{-2, 1, 1}, {0, 4, -4}}));
}

TEST_CASE("rows with the label ignore_index have no loss and no gradient, and do not count in the mean", "[op][golden]") {
    // torch.nn.functional.cross_entropy(x, label, ignore_index=-100) of PyTorch 2.9.0
    Tensor<double> const x{{0.5, -1.25, 2}, {1, 2, 3}, {-1e4, 1e4, 0}};
    Labels const label{0, -100, 1};
    auto const [loss, softmax] = cross_entropy(x, label, {Reduction::none, -100});
    CHECK(near(loss, Tensor<double>{1.7326219831020326, 0, 0}));
    CHECK(near(std::get<0>(cross_entropy(x, label, {Reduction::mean, -100})), Tensor<double>{0.8663109915510163}));
    CHECK(near(std::get<0>(cross_entropy(x, label, {Reduction::sum, -100})), Tensor<double>{1.7326219831020326}));
    CHECK(near(cross_entropy_grad(softmax, label, Tensor<double>{1}, {Reduction::mean, -100}), Tensor<double>{{-0.41158990894627784, 0.015363370163218216, 0.39622653878305963}, {0, 0, 0}, {0, 0, 0}}));
    CHECK((std::get<0>(cross_entropy(x, Tensor<std::int32_t>{2, 2, 2}, {Reduction::mean, 2})) == Tensor<double>{0}));
    CHECK((cross_entropy_grad(softmax, Labels{2, 2, 2}, Tensor<double>{1}, {Reduction::mean, 2}) == Tensor<double>::zeros({3, 3})));
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    Tensor<double> const rest{{nan, 0, 1}, {inf, 0, 1}, {0, -inf, 1}, {0, 0, nan}, {0, 0, 0}};
    for (rowan::CrossEntropyOptions const& o : {rowan::CrossEntropyOptions{.ignore_index = 1}, rowan::CrossEntropyOptions{.weights = {3, 0, 1}}}) {
        auto const [of, p] = cross_entropy(rest, Labels{1, 1, 1, 1, 0}, o);
        CHECK(near(of, Tensor<double>{1.0986122886681098}));
        CHECK(near(cross_entropy_grad(p, Labels{1, 1, 1, 1, 0}, Tensor<double>{1}, o), Tensor<double>{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {-2.0 / 3, 1.0 / 3, 1.0 / 3}}));
    }
}

TEST_CASE("cross_entropy of labels that are probabilities equals PyTorch's", "[op][golden]") {
    // torch.nn.functional.cross_entropy(x, label) of PyTorch 2.9.0
    Tensor<double> const x{{0.5, -1.25, 2}, {1, 2, 3}, {-1e4, 1e4, 0}};
    Tensor<double> const label{{0.25, 0.25, 0.5}, {0, 1, 0.5}, {0.125, 0, 0.875}};
    auto const [loss, softmax] = cross_entropy(x, label, {Reduction::none});
    CHECK(near(loss, Tensor<double>{1.4201219831020326, 1.6114089466665706, 11250}));
    CHECK(near(std::get<0>(cross_entropy(x, label)), Tensor<double>{3751.0105103099227}));
    CHECK(near(cross_entropy_grad(softmax, label, Tensor<double>{1}), Tensor<double>{{-0.0243932726308519, -0.07309108655785451, 0.09748435918870642}, {0.04501528658519022, -0.21096909780593448, 0.16595381122074424}, {-0.041666666666666664, 0.3333333333333333, -0.29166666666666663}}));
    Tensor<double> const hard{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    CHECK((cross_entropy(x, hard) == cross_entropy(x, Labels{1, 2, 0})));
    Tensor<double> const none = Tensor<double>::zeros({3, 0});
    CHECK((std::get<0>(cross_entropy(none, none, {Reduction::none})) == Tensor<double>{0, 0, 0}));
    double const inf = std::numeric_limits<double>::infinity();
    CHECK((std::get<0>(cross_entropy(Tensor<double>{{-inf, 0}}, Tensor<double>{{0, 1}})) == Tensor<double>{0}));
}

TEST_CASE("classes along any axis have weights, as in PyTorch", "[op][golden]") {
    // torch.nn.functional.cross_entropy(x, label, weight=[0.5, 2, 1.25], ignore_index=7), and the same in NumPy
    Tensor<double> const x{{{0.5, -1.25, 2.0, 0.75}, {1.5, 0.25, -0.5, -2.0}, {-0.75, 3.0, 1.0, 0.0}}, {{2.25, 0.5, -1.5, 1.0}, {0.0, -0.25, 1.75, -1.0}, {1.25, -3.0, 0.5, 2.5}}};
    Labels const label{{2, 0, 1, 7}, {1, 1, 7, 2}};
    std::vector<double> const weights{0.5, 2, 1.25};
    auto const close = [](Tensor<double> const& got, Tensor<double> const& want) {
        return got.shape() == want.shape() && std::equal(got.data(), got.data() + got.size(), want.data(), [](double a, double b) { return std::abs(a - b) <= 1e-15 * (1 + std::abs(b)); });
    };
    auto const loss = [&](Reduction reduction) { return std::get<0>(cross_entropy(x, label, {reduction, 7, 1, weights})); };
    CHECK(close(loss(Reduction::none), {{3.2968628775339996, 2.162642826225993, 5.743078063705366, 0}, {5.2749806040544, 2.31434587941755, 0, 0.2822525615394992}}));
    CHECK(close(loss(Reduction::sum), {19.074162812476807}));
    CHECK(close(loss(Reduction::mean), {2.119351423608534}));
    auto const softmax = std::get<1>(cross_entropy(x, label, {.ignore_index = 7, .axis = -2}));
    CHECK(softmax == rowan::softmax(x, {.axis = 1}));
    CHECK(close(cross_entropy_grad(softmax, label, Tensor<double>{1}, {Reduction::mean, 7, 1, weights}), {{{0.03468072131753527, -0.05482056830886849, 0.153260463583223, 0}, {0.09427197455530834, 0.0032939843103152702, -0.20964183727989527, 0}, {-0.12895269587284358, 0.05152658399855322, 0.056381373696672274, 0}}, {{0.15083515928849334, 0.1478953519872488, 0, 0.02472641743141098}, {-0.20632431339654972, -0.15236140463758652, 0, 0.003346356706506721}, {0.05548915410805642, 0.004466052650337705, 0, -0.028072774137917693}}}));

    Tensor<double> const soft{{{0.25, 0, 1, 0.5}, {0.75, 0.5, 0, 0.25}, {0, 0.5, 0, 0.25}}, {{1, 0, 0.125, 0.5}, {0, 1, 0.375, 0.25}, {0, 0, 0.5, 0.25}}};
    auto const shares = [&](Reduction reduction) { return std::get<0>(cross_entropy(x, soft, {.reduction = reduction, .axis = 1, .weights = weights})); };
    CHECK(close(shares(Reduction::none), {{0.7546717407941999, 2.872339185234477, 0.18576951592634142, 2.065584122861824}, {0.19374515101359996, 2.31434587941755, 1.3892080723473421, 2.3649146773085743}}));
    CHECK(close(shares(Reduction::mean), {1.5175722931129885}));
    CHECK(close(cross_entropy_grad(softmax, soft, Tensor<double>{1}, {.axis = 1, .weights = weights}), {{{0.03509555492689532, 0.002687297120699568, -0.019395494617218526, 0.055199901004794924}, {-0.04962723721286155, -0.1129563698654098, 0.003538233265029455, -0.05697344272723186}, {0.014531682285966258, 0.1102690727447102, 0.015857261352189077, 0.001773541722436961}}, {{-0.02007761145011125, 0.1663822709856549, -0.002555312309637226, -0.007605363331213252}, {0.004471286857220387, -0.17140658021728483, 0.04183465754293905, -0.05930004639940295}, {0.015606324592890868, 0.005024309231629919, -0.03927934523330181, 0.0669054097306162}}}));
    CHECK((std::get<0>(cross_entropy(x, Labels::zeros({2, 4}), {.axis = 1, .weights = {0, 1, 1}})) == Tensor<double>{0}));
}

TEST_CASE("cross_entropy is finite if probabilities underflow", "[op]") {
    Tensor<float> const x{{-1e30F, 1e30F}, {1e30F, -1e30F}};
    auto const [loss, softmax] = cross_entropy(x, Labels{0, 0}, {Reduction::none});
    CHECK((loss == Tensor<float>{2e30F, 0}));
    CHECK((cross_entropy_grad(softmax, Labels{0, 0}, Tensor<float>{1, 1}, {Reduction::none}) == Tensor<float>{{-1, 1}, {0, 0}}));
}

TEST_CASE("cross_entropy of no rows is 0", "[op]") {
    auto const [loss, softmax] = cross_entropy(Tensor<float>::zeros({0, 3}), Labels::zeros({0}));
    CHECK((loss == Tensor<float>{0}));
    CHECK(softmax.shape() == Labels::shape_type{0, 3});
    CHECK(cross_entropy_grad(softmax, Labels::zeros({0}), loss).shape() == softmax.shape());
}

TEST_CASE("cross_entropy of bfloat16 is computed in float and narrowed once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37, 3}, 1);
    auto wide = Tensor<float>::from_shape({37, 3});
    std::copy(x.data(), x.data() + x.size(), wide.data());
    auto const label = labels(37, 3);
    auto const [loss, softmax] = cross_entropy(x, label, {Reduction::none});
    auto const [want, wide_softmax] = cross_entropy(wide, label, {Reduction::none});
    for (std::size_t i = 0; i < 37; ++i) CHECK(loss(i).bits() == bfloat16(want(i)).bits());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(softmax.data()[i].bits() == bfloat16(wide_softmax.data()[i]).bits());
    CHECK(cross_entropy_grad(softmax, label, loss, {Reduction::none}).shape() == x.shape());
}

TEST_CASE("cross_entropy throws for invalid labels and shapes that do not match", "[op][bad]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}}, flat{1, 2}, g{1, 2};
    Labels const high{0, 3}, few{1}, good{0, 1};
    CHECK(test::refusal<IndexError>([&](Cpu e) { cross_entropy(e, x, high); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<IndexError>([&](Cpu e) { cross_entropy_grad(e, x, high, g); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cross_entropy_grad(e, flat, good, g); }, flat, good) == "softmax rank is 1, expected at least 2");
    CHECK(test::refusal<IndexError>([&](Cpu e) { cross_entropy(e, x, high, {Reduction::mean, 0}); }, x, high) == "label[1] = 3 is not in [0, 3)");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { cross_entropy(e, Tensor<float>::zeros({2, 3, 4}), Labels::zeros({2, 4})); }) == "label.shape() is [2, 4], expected [2, 3]");
    CHECK(test::refusal<rowan::ValueError>([&](Cpu e) { cross_entropy(e, x, x, {.ignore_index = 1}); }, x) == "ignore_index is 1, expected none for labels that are probabilities");
    CHECK(test::refusal<ShapeError>([] { cross_entropy_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<std::int32_t>({UNK}), {.weights = {1}}); }) == "weights.size() is 1, expected 3, one for each class");
    CHECK(test::refusal<ShapeError>([] { cross_entropy_op::infer(tensor_spec<float>({2, 3, 4}), tensor_spec<std::int32_t>({2}), {}); }) ==
          "cross_entropy: label rank is 1, expected that of x for probabilities, or one less for class ids");
    CHECK(cross_entropy_op::infer(tensor_spec<float>({UNK, 3, UNK}), tensor_spec<std::int32_t>({2, 4}), {.reduction = Reduction::none, .axis = 1})[0] == tensor_spec<float>({2, 4}));
    CHECK(cross_entropy_op::infer(tensor_spec<float>({UNK, 3, UNK}), tensor_spec<std::int32_t>({2, 4}), {.axis = 1})[1] == tensor_spec<float>({2, 3, 4}));
    CHECK_THROWS_WITH(cross_entropy(x, flat), "label.shape() is [2], expected [2, 3]");
    CHECK_THROWS_WITH(cross_entropy_op::infer(tensor_spec<float>({2, 3}), tensor_spec<float>({2, 3}), {.reduction = {}, .ignore_index = 1}),
                      "cross_entropy: ignore_index is 1, expected none for labels that are probabilities");
}

}  // namespace test_cross_entropy
