// tests/thrust/op_rows.cpp: softmax, losses and accuracy on devices have the bits of Cpu.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace op_rows {

using device::filled, device::late_refusal, device::positive, device::refusal, device::same_bits, device::Shape;
using rowan::Cpu, rowan::Reduction, rowan::Tensor, rowan::to_device, rowan::to_host;

constexpr std::size_t counts[] = {0, 1, 2, 63, 64, 65, 300};
constexpr std::size_t widths[] = {1, 2, 3, 15, 16, 17, 40};
constexpr Reduction reductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

template <class I>
Tensor<I> labels(std::size_t n, std::size_t classes, unsigned seed) {
    auto label = Tensor<I>::from_shape({n});
    auto const rows = device::some_ids(n, static_cast<std::int64_t>(classes), 0, seed);
    for (std::size_t i = 0; i < n; ++i) label.data()[i] = static_cast<I>(rows[i]);
    return label;
}

template <class T, class D>
void softmaxes() {
    for (std::size_t const n : counts) {
        for (std::size_t const classes : widths) {
            auto const x = filled<T>({n, classes}, 1), g = filled<T>({n, classes}, 2);
            auto const y = rowan::softmax(x);
            CHECK(same_bits(rowan::softmax_op::run(D{}, to_device<D>(x)), y));
            CHECK(same_bits(rowan::softmax_grad_op::run(D{}, to_device<D>(y), to_device<D>(g)), rowan::softmax_grad(y, g)));
            auto const logs = rowan::log_softmax(x);
            CHECK(same_bits(rowan::log_softmax_op::run(D{}, to_device<D>(x)), logs));
            CHECK(same_bits(rowan::log_softmax_grad_op::run(D{}, to_device<D>(logs), to_device<D>(g)), rowan::log_softmax_grad(logs, g)));
        }
    }
    auto const none = filled<T>({3, 0}, 1);
    CHECK(same_bits(rowan::softmax(to_device<D>(none)), none));
    CHECK(same_bits(rowan::softmax_grad(to_device<D>(none), to_device<D>(none)), none));
    auto const cube = filled<T>({3, 17, 5}, 3);
    CHECK(same_bits(rowan::softmax(to_device<D>(cube), {.axis = 1}), rowan::softmax(cube, {.axis = 1})));
}

template <class T, class M, class D>
void norms() {
    for (std::size_t const n : {0u, 1u, 64u, 65u, 4097u}) {
        for (std::size_t const width : {0u, 1u, 3u, 16u, 40u}) {
            auto const x = filled<T>({n, width}, 1), w = filled<T>({width}, 2), b = filled<T>({width}, 3), g = filled<T>({n, width}, 4);
            auto const x_on = to_device<D>(x), w_on = to_device<D>(w), b_on = to_device<D>(b), g_on = to_device<D>(g);
            CHECK(same_bits(rowan::layer_norm_op::run(D{}, x_on, w_on, b_on, {}), rowan::layer_norm(x, w, b)));
            CHECK(same_bits(rowan::layer_norm_op::backward(D{}, x_on, w_on, g_on, {}), rowan::layer_norm_op::backward(Cpu{}, x, w, g)));
            auto const [scale, shift] = rowan::layer_norm_param_grad_op::run(D{}, x_on, g_on, {});
            auto const [scale_want, shift_want] = rowan::layer_norm_param_grad_op::run(Cpu{}, x, g);
            CHECK(same_bits(scale, scale_want));
            CHECK(same_bits(shift, shift_want));
            for (bool const training : {false, true}) {
                auto const mean = filled<M>({width}, 5), variance = positive<M>({width}, 6);
                auto const mean_on = to_device<D>(mean), variance_on = to_device<D>(variance);
                auto const seed = to_device<D>(Tensor<std::int64_t>::zeros({training ? 1u : 0u}));
                rowan::LoDTensor<T, D> const rows(x_on);
                auto const [out, next_mean, next_variance] = rowan::batch_norm_op::run(D{}, rows, w_on, b_on, mean_on, variance_on, seed, {});
                auto const [out_want, mean_want, variance_want] = rowan::batch_norm(x, w, b, mean, variance, {}, training);
                CHECK(same_bits(out.value(), out_want));
                CHECK(same_bits(next_mean.value(), mean_want));
                CHECK(same_bits(next_variance.value(), variance_want));
                auto const [x_grad, w_grad, b_grad] = rowan::batch_norm_op::backward(D{}, rows, w_on, mean_on, variance_on, seed, g_on, {});
                auto const [x_want, w_want, b_want] = rowan::batch_norm_grad(Cpu{}, x, w, mean, variance, g, {}, training);
                CHECK(same_bits(x_grad.value(), x_want));
                CHECK(same_bits(w_grad.value(), w_want));
                CHECK(same_bits(b_grad.value(), b_want));
            }
        }
    }
    auto const x = filled<T>({3, 5, 2}, 1);
    CHECK(same_bits(rowan::layer_norm(to_device<D>(x), {.begin_axis = 1}), rowan::layer_norm(x, {.begin_axis = 1})));
}

TEMPLATE_TEST_CASE("norms on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    norms<float, float, TestType>();
    norms<double, double, TestType>();
    norms<rowan::bfloat16, float, TestType>();
    Tensor<float, TestType> const x{{1, 2}}, row{1, 2};
    CHECK_THROWS_AS(rowan::layer_norm(x, {.begin_axis = 0}), rowan::ValueError);
    CHECK_THROWS_AS(rowan::batch_norm(x, row, row, row, x, {}, true), rowan::ShapeError);
}

template <class T, class I, class D>
void label_losses() {
    for (std::size_t const n : counts) {
        for (std::size_t const classes : widths) {
            auto const x = filled<T>({n, classes}, 1), p = positive<T>({n, classes}, 2);
            auto const label = labels<I>(n, classes, 3);
            auto const x_on = to_device<D>(x), p_on = to_device<D>(p);
            auto const label_on = to_device<D>(label);
            for (Reduction const reduction : reductions) {
                auto const grad = positive<T>({reduction == Reduction::none ? n : 1}, 4);
                auto const grad_on = to_device<D>(grad);
                auto const [loss, saved] = rowan::cross_entropy(Cpu{}, x, label, {reduction});
                auto const [loss_on, saved_on] = rowan::cross_entropy_op::run(D{}, x_on, label_on, {reduction});
                CHECK(same_bits(loss_on, loss));
                CHECK(same_bits(saved_on, saved));
                CHECK(same_bits(rowan::cross_entropy_op::backward(D{}, saved_on, label_on, grad_on, {reduction}), rowan::cross_entropy_grad(Cpu{}, saved, label, grad, {reduction})));
                std::int64_t const ignored = n == 0 ? 0 : label(0);
                auto const kept = rowan::cross_entropy(Cpu{}, x, label, {reduction, ignored});
                CHECK(same_bits(std::get<0>(rowan::cross_entropy_op::run(D{}, x_on, label_on, {reduction, ignored})), std::get<0>(kept)));
                CHECK(same_bits(rowan::cross_entropy_op::backward(D{}, saved_on, label_on, grad_on, {reduction, ignored}), rowan::cross_entropy_grad(Cpu{}, saved, label, grad, {reduction, ignored})));
                CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::run(D{}, p_on, label_on, {reduction}), rowan::cross_entropy_of_probabilities(Cpu{}, p, label, {reduction})));
                CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::backward(D{}, p_on, label_on, grad_on, {reduction}), rowan::cross_entropy_of_probabilities_grad(Cpu{}, p, label, grad, {reduction})));
            }
            CHECK(same_bits(rowan::accuracy_op::run(D{}, x_on, label_on), rowan::accuracy(Cpu{}, x, label)));
            CHECK(same_bits(rowan::accuracy_op::run(D{}, x_on, label_on, {.k = 3}), rowan::accuracy(Cpu{}, x, label, 3)));
        }
    }
}

/// Classes along axis 1 with weights, labels that are ignored, and probabilities.
template <class T, class I, class D>
void weighed_losses() {
    auto const x = positive<T>({70, 5, 3}, 1), soft = positive<T>({70, 5, 3}, 2), grad = positive<T>({70, 3}, 4), one = positive<T>({1}, 5);
    auto const label = Tensor<I>(labels<I>(210, 5, 3).reshaped({70, 3}));
    auto const x_on = to_device<D>(x), soft_on = to_device<D>(soft);
    auto const label_on = to_device<D>(label);
    for (Reduction const reduction : {Reduction::none, Reduction::mean}) {
        rowan::CrossEntropyOptions const options{reduction, 2, 1, {0.5, 2, 1, 0, 3}}, shares{.reduction = reduction, .axis = 1, .weights = options.weights};
        auto const& g = reduction == Reduction::none ? grad : one;
        auto const g_on = to_device<D>(g);
        auto const [loss, saved] = rowan::cross_entropy(x, label, options);
        auto const [loss_on, saved_on] = rowan::cross_entropy_op::run(D{}, x_on, label_on, options);
        CHECK(same_bits(loss_on, loss));
        CHECK(same_bits(saved_on, saved));
        CHECK(same_bits(rowan::cross_entropy_op::backward(D{}, saved_on, label_on, g_on, options), rowan::cross_entropy_grad(saved, label, g, options)));
        CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::run(D{}, x_on, label_on, options), rowan::cross_entropy_of_probabilities(x, label, options)));
        CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::backward(D{}, x_on, label_on, g_on, options), rowan::cross_entropy_of_probabilities_grad(x, label, g, options)));
        CHECK(same_bits(std::get<0>(rowan::cross_entropy_op::run(D{}, x_on, soft_on, shares)), std::get<0>(rowan::cross_entropy(x, soft, shares))));
        CHECK(same_bits(rowan::cross_entropy_op::backward(D{}, saved_on, soft_on, g_on, shares), rowan::cross_entropy_grad(saved, soft, g, shares)));
    }
}

template <class T, class D>
void soft_label_losses() {
    for (std::size_t const n : counts) {
        for (std::size_t const classes : widths) {
            auto const x = positive<T>({n, classes}, 1);
            auto label = positive<T>({n, classes}, 2);
            for (std::size_t i = 0; i < label.size(); i += 3) label.data()[i] = rowan::dtype<T>::narrow(0);
            for (Reduction const reduction : reductions) {
                auto const grad = positive<T>({reduction == Reduction::none ? n : 1}, 4);
                auto const [loss, saved] = rowan::cross_entropy(Cpu{}, x, label, {reduction});
                auto const [loss_on, saved_on] = rowan::cross_entropy_op::run(D{}, to_device<D>(x), to_device<D>(label), {reduction});
                CHECK(same_bits(loss_on, loss));
                CHECK(same_bits(saved_on, saved));
                CHECK(same_bits(rowan::cross_entropy_op::backward(D{}, saved_on, to_device<D>(label), to_device<D>(grad), {reduction}), rowan::cross_entropy_grad(Cpu{}, saved, label, grad, {reduction})));
                CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::run(D{}, to_device<D>(x), to_device<D>(label), {reduction}), rowan::cross_entropy_of_probabilities(Cpu{}, x, label, {reduction})));
                CHECK(same_bits(rowan::cross_entropy_of_probabilities_op::backward(D{}, to_device<D>(x), to_device<D>(label), to_device<D>(grad), {reduction}), rowan::cross_entropy_of_probabilities_grad(Cpu{}, x, label, grad, {reduction})));
            }
        }
    }
    auto const none = filled<T>({3, 0}, 1);
    CHECK(same_bits(rowan::cross_entropy_of_probabilities(to_device<D>(none), to_device<D>(none), {Reduction::none}), rowan::cross_entropy_of_probabilities(none, none, {Reduction::none})));
    CHECK(same_bits(std::get<0>(rowan::cross_entropy(to_device<D>(none), to_device<D>(none), {Reduction::none})), Tensor<T>::zeros({3})));
    CHECK(rowan::cross_entropy_grad(to_device<D>(none), to_device<D>(none), to_device<D>(Tensor<T>::zeros({3})), {Reduction::none}).size() == 0);
}

template <class T, class D>
void squares() {
    for (Shape const& shape : {Shape{0}, Shape{1}, Shape{15}, Shape{16}, Shape{17}, Shape{4095}, Shape{4096}, Shape{4097}, Shape{70, 1000}, Shape{300000}}) {
        auto const x = filled<T>(shape, 1), y = filled<T>(shape, 2), g = positive<T>({1}, 3);
        CHECK(same_bits(rowan::mse_op::run(D{}, to_device<D>(x), to_device<D>(y)), rowan::mse(x, y)));
        auto const [x_grad, y_grad] = rowan::mse_op::backward(D{}, to_device<D>(x), to_device<D>(y), to_device<D>(g));
        auto const [x_want, y_want] = rowan::mse_op::backward(rowan::Cpu{}, x, y, g);
        CHECK(same_bits(x_grad, x_want));
        CHECK(same_bits(y_grad, y_want));
    }
}

TEMPLATE_TEST_CASE("cosine_similarity on a device has the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const n : counts) {
        for (std::size_t const width : {0u, 1u, 16u, 17u, 40u}) {
            auto x = filled<float>({n, width}, 1), y = filled<float>({n, width}, 2);
            auto const g = filled<float>({n, 1}, 3);
            if (x.size() != 0) x.data()[0] = 1e30F, y.data()[x.size() - 1] = 1e30F;  // the squares overflow
            auto const x_on = to_device<D>(x), y_on = to_device<D>(y);
            CHECK(same_bits(rowan::cosine_similarity_op::run(D{}, x_on, y_on, {}), rowan::cosine_similarity(x, y)));
            auto const [x_grad, y_grad] = rowan::cosine_similarity_op::backward(D{}, x_on, y_on, to_device<D>(g), {});
            auto const [x_want, y_want] = rowan::cosine_similarity_op::backward(rowan::Cpu{}, x, y, g);
            CHECK(same_bits(x_grad, x_want));
            CHECK(same_bits(y_grad, y_want));
        }
    }
}

TEMPLATE_TEST_CASE("softmax on a device has the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    softmaxes<float, TestType>();
    softmaxes<double, TestType>();
    softmaxes<rowan::bfloat16, TestType>();
}

TEMPLATE_TEST_CASE("softmax on a device keeps NaN and infinity as Cpu does", "[thrust][op]", ROWAN_TEST_DEVICES) {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    Tensor<float> const x{{1, 2, 3}, {nan, 2, 3}, {1, nan, 3}, {1, inf, 3}, {1, -inf, 3}, {-inf, -inf, -inf}, {0.0f, -0.0f, -1000}};
    auto const got = to_host(rowan::softmax(to_device<TestType>(x)));
    auto const want = rowan::softmax(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
        bool const both_nan = std::isnan(got.data()[i]) && std::isnan(want.data()[i]);
        CHECK((both_nan || got.data()[i] == want.data()[i]));
    }
}

TEMPLATE_TEST_CASE("losses with label indices on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    label_losses<float, std::int64_t, TestType>();
    label_losses<double, std::int32_t, TestType>();
    label_losses<rowan::bfloat16, std::int64_t, TestType>();
    weighed_losses<float, std::int64_t, TestType>();
    weighed_losses<rowan::bfloat16, std::int64_t, TestType>();
}

TEMPLATE_TEST_CASE("losses with probabilities as labels on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    soft_label_losses<float, TestType>();
    soft_label_losses<double, TestType>();
    soft_label_losses<rowan::bfloat16, TestType>();
}

TEMPLATE_TEST_CASE("means of losses of many rows on a device have the order of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const x = filled<float>({70001, 2}, 1);
    auto const label = labels<std::int64_t>(70001, 2, 2);
    CHECK(same_bits(std::get<0>(rowan::cross_entropy(to_device<D>(x), to_device<D>(label))), std::get<0>(rowan::cross_entropy(x, label))));
    CHECK(same_bits(rowan::accuracy(to_device<D>(x), to_device<D>(label)), rowan::accuracy(x, label)));
}

TEMPLATE_TEST_CASE("accuracy on a device has the expected values", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    Tensor<float, D> const x{{1, 2, 3}, {3, 3, 1}, {3, 3, 1}, {1, nan, 0}};
    CHECK(same_bits(rowan::accuracy(x, Tensor<std::int64_t, D>{2, 0, 1, 0}), Tensor<double>{0.5}));
    CHECK(same_bits(rowan::accuracy(Tensor<float, D>::from_shape({0, 3}), Tensor<std::int32_t, D>::from_shape({0})), Tensor<double>{0.0}));
}

TEMPLATE_TEST_CASE("mse on a device has the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    squares<float, TestType>();
    squares<double, TestType>();
    squares<rowan::bfloat16, TestType>();
    using D = TestType;
    CHECK(same_bits(rowan::mse(Tensor<float, D>{1, 2, 3}, Tensor<float, D>{1, 4, 7}), Tensor<float>{20.0f / 3}));
}

TEMPLATE_TEST_CASE("losses on a device refuse shapes at once and labels at the next synchronize", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using rowan::ShapeError;
    D const exec{};
    Tensor<float, D> const x{{1, 2}, {3, 4}}, flat{1, 2}, one{1}, wide{{1, 2, 3}};
    Tensor<std::int64_t, D> const label{0, 1}, few{0}, bad{1, 2}, negative{-1, 7};
    CHECK_THROWS_AS(rowan::softmax(flat, {.axis = 1}), rowan::IndexError);
    CHECK_THROWS_AS(rowan::softmax_grad(x, wide), ShapeError);
    CHECK_THROWS_AS(rowan::cross_entropy(x, few), ShapeError);
    CHECK_THROWS_AS(rowan::cross_entropy_of_probabilities(x, few), ShapeError);
    CHECK_THROWS_AS(rowan::cross_entropy_of_probabilities(x, wide), ShapeError);
    CHECK_THROWS_AS(rowan::cross_entropy_of_probabilities_grad(x, label, flat), ShapeError);
    CHECK_THROWS_AS(rowan::cross_entropy_grad(x, label, one, {Reduction::none}), ShapeError);
    CHECK_THROWS_AS(rowan::accuracy(x, few), ShapeError);
    CHECK_THROWS_AS(rowan::mse(x, flat), ShapeError);
    CHECK_THROWS_AS(rowan::mse_op::backward(D{}, x, x, flat), ShapeError);

    std::string const text = "label[1] = 2 is not in [0, 2)";
    static_cast<void>(rowan::cross_entropy(x, bad));
    CHECK(late_refusal(exec) == text);
    static_cast<void>(rowan::cross_entropy_grad(x, bad, one));
    CHECK(late_refusal(exec) == text);
    static_cast<void>(rowan::cross_entropy_of_probabilities(x, bad));
    CHECK(late_refusal(exec) == text);
    static_cast<void>(rowan::cross_entropy_of_probabilities_grad(x, bad, one));
    CHECK(late_refusal(exec) == text);
    static_cast<void>(rowan::accuracy(x, negative));
    CHECK(late_refusal(exec) == "label[0] = -1 is not in [0, 2)");
    auto const none = Tensor<float, D>::from_shape({2, 0});
    CHECK(refusal<rowan::IndexError>([&] { rowan::accuracy(none, label); }) == "label[0] = 0 is not in [0, 0)");
    rowan::synchronize(exec);
    CHECK(same_bits(rowan::accuracy(x, label), Tensor<double>{0.5}));
}

TEMPLATE_TEST_CASE("positions of extrema, top_k, one_hot and running sums on a device are those of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (Shape const& shape : std::vector<Shape>{{300, 17}, {5, 70, 3}, {1}, {0, 4}}) {
        auto const x = filled<float>(shape, 1), g = filled<float>(shape, 2);
        auto const on = to_device<D>(x), g_on = to_device<D>(g);
        for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
            if (x.size() != 0) {
                CHECK(same_bits(rowan::argmax(on, {.axis = axis}), rowan::argmax(x, {.axis = axis})));
                CHECK(same_bits(rowan::argmin(on, {.axis = axis}), rowan::argmin(x, {.axis = axis})));
            }
            CHECK(same_bits(rowan::argsort(on, {.axis = axis, .descending = axis == 1}), rowan::argsort(x, {.axis = axis, .descending = axis == 1})));
            CHECK(same_bits(rowan::cumsum(on, {.axis = axis, .reverse = axis == 1}), rowan::cumsum(x, {.axis = axis, .reverse = axis == 1})));
            CHECK(same_bits(rowan::gradient_operator<rowan::cumsum_op>::run(D{}, g_on, rowan::CumsumOptions{.axis = axis}), rowan::gradient_operator<rowan::cumsum_op>::run(Cpu{}, g, rowan::CumsumOptions{.axis = axis})));
        }
        CHECK(same_bits(rowan::shape(on), rowan::shape(x)));
        auto const most = std::min<std::int64_t>(3, static_cast<std::int64_t>(shape.back()));
        auto const [values, ids] = rowan::top_k(x, {.k = most});
        auto const [values_on, ids_on] = rowan::top_k(on, {.k = most});
        CHECK(same_bits(values_on, values));
        CHECK(same_bits(ids_on, ids));
        CHECK(same_bits(rowan::gradient_operator<rowan::top_k_op>::run(D{}, on, ids_on, values_on), rowan::gradient_operator<rowan::top_k_op>::run(Cpu{}, x, ids, values)));
    }
    auto rising = filled<float>({2, 600}, 3);
    std::sort(rising.data(), rising.data() + rising.size());
    for (std::int64_t const k : {500, 600}) CHECK(same_bits(std::get<1>(rowan::top_k(to_device<D>(rising), {.k = k})), std::get<1>(rowan::top_k(rising, {.k = k}))));
    auto const label = labels<std::int32_t>(300, 7, 3);
    CHECK(same_bits(rowan::one_hot(to_device<D>(label), {.depth = 7}), rowan::one_hot(label, {.depth = 7})));
    static_cast<void>(rowan::one_hot(Tensor<std::int64_t, D>{1, 2}, {.depth = 2}));
    CHECK(late_refusal(D{}) == "ids[1] = 2 is not in [0, 2)");
}

TEMPLATE_TEST_CASE("changes of shape and dot products of rows on a device are those of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const x = filled<float>({65, 3, 4}, 1), y = filled<float>({65, 3, 4}, 2);
    auto const on = to_device<D>(x), y_on = to_device<D>(y);
    CHECK(same_bits(rowan::reshape(on, {0, -1}), rowan::reshape(x, {0, -1})));
    CHECK(same_bits(rowan::squeeze(rowan::unsqueeze(on, {0, 2}), {0}), rowan::unsqueeze(x, {1})));
    CHECK(same_bits(rowan::reshape_grad_op::run(D{}, on, rowan::reshape(y_on, {-1})), y));
    for (std::vector<std::int64_t> const& perm : std::vector<std::vector<std::int64_t>>{{}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}}) {
        CHECK(same_bits(rowan::transpose(on, {perm}), rowan::transpose(x, {perm})));
        CHECK(same_bits(rowan::transpose_op::backward(D{}, rowan::transpose(on, {perm}), {perm}), x));
    }
    for (std::int64_t const axis : {0, 1, -1}) {
        auto const joined = rowan::stack(std::vector{on.share(), y_on.share()}, {axis});
        CHECK(same_bits(joined, rowan::stack(std::vector{x, y}, {axis})));
        auto const parts = rowan::stack_op::backward(D{}, std::vector{on.share(), y_on.share()}, joined, {axis});
        CHECK((same_bits(parts[0], x) && same_bits(parts[1], y)));
    }
    auto const a = filled<rowan::bfloat16>({300, 70}, 1), b = filled<rowan::bfloat16>({300, 70}, 2), dots = rowan::row_dot(a, b);
    auto const a_on = to_device<D>(a), b_on = to_device<D>(b);
    CHECK(same_bits(rowan::row_dot(a_on, b_on), dots));
    CHECK(same_bits(rowan::row_dot_grad_op::run(D{}, a_on, to_device<D>(dots)), rowan::row_dot_grad_op::run(Cpu{}, a, dots)));
}

}  // namespace op_rows
