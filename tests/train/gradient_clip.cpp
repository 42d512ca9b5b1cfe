// tests/train/gradient_clip.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/gradient_clip.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/train.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace test_gradient_clip {

using namespace rowan;

namespace {

/// The cost Σ table[ids] + 3 · Σ b; both parameters begin with zeros. For ids 2 0 2 the gradients are [1 1] for row 0,
/// [2 2] for row 2, which occurs twice, and [3 3].
template <class T = double>
layer::Var<T> linear() {
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const table = layer::parameter<T>({3, 2}, {}, "table"), b = layer::parameter<T>({1, 2}, {}, "b");
    auto const ones = layer::full<T>({2, 1}, 1);
    auto const rows = layer::matmul(layer::embedding(ids, table), ones);
    return layer::add(layer::reduce_sum(rows, {.axes = {0}}), layer::reduce_sum(layer::matmul(layer::scale(b, 3), ones), {.axes = {0}}));
}

Feeds const batch{{"ids", Tensor<std::int64_t>{2, 0, 2}}};

/// The negative gradients that the optimizer gets.
Parameters once(layer::GradientClip const& clip) {
    test::DefaultScope scope;
    return train(linear(), [](std::int64_t) { return std::array{batch}; }, {.optimizer = layer::Sgd{.learning_rate = 1}, .clip = clip});
}

void gives(layer::GradientClip const& clip, double row0, double row2, double b) {
    auto const got = once(clip);
    Tensor<double> const table{{-row0, -row0}, {0, 0}, {-row2, -row2}}, bias{{-b, -b}};
    CAPTURE(row0, row2, b);
    for (std::size_t i = 0; i < 6; ++i) CHECK(got.get<double>("table").data()[i] == Approx(table.data()[i]).epsilon(1e-15));
    for (std::size_t i = 0; i < 2; ++i) CHECK(got.get<double>("b").data()[i] == Approx(bias.data()[i]).epsilon(1e-15));
}

/// A custom clip: the signs.
struct sign_op {
    static constexpr std::string_view name = "sign";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = no_grad;
    struct attributes {
        double size = 1;
    };
    static VarSpec infer(VarSpec const& x, attributes const&) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, attributes const& a) {
        auto out = Tensor<T, D>::from_shape(x.shape());
        for (std::size_t i = 0; i < x.size(); ++i) out.data()[i] = static_cast<T>(x.data()[i] < 0 ? -a.size : a.size);
        return out;
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, attributes const& a) {
        auto const merged = merge(exec, x);
        return {merged.height(), merged.rows(), run(exec, merged.value(), a)};
    }
};
struct Sign {
    using op = sign_op;
    sign_op::attributes options() const { return {0.125}; }
};
struct Signs : Sign {
    static constexpr bool together = true;
};

}  // namespace

TEST_CASE("gradients are clipped as the dense ones would be, duplicates summed first", "[layer]") {
    gives({}, 1, 2, 3);
    gives(layer::ClipByValue{.min = -1, .max = 1.5}, 1, 1.5, 1.5);
    gives(layer::ClipByValue{.min = -5, .max = 5}, 1, 2, 3);
    double const table = 2 / std::sqrt(10.0), b = 2 / std::sqrt(18.0), all = 2 / std::sqrt(28.0);
    gives(layer::ClipByNorm{.max_norm = 2}, table, 2 * table, 3 * b);
    gives(layer::ClipByNorm{.max_norm = 4}, 1, 2, 3 * 2 * b);
    gives(layer::ClipByGlobalNorm{.max_norm = 2}, all, 2 * all, 3 * all);
    gives(layer::ClipByGlobalNorm{.max_norm = 5.3}, 1, 2, 3);  // √28 is 5.29
    gives(layer::ClipByGlobalNorm{.max_norm = 0}, 0, 0, 0);
    gives(Sign{}, 0.125, 0.125, 0.125);
}

TEST_CASE("a bfloat16 table under float layers is clipped and trained with them", "[layer]") {
    test::DefaultScope scope;
    auto const table = layer::parameter<bfloat16>({3, 2}, {}, "table");
    auto const b = layer::parameter<float>({1, 2}, {}, "b"), ones = layer::full<float>({2, 1}, 1);
    auto const rows = layer::matmul(layer::cast<float>(layer::embedding(layer::data<std::int64_t>("ids", {UNK}), table)), ones);
    auto const cost = layer::add(layer::reduce_sum(rows, {.axes = {0}}), layer::reduce_sum(layer::matmul(layer::scale(b, 3), ones), {.axes = {0}}));
    auto const after = train(cost, [](std::int64_t) { return std::array{batch}; },
                             {.optimizer = layer::Sgd{.learning_rate = 1}, .clip = layer::ClipByGlobalNorm{.max_norm = std::sqrt(7.0)}});
    CHECK(after.get<bfloat16>("table") == Tensor<bfloat16>{{-0.5, -0.5}, {0, 0}, {-1, -1}});  // the norm is √28
    CHECK(after.get<float>("b") == Tensor<float>{{-1.5, -1.5}});
    auto gradients = append_backward<float>(*cost);
    layer::GradientClip(layer::ClipByGlobalNorm{}).add(scope, gradients);
    Net<>::trace_and_build(std::array{gradients[0].gradient, gradients[1].gradient}).run(scope);
    auto const& clipped = gradients[0].parameter == &*table ? gradients[0] : gradients[1];
    CHECK(clipped.gradient->value().get<SelectedRows<bfloat16>>().merged());
    CHECK_THROWS_AS(train(cost, [](std::int64_t) { return std::array{batch}; }, {.clip = layer::ClipByGlobalNorm{.max_norm = -1}}), ValueError);
    CHECK_THROWS_WITH(train(cost, [](std::int64_t) { return std::array{batch}; }, {.optimizer = layer::Optimizer(layer::Sgd{}, dtypes<float, double>{})}),
                      "the optimizer: the element type of table is bf16, expected f32 or f64");
}

TEST_CASE("the norm of gradients of several element types has the same bits for any number of threads", "[layer]") {
    test::DefaultScope scope;
    auto const a = layer::parameter<bfloat16>({3'000, 150}, {-1, 1}), c = layer::parameter<bfloat16>({7, 3}, {-1, 1});
    auto const b = layer::parameter<float>({5'000, 64}, {-1, 1}), d = layer::parameter<float>({2}, {-1, 1});
    std::vector<ParameterGradient> gradients{{&*b, &*b}, {&*a, &*a}, {&*c, &*c}, {&*d, &*d}};
    for (auto const& g : gradients) g.parameter->initialize(g.parameter->value(), 5);
    layer::GradientClip(layer::ClipByGlobalNorm{.max_norm = 3}).add(scope, gradients);
    auto const net = Net<>::trace_and_build(*gradients[0].gradient);
    std::vector<Tensor<float>> got;
    for (int const threads : {1, 2, 8}) {
        net.run(scope, Cpu{threads});
        got.push_back(gradients[0].gradient->value().get<LoDTensor<float>>().value());
        CHECK(got.back() == got.front());
    }
    double const factor = 3 / std::sqrt(450'000 / 3. + 320'000 / 3.);
    CHECK(got[0](1, 1) / b->value().get<LoDTensor<float>>().value()(1, 1) == Approx(factor).epsilon(0.01));
}

TEST_CASE("clipped gradients of tables stay row-sparse and are merged", "[layer]") {
    for (layer::GradientClip const& clip : std::array<layer::GradientClip, 3>{layer::ClipByValue{}, layer::ClipByNorm{}, layer::ClipByGlobalNorm{}}) {
        test::DefaultScope scope;
        auto const cost = linear();
        auto gradients = append_backward<double>(*cost);
        auto const before = gradients;
        clip.add(scope, gradients);
        std::vector<Variable*> outputs;
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            CHECK(gradients[i].parameter == before[i].parameter);
            CHECK(gradients[i].gradient != before[i].gradient);
            CHECK(gradients[i].gradient->spec() == before[i].gradient->spec());
            gradients[i].parameter->initialize(gradients[i].parameter->value(), 0);
            outputs.push_back(gradients[i].gradient);
        }
        test::set(scope.get("ids"), LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, 0, 2}));
        Net<>::trace_and_build(outputs).run(scope);
        for (auto const& g : gradients) {
            bool const sparse = g.gradient->value().is<SelectedRows<double>>();
            CHECK(sparse == (g.parameter->name() == "table"));
            if (sparse) CHECK(g.gradient->value().get<SelectedRows<double>>().merged());
        }
    }
}

TEST_CASE("clipping refuses options and element types, and then no parameter changes", "[layer]") {
    test::DefaultScope scope;
    auto const cost = linear<float>();
    auto const reader = [](std::int64_t) { return std::array{batch}; };
    auto const with = [&](layer::GradientClip const& clip) { train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 1}, .clip = clip}); };
    auto const unchanged = [&] {
        auto const& b = scope.get("b").value().get<LoDTensor<float>>().value();
        return b == Tensor<float>{{0, 0}};
    };
    CHECK_THROWS_WITH(with(layer::ClipByNorm{.max_norm = std::nan("")}), "max_norm is nan, expected a finite number");
    CHECK_THROWS_WITH(with(layer::ClipByGlobalNorm{.max_norm = -1}), "max_norm is -1, expected 0 or more");
    CHECK(scope.get("b").value().empty());  // the options are refused before the first value
    CHECK_THROWS_WITH(with(layer::ClipByValue{.min = 1, .max = 2}),
                      "clip(x = lookup_table_grad_0.w@GRAD_0): min is 1, expected 0 to be in [min, max], as absent rows stay 0");
    CHECK(unchanged());
    CHECK_THROWS_WITH(with(layer::GradientClip(layer::ClipByNorm{}, dtypes<double>{})),
                      "clip_by_norm: the element type of the gradient of table is f32, expected f64");
    auto const mixed = layer::parameter<double>({1}, {}, "mixed");
    std::vector<ParameterGradient> both{{&scope.get("b"), &scope.get("b")}, {&*mixed, &*mixed}};
    CHECK_THROWS_WITH(layer::GradientClip(Signs{}).add(scope, both), "sign: the element type of the gradient of mixed is f64, expected f32, that of the other gradients");
    layer::GradientClip(layer::ClipByNorm{}).add(scope, both);
    CHECK(both[1].gradient->spec() == tensor_spec<double>({1}));
}

}  // namespace test_gradient_clip
