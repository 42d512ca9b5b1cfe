// tests/thrust/op_elementwise.cpp: operators that work element by element, on devices: the bits of Cpu.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace op_elementwise {

using device::filled, device::same_bits, device::Shape;
using rowan::Cpu, rowan::Tensor, rowan::to_device, rowan::to_host;

Shape const shapes[] = {{0}, {1}, {3}, {63}, {64, 1}, {65}, {5, 0}, {17, 3}, {4096}, {4097}, {2, 3, 4}, {}};

/// f(exec, tensors...) on the device must equal f on Cpu, for odd sizes and any alignment of rows.
template <class T, class D, class F>
void same_as_cpu(F const& f) {
    unsigned seed = 1;
    for (Shape const& shape : shapes) {
        auto const x = filled<T>(shape, seed++), y = filled<T>(shape, seed++);
        CHECK(same_bits(f(D{}, to_device<D>(x), to_device<D>(y)), f(Cpu{}, x, y)));
    }
    auto const x = filled<T>({9, 3}, seed++), y = filled<T>({8, 3}, seed++);
    CHECK(same_bits(f(D{}, to_device<D>(x).slice(1, 9), to_device<D>(y)), f(Cpu{}, x.slice(1, 9), y)));
}

template <class Op>
struct Run1 {
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const&) const {
        return Op::run(exec, x);
    }
};
template <class Op>
struct Run2 {
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) const {
        return Op::run(exec, x, y);
    }
};
struct Scale {
    double factor, bias;
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const&) const {
        return rowan::scale_op::run(exec, x, {factor, bias});
    }
};
struct ScaleGrad {
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const&) const {
        return rowan::scale_op::backward(exec, x, {3, 4});
    }
};
struct FillLike {
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const&) const {
        return rowan::full_like_op::run(exec, x, {7});
    }
};
struct Identity {
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const&) const {
        return rowan::identity_op::run(exec, x);
    }
};

template <class T, class D>
void exact_ones() {
    same_as_cpu<T, D>(Run2<rowan::add_op>{});
    same_as_cpu<T, D>(Run2<rowan::sub_op>{});
    same_as_cpu<T, D>(Run2<rowan::mul_op>{});
    same_as_cpu<T, D>(Run1<rowan::negate_op>{});
    same_as_cpu<T, D>(Run1<rowan::relu_op>{});
    same_as_cpu<T, D>(Run2<rowan::gradient_operator<rowan::relu_op>>{});
    same_as_cpu<T, D>(Scale{3, 0});
    same_as_cpu<T, D>(Scale{-2, 5});
    same_as_cpu<T, D>(ScaleGrad{});
    same_as_cpu<T, D>(FillLike{});
    same_as_cpu<T, D>(Identity{});
}

template <class T, class D>
void curves() {
    same_as_cpu<T, D>(Run1<rowan::tanh_op>{});
    same_as_cpu<T, D>(Run2<rowan::gradient_operator<rowan::tanh_op>>{});
    same_as_cpu<T, D>(Run1<rowan::sigmoid_op>{});
    same_as_cpu<T, D>(Run2<rowan::gradient_operator<rowan::sigmoid_op>>{});
    same_as_cpu<T, D>(Run2<rowan::div_op>{});
}

TEMPLATE_TEST_CASE("sums, products and positive parts on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    exact_ones<float, TestType>();
    exact_ones<double, TestType>();
    exact_ones<rowan::bfloat16, TestType>();
    exact_ones<std::int32_t, TestType>();
}

TEMPLATE_TEST_CASE("tanh, sigmoid and quotients on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    curves<float, TestType>();
    curves<double, TestType>();
    curves<rowan::bfloat16, TestType>();
}

template <class D, class... Op>
void functions(rowan::registry<Op...>) {
    auto const x = filled<float>({4099}, 1), g = filled<float>({4099}, 2);
    auto const on = to_device<D>(x), g_on = to_device<D>(g);
    auto const check = [&]<class One>(One) {
        INFO(One::name);
        CHECK(same_bits(One::run(D{}, on), One::run(Cpu{}, x)));
        CHECK(same_bits(One::backward(D{}, on, g_on), One::backward(Cpu{}, x, g)));
    };
    (check(Op{}), ...);
}

TEMPLATE_TEST_CASE("functions and activations on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using namespace rowan;
    functions<TestType>(registry<exp_op, log_op, sqrt_op, rsqrt_op, square_op, abs_op, pow_op, sin_op, cos_op, sign_op, floor_op, ceil_op, round_op, relu6_op, hardtanh_op, leaky_relu_op, elu_op, gelu_op,
                                 swish_op, softplus_op, softsign_op, hard_sigmoid_op, hard_swish_op, stanh_op, thresholded_relu_op>{});
}

TEMPLATE_TEST_CASE("broadcasting on a device has the bits of Cpu, forward and backward", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using Grad = rowan::broadcast_grad_op<rowan::detail::div_formula, true>;
    for (auto const& [a, b] : std::vector<std::pair<Shape, Shape>>{{{70, 33}, {33}}, {{5, 1, 7}, {1, 6, 1}}, {{4099}, {}}, {{3, 4}, {3, 4}}, {{0, 3}, {1, 3}}}) {
        auto const x = filled<float>(a, 1), y = filled<float>(b, 2);
        auto const x_on = to_device<D>(x), y_on = to_device<D>(y);
        auto const out = rowan::div(x, y);
        CHECK(same_bits(rowan::div(x_on, y_on), out));
        CHECK(same_bits(rowan::maximum(y_on, x_on), rowan::maximum(y, x)));
        CHECK(same_bits(rowan::less_op::run(D{}, x_on, y_on), rowan::less_op::run(Cpu{}, x, y)));
        CHECK(same_bits(Grad::run(D{}, x_on, y_on, to_device<D>(out)), Grad::run(Cpu{}, x, y, out)));
        auto const c = rowan::less_op::run(Cpu{}, y, Tensor<float>{0});
        auto const c_on = to_device<D>(c);
        using WhereGrad = rowan::where_grad_op<true>;
        CHECK(same_bits(rowan::where(c_on, x_on, y_on), rowan::where(c, x, y)));
        CHECK(same_bits(WhereGrad::run(D{}, c_on, y_on, to_device<D>(out)), WhereGrad::run(Cpu{}, c, y, out)));
    }
}

TEMPLATE_TEST_CASE("element-wise operators on a device keep NaN, infinity and the sign of zero as Cpu does", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    Tensor<float> const x{0.0f, -0.0f, inf, -inf, nan, 1e-40f, -100.0f, 100.0f, 0.5f, 3e38f, -2e6f, -0.5f};
    auto const on = to_device<D>(x);
    CHECK(same_bits(rowan::sin(on), rowan::sin(x)));
    CHECK(same_bits(rowan::cos(on), rowan::cos(x)));
    CHECK(same_bits(rowan::sign(on), rowan::sign(x)));
    CHECK(same_bits(rowan::round(on), rowan::round(x)));
    CHECK(same_bits(rowan::floor(on), rowan::floor(x)));
    CHECK(same_bits(rowan::tanh(on), rowan::tanh(x)));
    CHECK(same_bits(rowan::sigmoid(on), rowan::sigmoid(x)));
    CHECK(same_bits(rowan::relu(on), rowan::relu(x)));
    CHECK(same_bits(rowan::negate(on), rowan::negate(x)));
    CHECK(same_bits(rowan::add(on, on), rowan::add(x, x)));
    CHECK(same_bits(rowan::scale(on, 0.5, 1.0), rowan::scale(x, 0.5, 1.0)));
}

TEMPLATE_TEST_CASE("element-wise operators on a device have the expected values", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const x{{1, -2}, {3, -4}}, y{{5, 6}, {7, 8}};
    CHECK(same_bits(rowan::add(x, y), Tensor<float>{{6, 4}, {10, 4}}));
    CHECK(same_bits(rowan::sub(x, y), Tensor<float>{{-4, -8}, {-4, -12}}));
    CHECK(same_bits(rowan::mul(x, y), Tensor<float>{{5, -12}, {21, -32}}));
    CHECK(same_bits(rowan::relu(x), Tensor<float>{{1, 0}, {3, 0}}));
    CHECK(same_bits(rowan::scale(x, 2, 1), Tensor<float>{{3, -3}, {7, -7}}));
    CHECK(same_bits(rowan::full<float>(D{}, {2, 3}, 4.0), Tensor<float>{{4, 4, 4}, {4, 4, 4}}));
    CHECK(same_bits((rowan::full<std::int32_t, D>({2}, -3.0)), Tensor<std::int32_t>{-3, -3}));
    CHECK(same_bits(rowan::full_op<bool>::run(D{}, {{2}, 1}), Tensor<bool>{true, true}));
    auto const alias = rowan::identity_op::run(D{}, x);
    CHECK(alias.data() == x.data());
}

template <class Formula, bool of_y>
struct LossGrad {
    typename Formula::options options;
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) const {
        auto const loss = rowan::pointwise_loss_op<Formula>::run(exec, x, y, options);
        return rowan::pointwise_loss_grad_op<Formula, of_y>::run(exec, x, y, loss, options);
    }
};
template <class Formula>
struct Loss {
    typename Formula::options options;
    template <class D, class T>
    auto operator()(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) const {
        return rowan::pointwise_loss_op<Formula>::run(exec, x, y, options);
    }
};

template <class Formula, class D>
void losses(Formula) {
    INFO(Formula::name);
    for (rowan::Reduction const reduction : {rowan::Reduction::none, rowan::Reduction::mean, rowan::Reduction::sum}) {
        typename Formula::options options;
        options.reduction = reduction;
        same_as_cpu<float, D>(Loss<Formula>{options});
        same_as_cpu<float, D>(LossGrad<Formula, false>{options});
    }
}

TEMPLATE_TEST_CASE("losses of elements on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    losses<rowan::detail::huber_formula, D>({});
    losses<rowan::detail::smooth_l1_formula, D>({});
    losses<rowan::detail::binary_cross_entropy_with_logits_formula, D>({});
    losses<rowan::detail::hinge_formula, D>({});
    losses<rowan::detail::margin_ranking_formula, D>({});
    losses<rowan::detail::cosine_embedding_formula, D>({});
    same_as_cpu<double, D>(LossGrad<rowan::detail::huber_formula, true>{{}});
    same_as_cpu<rowan::bfloat16, D>(Loss<rowan::detail::huber_formula>{{}});
    // of probabilities
    for (Shape const& shape : {Shape{0, 2}, Shape{65}, Shape{70, 100}}) {
        auto const x = rowan::sigmoid(filled<float>(shape, 1)), y = rowan::sigmoid(filled<float>(shape, 2)), g = Tensor<float>::full({1}, 2);
        auto const x_on = to_device<D>(x), y_on = to_device<D>(y), g_on = to_device<D>(g);
        CHECK(same_bits(rowan::binary_cross_entropy(x_on, y_on), rowan::binary_cross_entropy(x, y)));
        rowan::BinaryCrossEntropyOptions const ignore{.ignore_index = 1};
        auto some = y;
        for (std::size_t i = 0; i < some.size(); i += 3) some.data()[i] = 1;
        auto const some_on = to_device<D>(some);
        CHECK(same_bits(rowan::binary_cross_entropy(x_on, some_on, ignore), rowan::binary_cross_entropy(x, some, ignore)));
        using SomeBce = rowan::pointwise_loss_grad_op<rowan::detail::binary_cross_entropy_formula, false>;
        CHECK(same_bits(SomeBce::run(D{}, x_on, some_on, g_on, ignore), SomeBce::run(Cpu{}, x, some, g, ignore)));
        CHECK(same_bits(rowan::binary_cross_entropy_with_epsilon(x_on, y_on), rowan::binary_cross_entropy_with_epsilon(x, y)));
        CHECK(same_bits(rowan::kl_div(x_on, y_on), rowan::kl_div(x, y)));
        using Bce = rowan::pointwise_loss_grad_op<rowan::detail::binary_cross_entropy_formula, false>;
        CHECK(same_bits(Bce::run(D{}, x_on, y_on, g_on, {}), Bce::run(Cpu{}, x, y, g, {})));
        using LogLoss = rowan::pointwise_loss_grad_op<rowan::detail::binary_cross_entropy_with_epsilon_formula, false>;
        CHECK(same_bits(LogLoss::run(D{}, x_on, y_on, g_on, {}), LogLoss::run(Cpu{}, x, y, g, {})));
        using Divergence = rowan::pointwise_loss_grad_op<rowan::detail::kl_div_formula, false>;
        CHECK(same_bits(Divergence::run(D{}, x_on, y_on, g_on, {}), Divergence::run(Cpu{}, x, y, g, {})));
    }
}

TEMPLATE_TEST_CASE("element-wise operators on a device throw like Cpu's", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const x{{1, 2, 3}}, y{{1, 2}};
    using rowan::ShapeError, rowan::ValueError;
    CHECK_THROWS_AS(rowan::add(x, y), ShapeError);
    CHECK_THROWS_AS(rowan::sub(x, y), ShapeError);
    CHECK_THROWS_AS(rowan::mul(x, y), ShapeError);
    CHECK_THROWS_AS(rowan::tanh_op::backward(D{}, x, y), ShapeError);
    CHECK_THROWS_AS(rowan::sigmoid_op::backward(D{}, x, y), ShapeError);
    CHECK_THROWS_AS(rowan::relu_op::backward(D{}, x, y), ShapeError);
    CHECK_THROWS_AS(rowan::scale(Tensor<std::int32_t, D>{1}, 0.5), ValueError);
    CHECK_THROWS_AS(rowan::full<float>(D{}, {rowan::UNK}, 1.0), ShapeError);
    CHECK_THROWS_AS(rowan::full<std::uint8_t>(D{}, {1}, 256.0), ValueError);
}

}  // namespace op_elementwise
