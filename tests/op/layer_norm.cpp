// tests/op/layer_norm.cpp: rows with mean 0 and variance 1 against PyTorch, and their gradients.
#include <rowan/op/norm/layer_norm.hpp>

#include "catch.hpp"

#include <rowan/op/reduce/reduce_sum.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace test_layer_norm {

using rowan::Cpu, rowan::layer_norm, rowan::layer_norm_op, rowan::LayerNormOptions, rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(layer_norm_op::infer(tensor_spec<float>({UNK, 4}, 2), tensor_spec<float>({4}), tensor_spec<float>({4}), {}) == tensor_spec<float>({UNK, 4}, 2));
static_assert(layer_norm_op::infer(tensor_spec<float>({UNK, UNK, 2}), tensor_spec<float>({4, UNK}), tensor_spec<float>({UNK, 2}), {.begin_axis = 1}) == tensor_spec<float>({UNK, 4, 2}));

/// Whether all elements differ by less than 1e-13.
bool near(Tensor<double> const& got, Tensor<double> const& want) {
    if (got.shape() != want.shape()) return false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(std::abs(got.data()[i] - want.data()[i]) < 1e-13)) return false;
    }
    return true;
}

TEST_CASE("layer_norm and its gradients have PyTorch's values", "[op][golden]") {
    // torch 2 in double: layer_norm(x, (3,), w, b), backward(g); layer_norm(y, (2, 2), eps=0.1), layer_norm(y, (2,), eps=0.1)
    Tensor<double> const x{{1, 2, 4}, {-3, 0.5, 8}}, w{0.5, -1, 2}, b{1, 0, -0.25}, g{{1, -2, 0.5}, {0.25, 3, -1}};
    CHECK(near(layer_norm(x, w, b), {{0.46547923427485116, 0.26726038286257453, 2.4226038286257436}, {0.47333640865341065, 0.29057301591535967, 2.4378003972170763}}));
    CHECK(near(rowan::layer_norm_op::backward(Cpu{}, x, w, g), {{-0.4581611472191036, 0.6872408617829473, -0.22907971456384335}, {0.2323410851159754, -0.3407668014966275, 0.10842571638065196}}));
    auto const [scale_grad, shift_grad] = rowan::layer_norm_param_grad_op::run(Cpu{}, x, g);
    CHECK(near(scale_grad, {-1.3323733271235927, -0.33719828202092983, -0.6757492414521022}));
    CHECK(near(shift_grad, {1.25, 1, -0.5}));
    Tensor<double> const y{{{1, 2}, {4, -1}}, {{0, 3}, {3, 3.5}}};
    CHECK(near(layer_norm(y, {.begin_axis = 1, .epsilon = 0.1}), {{{-0.2731791823540765, 0.2731791823540765}, {1.3658959117703826, -1.3658959117703826}}, {{-1.6702691617350083, 0.43954451624605484}, {0.43954451624605484, 0.7911801292428987}}}));
    CHECK(near(layer_norm(y, {.begin_axis = -1, .epsilon = 0.1}), {{{-0.8451542547285166, 0.8451542547285166}, {0.9920947376656813, -0.9920947376656813}}, {{-0.9784921095801633, 0.9784921095801633}, {-0.6201736729460422, 0.6201736729460422}}}));
}

TEST_CASE("layer_norm of a large mean keeps the variance, and equal elements become the shift", "[op]") {
    auto const norm = layer_norm(Tensor<float>{{65536, 65538, 65540, 65542}});  // Σx² - (Σx)² / n has no digit left
    CHECK(norm(0, 0) == Approx(-1.3416408));
    CHECK(norm(0, 3) == Approx(1.3416408));
    CHECK(layer_norm(Tensor<float>{{3, 3}}, Tensor<float>{5, 5}, Tensor<float>{1, 2}) == Tensor<float>{{1, 2}});
    CHECK(layer_norm(Tensor<float>{{7}}) == Tensor<float>{{0}});
    CHECK(layer_norm(Tensor<float>{{123456.7f, 123456.7f, 123456.7f}}) == Tensor<float>{{0, 0, 0}});  // a third of the sum is rounded
    for (auto const& shape : {Tensor<float>::shape_type{0, 3}, {2, 0}, {0, 0}}) {
        auto const none = Tensor<float>::zeros(shape), row = Tensor<float>::full({shape[1]}, 1);
        CHECK(layer_norm(none, row, row).shape() == shape);
        CHECK(rowan::layer_norm_op::backward(Cpu{}, none, row, none).shape() == shape);
        CHECK(std::get<0>(rowan::layer_norm_param_grad_op::run(Cpu{}, none, none)) == Tensor<float>::zeros({shape[1]}));
        CHECK(std::get<1>(rowan::layer_norm_param_grad_op::run(Cpu{}, none, none)) == Tensor<float>::zeros({shape[1]}));
    }
}

TEMPLATE_TEST_CASE("layer_norm does not depend on how large or small a row is", "[op]", float, double) {
    using T = TestType;
    CHECK(layer_norm(Tensor<T>{{T(1e20), T(-1e20)}}) == Tensor<T>{{1, -1}});
    auto const ends = layer_norm(Tensor<float>{{3e38F, -3e38F, -3e38F, 3e38F}, {3e38F, 1e38F, 1e38F, 3e38F}});
    for (std::size_t i = 0; i < ends.size(); ++i) CHECK(std::abs(ends.data()[i] - (i % 4 == 0 || i % 4 == 3 ? 1 : -1)) < 1e-6F);
    std::size_t const width = 21;
    auto x = Tensor<T>::from_shape({9, width}), g = x, w = Tensor<T>::from_shape({width});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<T>(i * 7919 % 1013) / 512 - 1;
        g.data()[i] = static_cast<T>(i * 31 % 47) / 16 - 1;
    }
    for (std::size_t i = 0; i < width; ++i) w(i) = static_cast<T>(i % 5) - T{1.5};
    auto const results = [&](Tensor<T> const& of, double epsilon) {
        LayerNormOptions const o{.epsilon = epsilon};
        auto [scale_grad, shift_grad] = rowan::layer_norm_param_grad_op::run(Cpu{}, of, g, o);
        return std::array{layer_norm(of, w, w, o), rowan::layer_norm_op::backward(Cpu{}, of, w, g, o), std::move(scale_grad), std::move(shift_grad)};
    };
    double const epsilon = std::is_same_v<T, float> ? 0x1p-7 : 0x1p-20;
    for (double const of : {0.0, epsilon}) {
        auto const want = results(x, of);
        for (int power : {-120, -70, -52, 52, 63, 80, 110}) {
            if (std::is_same_v<T, double>) power *= 8;
            auto scaled = x;
            for (auto& a : scaled) a = std::ldexp(a, power);
            double const its = std::ldexp(of, 2 * power);
            double const most = std::is_same_v<T, float> ? 0x1p120 : 0x1p900;
            if (of != 0 && !(its < most && its > 1 / most)) continue;  // no number of the type
            auto got = results(scaled, its);
            for (auto& a : got[1]) a = std::ldexp(a, power);
            for (std::size_t k = 0; k < got.size(); ++k) {
                double off = 0;
                for (std::size_t i = 0; i < want[k].size(); ++i) off = std::max(off, static_cast<double>(std::abs(got[k].data()[i] - want[k].data()[i])));
                CAPTURE(power, of, k);
                CHECK(off < (std::is_same_v<T, float> ? 1e-4 : 1e-12));
            }
        }
    }
    CHECK(std::isnan(layer_norm(Tensor<T>{{1, INFINITY}})(0, 0)));
    CHECK(layer_norm(Tensor<T>{{T(1e-30), T(-1e-30)}})(0, 0) < T(1e-26));  // epsilon is larger
}

TEST_CASE("layer_norm throws for bad inputs", "[op][bad]") {
    Tensor<float> const x{{1, 2}}, row{1, 2}, three{1, 2, 3};
    CHECK_THROWS_WITH(layer_norm(x, row, three), "shift.shape() is [3], expected [2], the dims of x from begin_axis on");
    CHECK_THROWS_WITH(layer_norm(x, {.begin_axis = 0}), "begin_axis is 0, expected in [1, 1] or [-1, -1]: axis 0 is that of rows");
    CHECK_THROWS_WITH(layer_norm(x, {.begin_axis = -2}), "begin_axis is -2, expected in [1, 1] or [-1, -1]: axis 0 is that of rows");
    CHECK_THROWS_AS(layer_norm(x, {.epsilon = INFINITY}), rowan::ValueError);
}

}  // namespace test_layer_norm
