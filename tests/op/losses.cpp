// tests/op/losses.cpp: element-wise losses against PyTorch's values and the formulas in long double.
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/loss/mse.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "check_unary.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace test_losses {

using rowan::bfloat16, rowan::Cpu, rowan::Reduction, rowan::Tensor, rowan::tensor_spec, rowan::UNK;
using Real = long double;

static_assert(rowan::huber_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, 3}), {}) == tensor_spec<float>({1}));
static_assert(rowan::huber_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, 3}), {1, Reduction::none}) == tensor_spec<float>({4, 3}, 1));

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// |got - want| is at most 1e-15 of want, or 1e-38.
bool near(Tensor<double> const& got, Tensor<double> const& want) {
    return got.shape() == want.shape() && std::equal(got.data(), got.data() + got.size(), want.data(),
                                                     [](double a, double b) { return a == b || std::abs(a - b) <= 1e-15 * std::abs(b) + 1e-38; });
}

// A loss with labels as a constant, which has no gradient.
template <class Op>
struct labelled_grad_op;
template <class Op>
struct labelled_op {
    static constexpr std::string_view name = "labelled";
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::grad_rule<labelled_grad_op<Op>, rowan::uses<rowan::slot::x, rowan::grad_of<rowan::slot::out>>, rowan::makes<rowan::grad_of<rowan::slot::x>>>;
    struct attributes {
        Tensor<double> label;
        typename Op::attributes options;
    };
    static Tensor<double> run(Cpu exec, Tensor<double> const& x, attributes const& a) {
        return Op::run(exec, x, a.label, a.options);
    }
};
template <class Op>
struct labelled_grad_op {
    static Tensor<double> run(Cpu exec, Tensor<double> const& x, Tensor<double> const& out_grad, typename labelled_op<Op>::attributes const& a) {
        return rowan::gradient_operator<Op>::run(exec, x, a.label, out_grad, a.options);
    }
};

// The losses of the elements and the gradient of x.
template <class Op>
void golden(Op, Tensor<double> const& x, Tensor<double> const& y, Tensor<double> const& loss, Tensor<double> const& x_grad, typename Op::attributes options = {}) {
    INFO(Op::name);
    options.reduction = Reduction::none;
    CHECK(near(Op::run(Cpu{}, x, y, options), loss));
    CHECK(near(rowan::gradient_operator<Op>::run(Cpu{}, x, y, Tensor<double>::full(x.shape(), 1), options), x_grad));
}

// Checks a loss for x in [least, most] and y in [0, 1] against its formula, and its gradients.
template <class Op, class Formula>
void check(Op, double least, double most, Formula const& formula, typename Op::attributes options = {}) {
    INFO(Op::name);
    auto x = test::values({301}, 1), y = test::values({301}, 2);
    for (double& v : x) v = least + (most - least) * (v + 1) / 2;
    for (double& v : y) v = (v + 1) / 2;
    Real total = 0;
    options.reduction = Reduction::none;
    auto const all = Op::run(Cpu{}, x, y, options);
    for (std::size_t i = 0; i < x.size(); ++i) {
        Real const want = formula(x(i), y(i));
        total += want;
        CHECK(std::abs(all(i) - want) <= 1e-14L * (std::abs(want) + std::abs(static_cast<Real>(x(i)))));
        CHECK(test::same_bits(Op::run(Cpu{}, Tensor<double>{x(i)}, Tensor<double>{y(i)}, options), Tensor<double>{all(i)}));
    }
    options.reduction = Reduction::sum;
    CHECK(std::abs(Op::run(Cpu{}, x, y, options)(0) - total) <= 1e-13L * std::abs(total));
    options.reduction = Reduction::mean;
    CHECK(std::abs(Op::run(Cpu{}, x, y, options)(0) - total / 301) <= 1e-13L * std::abs(total / 301));

    for (Reduction const reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        options.reduction = reduction;
        for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{23}}) {
            Tensor<double> a = Tensor<double>::from_shape({n}), b = a;
            std::copy_n(x.data(), n, a.data());
            std::copy_n(y.data(), n, b.data());
            using Gradients = decltype(rowan::gradients<Op>(Cpu{}, std::tie(a, b), std::tie(a), std::tie(a), options));
            if constexpr (!std::is_same_v<std::tuple_element_t<1, Gradients>, rowan::no_value>) {
                test::check_gradients<Op>(std::tuple(a, b), options, 1e-6);
            } else {
                test::check_gradients<labelled_op<Op>>(std::tuple(a), {b, options}, 1e-6);
            }
        }
    }
}

}  // namespace

TEST_CASE("losses equal PyTorch's, also at the ends", "[op][golden]") {
    // torch.nn.functional of PyTorch 2.9.0, in double
    golden(rowan::binary_cross_entropy_with_logits_op{}, {0.5, -2, 1e4, -1e4, 1e4}, {1, 0.25, 0, 1, 1}, {0.4740769841801067, 0.6269280110429727, 1e4, 1e4, 0}, {-0.3775406687981454, -0.13079707797788245, 1, -1, 0});
    golden(rowan::binary_cross_entropy_op{}, {0.3, 1e-9, 0, 1, 1}, {1, 0.25, 1, 0, 1}, {1.2039728043259361, 5.180816459986603, 100, 100, 0}, {-3.333333333333333, -249999999.24999997, -1e12, 1e12, 0});
    golden(rowan::huber_op{}, {0.25, 2, -1e4, 0}, {0, 1, 0, 0}, {0.03125, 0.375, 4999.875, 0}, {0.25, 0.5, -0.5, 0}, {.delta = 0.5});
    golden(rowan::smooth_l1_op{}, {0.25, 2, -1e4, 0}, {0, 1, 0, 0}, {0.0625, 0.75, 9999.75, 0}, {0.5, 1, -1, 0}, {.beta = 0.5});
    golden(rowan::smooth_l1_op{}, {0.25, 2, -1e4, 0}, {0, 1, 0, 0}, {0.25, 1, 1e4, 0}, {1, 1, -1, 0}, {.beta = 0});
    golden(rowan::kl_div_op{}, {-0.5, -2, -1e4, -inf}, {0.25, 0, 0.75, 0}, {-0.22157359027997264, 0, 7499.784238445661, 0}, {-0.25, 0, -0.75, 0});
    golden(rowan::margin_ranking_op{}, {-0.5, 2, 1e4, 0.125}, {1, -1, 1, 1}, {0.75, 2.25, 0, 0.125}, {-1, 1, 0, -1}, {.margin = 0.25});
    golden(rowan::cosine_embedding_op{}, {0.5, 0.5, 0.125, 1}, {1, -1, -1, 1}, {0.5, 0.25, 0, 0}, {-1, 1, 0, -1}, {.margin = 0.25});
    golden(rowan::hinge_op{}, {0.5, 0.5, -1e4, 2, 1}, {1, 0, 1, 1, 1}, {0.5, 1.5, 10001, 0, 0}, {-1, 1, -1, 0, 0});
}

TEST_CASE("losses equal their formulas, and their gradients central differences", "[op][golden]") {
    check(rowan::huber_op{}, -3, 3, [](Real x, Real y) { return std::abs(x - y) < 0.75L ? (x - y) * (x - y) / 2 : 0.75L * (std::abs(x - y) - 0.375L); }, {.delta = 0.75});
    check(rowan::smooth_l1_op{}, -3, 3, [](Real x, Real y) { return std::abs(x - y) < 0.75L ? (x - y) * (x - y) / 1.5L : std::abs(x - y) - 0.375L; }, {.beta = 0.75});
    check(rowan::binary_cross_entropy_with_logits_op{}, -20, 20, [](Real x, Real y) { return std::max(x, 0.0L) - x * y + std::log1p(std::exp(-std::abs(x))); });
    check(rowan::binary_cross_entropy_op{}, 0.01, 0.99, [](Real x, Real y) { return -y * std::log(x) - (1 - y) * std::log1p(-x); });
    check(rowan::binary_cross_entropy_with_epsilon_op{}, 0.01, 0.99, [](Real x, Real y) { return -y * std::log(x + 0.125L) - (1 - y) * std::log(1 - x + 0.125L); }, {.epsilon = 0.125});
    check(rowan::hinge_op{}, -3, 3, [](Real x, Real y) { return std::max(1 - x * (2 * y - 1), 0.0L); });
    // with a weight of positives; PyTorch's and TensorFlow's formula
    check(rowan::binary_cross_entropy_with_logits_op{}, -20, 20, [](Real x, Real y) { return 3 * y * std::log1p(std::exp(-x)) + (1 - y) * (x + std::log1p(std::exp(-x))); }, {.pos_weight = 3});
    check(rowan::binary_cross_entropy_op{}, 0.01, 0.99, [](Real x, Real y) { return -0.25L * y * std::log(x) - (1 - y) * std::log1p(-x); }, {.pos_weight = 0.25});
    check(rowan::binary_cross_entropy_with_epsilon_op{}, 0.01, 0.99, [](Real x, Real y) { return -0.5L * y * std::log(x + 0.125L) - (1 - y) * std::log(1 - x + 0.125L); }, {.epsilon = 0.125, .pos_weight = 0.5});
    check(rowan::hinge_op{}, -3, 3, [](Real x, Real y) { return 2 * y * std::max(1 - x, 0.0L) + (1 - y) * std::max(1 + x, 0.0L); }, {.pos_weight = 2});
    check(rowan::kl_div_op{}, -9, -0.1, [](Real x, Real y) { return y * (std::log(y) - x); });
    check(rowan::margin_ranking_op{}, -3, 3, [](Real x, Real y) { return std::max(0.5L - x * y, 0.0L); }, {.margin = 0.5});
}

TEST_CASE("losses of NaN are NaN, and the mean loss of nothing is 0", "[op]") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const lost = [&](auto loss) { return std::isnan(loss(Tensor<double>{nan}, Tensor<double>{1})(0)) && loss(Tensor<double>::zeros({0, 3}), Tensor<double>::zeros({0, 3}))(0) == 0; };
#define LOST(loss) CHECK(lost([](auto const& x, auto const& y) { return rowan::loss(x, y); }))
    LOST(huber);
    LOST(smooth_l1);
    LOST(binary_cross_entropy_with_logits);
    LOST(binary_cross_entropy);
    LOST(binary_cross_entropy_with_epsilon);
    LOST(hinge);
    LOST(kl_div);
    LOST(margin_ranking);
    LOST(cosine_embedding);
#undef LOST
}

TEST_CASE("mean losses fit also where their sum or a square overflows, and small squares remain", "[op]") {
    auto const x = Tensor<float>::full({9000}, 3e38F), zeros = Tensor<float>::zeros({9000});
    CHECK(std::abs(rowan::huber(x, zeros, {.delta = 1})(0) / 3e38F - 1) < 1e-4F);
    CHECK(std::abs(rowan::smooth_l1(x, zeros)(0) / 3e38F - 1) < 1e-4F);
    auto const smooth = rowan::smooth_l1(Tensor<float>{1e20F, 1e-30F, -1e25F, 3, 0}, Tensor<float>{0, 0, 0, 0, 0}, {.beta = 1e30, .reduction = rowan::Reduction::none});
    CHECK((std::abs(smooth(0) / 5e9F - 1) < 1e-6F && smooth(1) == 0 && std::abs(smooth(2) / 5e19F - 1) < 1e-6F && smooth(4) == 0));
    auto const small = rowan::smooth_l1(Tensor<float>{1e-30F, -1e-25F}, Tensor<float>{0, 0}, {.beta = 1e-20, .reduction = rowan::Reduction::none});
    CHECK((std::abs(small(0) / 5e-41F - 1) < 1e-3F && std::abs(small(1) / 5e-31F - 1) < 1e-6F));
}

TEST_CASE("losses of bfloat16 are computed in float and narrowed once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), y = inputs::wild<bfloat16>({37}, 2);
    auto a = Tensor<float>::from_shape({37}), b = a;
    std::copy(x.data(), x.data() + 37, a.data());
    std::copy(y.data(), y.data() + 37, b.data());
    for (Reduction const reduction : {Reduction::none, Reduction::mean}) {
        auto const got = rowan::huber(x, y, {1, reduction});
        auto const want = rowan::huber(a, b, {1, reduction});
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got(i).bits() == bfloat16(want(i)).bits());
    }
}

TEST_CASE("losses throw for shapes that differ and bad options", "[op][bad]") {
    Tensor<float> const x{1, 2}, y{1, 2, 3};
    CHECK_THROWS_WITH(rowan::huber_op::infer(tensor_spec<float>({2}), tensor_spec<float>({2}), {.delta = -1}), "delta is -1, expected a positive number");
    CHECK_THROWS_WITH((rowan::pointwise_loss_grad_op<rowan::huber_op, rowan::detail::huber_formula, true>::run(Cpu{}, x, x, x, {-1})), "delta is -1, expected a positive number");
    CHECK_THROWS_WITH(rowan::huber(x, x, {.delta = inf}), "delta is inf, expected a finite number");
    CHECK_THROWS_WITH(rowan::margin_ranking(x, x, {.margin = inf}), "margin is inf, expected a finite number");
    CHECK_THROWS_WITH(rowan::kl_div_op::infer(tensor_spec<float>({2, 3}), tensor_spec<float>({2, 4}), {}), "kl_div: y.shape(1) is 4, expected 3");
}

TEST_CASE("elements with the label to ignore have no loss and no gradient, and the mean is that of the others", "[op]") {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    Tensor<double> const x{0.25, nan, 0.75, inf}, y{1, -1, 0.5, -1}, some_x{0.25, 0.75}, some_y{1, 0.5}, all{-1, -1, -1, -1};
    auto const check = [&]<class Op>(Op) {
        using Grad = rowan::gradient_operator<Op>;
        for (auto const reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
            rowan::BinaryCrossEntropyOptions const plain{.reduction = reduction}, ignore{.reduction = reduction, .ignore_index = -1};
            auto const loss = Op::run(Cpu{}, x, y, ignore), want = Op::run(Cpu{}, some_x, some_y, plain);
            bool const none = reduction == Reduction::none;
            CHECK((loss == (none ? Tensor<double>{want(0), 0, want(1), 0} : want)));
            Tensor<double> const g = none ? Tensor<double>{2, 3, 4, nan} : Tensor<double>{2};
            auto const grad = Grad::run(Cpu{}, x, y, g, ignore);
            auto const some = Grad::run(Cpu{}, some_x, some_y, none ? Tensor<double>{2, 4} : g, plain);
            CHECK((grad == Tensor<double>{some(0), 0, some(1), 0}));
            CHECK((Op::run(Cpu{}, x, all, ignore) == Tensor<double>::zeros({none ? 4U : 1U})));
            CHECK((Grad::run(Cpu{}, x, all, g, ignore) == Tensor<double>::zeros({4})));
        }
        CHECK(std::isnan(Op::run(Cpu{}, Tensor<double>{0.5}, Tensor<double>{nan}, {.ignore_index = -1})(0)));
    };
    check(rowan::binary_cross_entropy_with_logits_op{});
    check(rowan::binary_cross_entropy_op{});
    rowan::LossOptions const sum{.reduction = Reduction::sum};
    CHECK((rowan::binary_cross_entropy_with_logits(some_x, some_y, sum) == rowan::binary_cross_entropy_with_logits(some_x, some_y, {.reduction = Reduction::sum})));
}

namespace {

/// Calls f with each loss of elements, as a function of x, y and maybe weights, and options.
template <class F>
void each_loss(F const& f) {
#define EACH(loss) f(#loss, [](auto const&... given) { return rowan::loss(given...); }, rowan::weighted_##loss##_op{})
    EACH(huber);
    EACH(smooth_l1);
    EACH(mse);
    EACH(binary_cross_entropy_with_logits);
    EACH(binary_cross_entropy);
    EACH(binary_cross_entropy_with_epsilon);
    EACH(hinge);
    EACH(kl_div);
    EACH(margin_ranking);
    EACH(cosine_embedding);
#undef EACH
}

template <class T>
Tensor<T> probabilities(Tensor<double>::shape_type const& shape, std::uint64_t seed) {
    auto made = Tensor<T>::from_shape(shape);
    auto const from = test::values(shape, seed);
    for (std::size_t i = 0; i < made.size(); ++i) made.data()[i] = static_cast<T>((from.data()[i] + 1) / 2);
    return made;
}

/// The gradient of x.
template <class Op, class T>
Tensor<T> x_grad(Op, Tensor<T> const& x, Tensor<T> const& y, Tensor<T> const& weights, Tensor<T> const& g, typename Op::attributes const& options) {
    auto grads = Op::backward(Cpu{}, x, y, weights, g, options);
    if constexpr (requires { std::get<0>(grads); }) {
        return std::get<0>(grads);
    } else {
        return grads;
    }
}

}  // namespace

TEMPLATE_TEST_CASE("weights of 1 leave the bits of a loss, and whole weights repeat rows", "[op]", float, double) {
    using T = TestType;
    auto const x = probabilities<T>({5, 3}, 1), y = probabilities<T>({5, 3}, 2);
    Tensor<T> const weights{2, 0, 1, 3, 0}, ones{1, 1, 1, 1, 1}, none{0, 0, 0, 0, 0};
    auto repeated_x = Tensor<T>::from_shape({6, 3}), repeated_y = repeated_x;
    for (std::size_t i = 0; std::size_t const from : {0U, 0U, 2U, 3U, 3U, 3U}) {
        std::ranges::copy(x.row(from), repeated_x.row(i).begin());
        std::ranges::copy(y.row(from), repeated_y.row(i++).begin());
    }
    each_loss([&]<class Op>(char const* name, auto const& loss, Op op) {
        INFO(name);
        for (auto const reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
            typename Op::attributes options;
            options.reduction = reduction;
            CHECK(test::same_bits(loss(x, y, ones, options), loss(x, y, options)));
            if (reduction == Reduction::none) continue;
            T const want = loss(repeated_x, repeated_y, options)(0), got = loss(x, y, weights, options)(0);
            CHECK(std::abs(want - got) <= 8 * std::numeric_limits<T>::epsilon() * std::abs(want));
            CHECK(loss(x, y, none, options)(0) == 0);
            CHECK((x_grad(op, x, y, none, Tensor<T>{1}, options) == Tensor<T>::zeros({5, 3})));
        }
    });
}

TEST_CASE("a row of weight 0 has no loss and no gradient, whatever its elements are, and weights may be tiny or huge", "[op]") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    Tensor<float> const x{{0.25, 0.5}, {nan, 2}, {0.75, 0.125}}, y{{1, 0}, {1, nan}, {0, 1}}, g{1};
    auto const near = [](Tensor<float> const& a, Tensor<float> const& b) {
        return std::equal(a.data(), a.data() + a.size(), b.data(), [](float p, float q) { return std::abs(p - q) <= 1e-6F * std::abs(q); });
    };
    each_loss([&]<class Op>(char const* name, auto const& loss, Op op) {
        INFO(name);
        Tensor<float> const plain{1, 0, 3};
        auto const want = loss(x, y, plain), grad = x_grad(op, x, y, plain, g, {});
        CHECK(std::isfinite(want(0)));
        CHECK((grad(1, 0) == 0 && grad(1, 1) == 0));
        typename Op::attributes none;
        none.reduction = Reduction::none;
        CHECK((loss(x, y, plain, none)(1, 0) == 0 && loss(x, y, plain, none)(1, 1) == 0));
        for (float const scale : {1e-41F, 1e-30F, 1e30F, 1e38F}) {
            Tensor<float> const weights{scale, 0, 3 * scale};
            bool const coarse = scale < 1e-38F;  // a subnormal number has few digits
            CHECK((coarse ? std::abs(loss(x, y, weights)(0) - want(0)) <= 1e-3F * std::abs(want(0)) : near(loss(x, y, weights), want)));
            if (!coarse) CHECK(near(x_grad(op, x, y, weights, g, {}), grad));
        }
    });
    Tensor<double> const a{1, 2}, b{2, 4}, least{5e-324, 5e-324}, greatest{1e150, 1e150};
    CHECK((rowan::mse(a, b, least)(0) == 2.5 && rowan::mse(a, b, greatest)(0) == 2.5));
}

TEST_CASE("a mean of weighed rows divides by the weights of the elements that count, and not by that of positives", "[op]") {
    Tensor<double> const x{{0.5, -2}, {3, 1}}, y{{1, -1}, {0, 1}}, weights{2, 0.5};
    rowan::BinaryCrossEntropyOptions const options{.ignore_index = -1, .pos_weight = 4};
    auto const all = rowan::binary_cross_entropy_with_logits(x, y, weights, {.reduction = Reduction::none, .ignore_index = -1, .pos_weight = 4});
    CHECK(all(0, 0) == Approx(8 * std::log1p(std::exp(-0.5))).epsilon(1e-15));
    CHECK((all(0, 1) == 0 && all(1, 0) == Approx(0.5 * std::log1p(std::exp(3.0))).epsilon(1e-15)));
    CHECK(rowan::binary_cross_entropy_with_logits(x, y, weights, options)(0) == Approx((all(0, 0) + all(1, 0) + all(1, 1)) / 3).epsilon(1e-15));
    CHECK(rowan::binary_cross_entropy_with_logits(x, y, {.pos_weight = 1}) == rowan::binary_cross_entropy_with_logits(x, y));
}

TEST_CASE("a bad weight is named by its place, and the lowest one", "[op][bad]") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    Tensor<double> const x{1, 2, 3, 4, 5};
    each_loss([&](char const* name, auto const& loss, auto) {
        INFO(name);
        CHECK_THROWS_WITH(loss(x, x, Tensor<double>{1, 1, 1, nan, -1}), "weights[3] is nan, expected in [0, 1e150]");
        CHECK_THROWS_WITH(loss(x, x, Tensor<double>{1, -1, 1, nan, -1}), "weights[1] is -1, expected in [0, 1e150]");
        CHECK_THROWS_AS(loss(x, x, Tensor<double>{1, 1, inf, 1, 1}), rowan::ValueError);
        CHECK_THROWS_WITH(loss(x, x, Tensor<double>{1, 1}), "weights.shape() is [2], expected [5], one for each row of x");
    });
    auto many = Tensor<double>::full({200'000}, 1);
    many(150'000) = many(199'999) = -1;
    for (int const threads : {1, 2, 8})
        CHECK_THROWS_WITH(rowan::mse(Cpu{threads}, many, many, many), "weights[150000] is -1, expected in [0, 1e150]");
}

}  // namespace test_losses
