// tests/op/batch_norm.cpp: columns with mean 0 and variance 1 against PyTorch, and their gradients.
#include <rowan/op/norm/batch_norm.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace test_batch_norm {

using rowan::batch_norm, rowan::batch_norm_op, rowan::BatchNormAttributes, rowan::Cpu, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(batch_norm_op::infer(tensor_spec<float>({UNK, 4}, 2), tensor_spec<float>({4}), tensor_spec<float>({4}), tensor_spec<float>({4}), tensor_spec<float>({UNK}), tensor_spec<std::int64_t>({UNK}), {}) == std::array{tensor_spec<float>({UNK, 4}, 2), tensor_spec<float>({4}), tensor_spec<float>({4})});
static_assert(batch_norm_op::infer(tensor_spec<rowan::bfloat16>({UNK, 4}), tensor_spec<rowan::bfloat16>({4}), tensor_spec<rowan::bfloat16>({4}), tensor_spec<float>({4}), tensor_spec<float>({4}), tensor_spec<std::int64_t>({UNK}), {}) == std::array{tensor_spec<rowan::bfloat16>({UNK, 4}), tensor_spec<float>({4}), tensor_spec<float>({4})});

/// Whether all elements differ by less than 1e-12.
bool near(Tensor<double> const& got, Tensor<double> const& want) {
    if (got.shape() != want.shape()) return false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(std::abs(got.data()[i] - want.data()[i]) < 1e-12)) return false;
    }
    return true;
}

TEST_CASE("batch_norm and its gradients have PyTorch's values, and Paddle's moving statistics", "[op][golden]") {
    // torch 2 in double: batch_norm(x, mean, variance, w, b, training=…), backward(g); the moving variance is that of
    // Paddle 1.8 on a CPU: 0.9 · variance + 0.1 · var(x, unbiased=False)
    Tensor<double> const x{{1, 2, 4}, {-3, 0.5, 8}, {2, 2, -1}, {0.25, -1, 3}}, w{0.5, -1, 2}, b{1, 0, -0.25}, mean{0.5, 1, -2}, variance{1, 4, 0.25};
    Tensor<double> const g{{1, -2, 0.5}, {0.25, 3, -1}, {0, 1, 2}, {-1, 0.5, 0.75}};
    {
        auto const [out, next_mean, next_variance] = batch_norm(x, w, b, mean, variance, {}, true);
        CHECK(near(out, {{1.2501386485886896, -0.9045311100010948, 0.06234737141267788}, {0.18288041461028054, 0.30151037000036496, 2.561126342714101}, {1.5169532070832918, -0.9045311100010948, -3.061126342714101}, {1.050027729717738, 1.5075518500018248, -0.5623473714126779}}));
        CHECK(near(next_mean, {0.45625, 0.9875, -1.45}));
        CHECK(near(next_variance, {1.251171875, 3.7546875, 1.25}));
        auto const [x_grad, w_grad, b_grad] = rowan::batch_norm_grad(Cpu{}, x, w, mean, variance, g, {}, true);
        CHECK(near(x_grad, {{0.2504168887847895, 1.644605030499345, 0.0647548415872498}, {0.04911881174381167, -1.7542431568345749, -0.04190116854010759}, {-0.016100880167306233, -0.7674779295035744, -0.036185674313061876}, {-0.2834348203612949, 0.8771160558388041, 0.013332001265919673}}));
        CHECK(near(w_grad, {-0.008337954952956321, -2.5628381450031017, -4.255732935497736}));
        CHECK(near(b_grad, {0.25, 2.5, 2.25}));
    }
    BatchNormAttributes const options{.momentum = 0.9, .epsilon = 0.01};
    auto const [out, next_mean, next_variance] = batch_norm(x, w, b, mean, variance, options, false);
    CHECK(near(out, {{1.2487592975524975, -0.4993761694389223, 23.283936216582084}, {-0.7413150828674812, 0.24968808471946116, 38.9732270276368}, {1.746277892657492, -0.4993761694389223, 3.6723227027636804}, {0.8756203512237514, 0.9987523388778446, 19.3616135138184}}));
    CHECK(next_mean == mean);
    CHECK(next_variance == variance);
    auto const [x_grad, w_grad, b_grad] = rowan::batch_norm_grad(Cpu{}, x, w, mean, variance, g, options, false);
    CHECK(near(x_grad, {{0.49751859510499463, 0.9987523388778446, 1.9611613513818402}, {0.12437964877624866, -1.498128508316767, -3.9223227027636804}, {0, -0.4993761694389223, 7.844645405527361}, {-0.49751859510499463, -0.24968808471946116, 2.9417420270727606}}));
    CHECK(near(w_grad, {-0.12437964877624866, -1.7478165930362282, -2.4514516892273}));
    CHECK(near(b_grad, {0.25, 2.5, 2.25}));
}

TEST_CASE("batch_norm of one row gives the shift, and of no rows or columns keeps the moving statistics", "[op]") {
    Tensor<float> const row{1, 2}, shift{5, 6};
    auto const [out, mean, variance] = batch_norm(Tensor<float>{{3, 9}}, row, shift, row, row, {.momentum = 0.5}, true);
    CHECK(out == Tensor<float>{{5, 6}});
    CHECK(mean == Tensor<float>{2, 5.5});
    CHECK(variance == Tensor<float>{0.5, 1});
    CHECK(std::get<0>(rowan::batch_norm_grad(Cpu{}, Tensor<float>{{3, 9}}, row, row, row, Tensor<float>{{1, 7}}, {}, true)) == Tensor<float>{{0, 0}});
    {  // equal elements, a third of whose sum is rounded
        auto const [zeros, same, none] = batch_norm(Tensor<float>{{123456.7f}, {123456.7f}, {123456.7f}}, Tensor<float>{1}, Tensor<float>{0}, Tensor<float>{0}, Tensor<float>{1}, {.momentum = 0}, true);
        CHECK(zeros == Tensor<float>{{0}, {0}, {0}});
        CHECK(same(0) == 123456.7f);
        CHECK(none(0) == 0);
    }
    for (bool const training : {false, true}) {
        auto const none = Tensor<float>::zeros({0, 2}), thin = Tensor<float>::zeros({3, 0}), empty = Tensor<float>::zeros({0});
        auto const [still, kept_mean, kept_variance] = batch_norm(none, row, shift, row, shift, {}, training);
        CHECK(still.shape() == none.shape());
        CHECK(kept_mean == row);
        CHECK(kept_variance == shift);
        auto const [x_grad, w_grad, b_grad] = rowan::batch_norm_grad(Cpu{}, none, row, row, row, none, {}, training);
        CHECK(x_grad.shape() == none.shape());
        CHECK(w_grad == Tensor<float>{0, 0});
        CHECK(b_grad == Tensor<float>{0, 0});
        CHECK(std::get<0>(batch_norm(thin, empty, empty, empty, empty, {}, training)).shape() == thin.shape());
        CHECK(std::get<0>(rowan::batch_norm_grad(Cpu{}, thin, empty, empty, empty, thin, {}, training)).shape() == thin.shape());
    }
}

TEST_CASE("batch_norm is right for all columns whose variance is a number, and refuses others in training", "[op]") {
    Tensor<float> const one{1, 1, 1}, none{0, 0, 0}, mean{1, 2, 3}, variance{4, 5, 6};
    Tensor<float> const x{{1, 1.5e19F, 1e-30F}, {3, -1.5e19F, -1e-30F}, {1, 1.5e19F, 1e-30F}, {3, -1.5e19F, -1e-30F}};
    BatchNormAttributes const options{.momentum = 0.5, .epsilon = 0};
    auto const [out, next_mean, next_variance] = batch_norm(x, one, none, mean, variance, options, true);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(out(i, k) - ((i % 2 == 0) == (k != 0) ? 1 : -1)) < 1e-6F);
    }
    CHECK(next_variance(0) == 2.5F);
    CHECK(std::abs(next_variance(1) / 1.125e38F - 1) < 1e-6F);
    CHECK(next_variance(2) == 3);
    Tensor<float> const g{{1, 1, 1}, {2, 2, 2}, {5, 5, 5}, {3, 3, 3}};
    auto const x_grad = std::get<0>(rowan::batch_norm_grad(Cpu{}, x, one, mean, variance, g, options, true));
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(std::abs(x_grad(i, 1) * 1.5e19F - x_grad(i, 0)) < 1e-5F);
        CHECK(std::abs(x_grad(i, 2) * 1e-30F - x_grad(i, 0)) < 1e-5F);
    }
    Tensor<float> const sum{{3e38F}, {3e38F}, {2e38F}, {2e38F}};  // which overflows, but neither the mean nor a deviation
    CHECK_THROWS_WITH(batch_norm(sum, Tensor<float>{1}, Tensor<float>{0}, Tensor<float>{0}, Tensor<float>{1}, options, true),
                      "batch_norm: the variance of x[:, 0] is inf, expected at most the largest number of its type");
    CHECK(std::get<1>(batch_norm(Tensor<float>{{3e38F}, {3e38F}, {3e38F}}, Tensor<float>{1}, Tensor<float>{0}, Tensor<float>{0}, Tensor<float>{1}, {.momentum = 0}, true)) == Tensor<float>{3e38F});
    Tensor<float> const large{{0, 1, 1e20F}, {1, 3, -1e20F}};
    CHECK_THROWS_WITH(batch_norm(large, one, none, mean, variance, options, true), "batch_norm: the variance of x[:, 2] is inf, expected at most the largest number of its type");
    CHECK_THROWS_AS(rowan::batch_norm_grad(Cpu{}, large, one, mean, variance, large, options, true), rowan::ValueError);
    CHECK_NOTHROW(batch_norm(large, one, none, mean, variance, options, false));
    CHECK(std::isnan(std::get<2>(batch_norm(Tensor<float>{{1, INFINITY, 0}, {2, 1, 0}}, one, none, mean, variance, options, true))(1)));
    using rowan::float16;
    auto const half = [](float a) { return Tensor<float16>{float16(a)}; };
    Tensor<float16> const halves{{float16(1000.0F)}, {float16(-1000.0F)}};
    CHECK_THROWS_WITH(batch_norm(halves, half(1), half(0), half(0), half(1), {.momentum = 0}, true), "batch_norm: the variance of x[:, 0] is 1e+06, expected at most the largest number of its type");
    CHECK(std::get<2>(batch_norm(halves, half(1), half(0), Tensor<float>{0}, Tensor<float>{1}, {.momentum = 0}, true)) == Tensor<float>{1e6F});
}

TEST_CASE("batch_norm throws for bad inputs", "[op][bad]") {
    Tensor<float> const x{{1, 2}}, row{1, 2}, three{1, 2, 3};
    CHECK_THROWS_WITH(batch_norm(row, row, row, row, row, {}, true), "x rank is 1, expected 2");
    CHECK_THROWS_WITH(batch_norm(x, three, row, row, row, {}, true), "scale.shape() is [3], expected [2], the width of x");
    CHECK_THROWS_WITH(batch_norm(x, row, three, row, row, {}, true), "shift.shape() is [3], expected [2], the width of x");
    CHECK_THROWS_WITH(batch_norm(x, row, row, three, row, {}, true), "mean.shape() is [3], expected [2], the width of x");
    CHECK_THROWS_WITH(batch_norm(x, row, row, row, x, {}, true), "variance.shape() is [1, 2], expected [2], the width of x");
    CHECK_THROWS_WITH(batch_norm(x, row, row, row, row, {.epsilon = -1}, true), "epsilon is -1, expected 0 or more");
}

}  // namespace test_batch_norm
