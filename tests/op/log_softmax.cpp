// tests/op/log_softmax.cpp: log_softmax against NumPy in float64 and PyTorch 2.9.
#include <rowan/op/norm/log_softmax.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace test_log_softmax {

using rowan::bfloat16, rowan::Cpu, rowan::log_softmax, rowan::log_softmax_grad, rowan::log_softmax_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(log_softmax_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));

namespace {

bool near(Tensor<double> const& got, Tensor<double> const& want) {
    return got.shape() == want.shape() && std::equal(got.data(), got.data() + got.size(), want.data(), [](double a, double b) { return std::abs(a - b) <= 1e-15 * (1 + std::abs(b)); });
}

}  // namespace

TEST_CASE("log_softmax is the logarithm of softmax, also where softmax underflows", "[op][golden]") {
    Tensor<double> const x{{0.5, -1.25, 2.0}, {100, 0, -800}};
    auto const y = log_softmax(x);
    CHECK(near(y, {{-1.7326219831020326, -3.4826219831020326, -0.23262198310203266}, {0, -100, -900}}));
    CHECK(near(log_softmax_grad(y, Tensor<double>{{1, -2, 0.5}, {0.25, 1, 3}}), {{1.0884100910537222, -1.9846366298367817, 0.8962265387830597}, {-4, 1, 3}}));
    Tensor<double> const cube{{{0.5, -1.25, 2.0, 0.75}, {1.5, 0.25, -0.5, -2.0}, {-0.75, 3.0, 1.0, 0.0}}, {{2.25, 0.5, -1.5, 1.0}, {0.0, -0.25, 1.75, -1.0}, {1.25, -3.0, 0.5, 2.5}}};
    CHECK(near(log_softmax(cube, {.axis = 1}), {{{-1.3874903020271998, -4.325285652451986, -0.37153903185268283, -0.42937329210524633}, {-0.3874903020271999, -2.825285652451986, -2.871539031852683, -3.179373292105246}, {-2.6374903020272, -0.07528565245198594, -1.3715390318526828, -1.1793732921052462}}, {{-0.3874903020271999, -0.40717293970877516, -3.531623006850325, -1.7258020492315993}, {-2.6374903020272, -1.157172939708775, -0.28162300685032504, -3.7258020492315995}, {-1.3874903020271998, -3.9071729397087753, -1.531623006850325, -0.22580204923159933}}}));
    constexpr double inf = std::numeric_limits<double>::infinity();
    CHECK(log_softmax(Tensor<double>{{-inf, 0}})(0, 0) == -inf);
    CHECK(std::isnan(log_softmax(Tensor<double>{{inf, 0}})(0, 1)));
    CHECK(log_softmax(Tensor<double>::zeros({3, 0})).shape() == Tensor<double>::shape_type{3, 0});
}

TEST_CASE("the gradient of log_softmax along axis 0 is that of rows", "[op]") {
    auto const y = log_softmax(test::values({3, 2}, 1)), g = test::values({3, 2}, 2);
    auto const turned = [](Tensor<double> const& t) { return rowan::transpose(t); };
    CHECK(log_softmax_grad(turned(y), turned(g), {.axis = 0}) == turned(log_softmax_grad(y, g)));
}

TEST_CASE("log_softmax of bfloat16 is computed in float, and has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<bfloat16>({3, 37}, 1);
    auto wide = Tensor<float>::from_shape({3, 37});
    std::copy(x.data(), x.data() + x.size(), wide.data());
    auto const want = log_softmax(wide);
    auto const y = log_softmax(x);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y.data()[i].bits() == bfloat16(want.data()[i]).bits());
    auto const rows = inputs::wild<float>({rowan::detail::serial_below / 37 + 3, 37}, 3), out = log_softmax(rows);
    test::check_any_threads([&](Cpu exec) { return log_softmax(exec, rows); });
    test::check_any_threads([&](Cpu exec) { return log_softmax_grad(exec, out, rows); });
    auto const apart = inputs::wild<float>({3, 7, 67}, 5), turned = rowan::transpose(log_softmax(rowan::transpose(apart, {{0, 2, 1}})), {{0, 2, 1}});
    CHECK(log_softmax(apart, {.axis = 1}) == turned);
}

}  // namespace test_log_softmax
