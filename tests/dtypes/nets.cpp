// tests/dtypes/nets.cpp: a fixed-point type and a dual number in operators, layers, training and files.
//
// Fixed point, with numbers whose sums are exact, is compared with plain loops. A dual number is a value and its
// derivative in a direction; the forward pass computes both, and the backward pass must give the same derivative.
#include "finite_differences.hpp"
#include "own_types.hpp"

#include <rowan/io/model.hpp>
#include <rowan/layer.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_nets {

namespace {

using namespace rowan;
using test::dual, test::fixed;

template <class T>
using sum_of = typename dtype<T>::sum;

/// Multiples of 1/8 in [-2, 2].
template <class T>
Tensor<T> eighths(typename Tensor<T>::shape_type const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto t = Tensor<T>::from_shape(shape);
    for (T& x : t) x = dtype<T>::narrow(sum_of<T>(static_cast<double>(random.below(33) - 16) / 8));
    return t;
}

Tensor<dual> duals(Tensor<dual>::shape_type const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto const number = [&] { return static_cast<double>(random.below(2'000'001) - 1'000'000) / 1'000'003; };
    auto t = Tensor<dual>::from_shape(shape);
    for (dual& x : t) x = {number(), number()};
    return t;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(a)); }

Tensor<dual> dense(Value const& v) {
    return v.is<SelectedRows<dual>>() ? to_dense(v.get<SelectedRows<dual>>()) : v.get<LoDTensor<dual>>().value();
}

/// Compares the derivative of cost in a direction of all parameters, forward and backward. Then compares u · H v with
/// v · H u, where H is the matrix of second derivatives: the backward pass of dual numbers multiplies H by a direction.
/// `sparse`: the parameter whose gradient must be row-sparse.
void check_derivatives(layer::Var<dual> const& cost, std::string const& sparse) {
    auto const gradients = append_backward<dual>(*cost);
    REQUIRE(!gradients.empty());
    std::vector<Variable*> outputs{&*cost};
    std::uint64_t seed = 100;
    for (auto const& g : gradients) {
        outputs.push_back(g.gradient);
        auto const& dims = g.parameter->spec().dims;
        Tensor<dual>::shape_type shape;
        for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
        g.parameter->value().set(LoDTensor<dual>(duals(shape, ++seed)));
    }
    auto const net = Net<>::trace_and_build(outputs);
    auto const parameter = [](ParameterGradient const& g) -> Tensor<dual>& {
        return g.parameter->value().get<LoDTensor<dual>>().value();
    };
    auto const run = [&] {
        net.run(cost->scope());
        double along = 0;
        std::vector<Tensor<dual>> found;
        for (auto const& g : gradients) {
            CHECK(g.gradient->value().is<SelectedRows<dual>>() == (g.parameter->name() == sparse));
            found.push_back(dense(g.gradient->value()));
            Tensor<dual> const& w = parameter(g);
            REQUIRE(found.back().shape() == w.shape());
            for (std::size_t i = 0; i < w.size(); ++i) along += found.back().data()[i].v * w.data()[i].d;
        }
        double const forward = cost->value().get<LoDTensor<dual>>().value()(0).d;
        CAPTURE(forward, along);
        CHECK(close(forward, along));
        CHECK(std::abs(forward) > 1e-3);  // the derivative is not near zero
        return found;
    };
    std::vector<Tensor<dual>> u;
    for (auto const& g : gradients) u.push_back(duals(parameter(g).shape(), ++seed));
    auto const along_v = run();
    double u_h_v = 0, v_h_u = 0;
    for (std::size_t p = 0; p < gradients.size(); ++p) {
        Tensor<dual>& w = parameter(gradients[p]);
        for (std::size_t i = 0; i < w.size(); ++i) {
            u_h_v += along_v[p].data()[i].d * u[p].data()[i].d;
            std::swap(u[p].data()[i].d, w.data()[i].d);  // exchanges the directions u and v
        }
    }
    auto const along_u = run();
    for (std::size_t p = 0; p < gradients.size(); ++p) {
        for (std::size_t i = 0; i < u[p].size(); ++i) v_h_u += along_u[p].data()[i].d * u[p].data()[i].d;
    }
    CAPTURE(u_h_v, v_h_u);
    CHECK(close(u_h_v, v_h_u));
    CHECK(std::abs(u_h_v) > 1e-3);
}

LoDTensor<std::int64_t> const words({1, 5, 2, 2, 0, 3, 3, 1}, Lod::from_lengths({{3, 0, 1, 4}}));

struct File {
    std::string path;
    explicit File(char const* name) : path(std::string(name).append(std::to_string(::getpid())).append(".rowan")) {}
    ~File() { std::remove(path.c_str()); }
};

/// The parameters of a small net after training; `number` converts each dual number, a value of the batch and its
/// derivative, to T.
template <class T, class Number>
Parameters trained(Number const& number) {
    test::DefaultScope scope;
    auto const predict = layer::fc(layer::tanh(layer::fc(layer::data<T>("x", {UNK, 2}), {.output_size = 3})), {.output_size = 1});
    auto const cost = layer::mse(predict, layer::data<T>("y", {UNK, 1}));
    auto const at = duals({7, 2}, 1);
    auto x = Tensor<T>::from_shape({7, 2});
    std::transform(at.data(), at.data() + at.size(), x.data(), number);
    std::vector<Feeds> const batch{{{"x", x}, {"y", eighths<T>({7, 1}, 2)}}};
    return train(cost, [&](std::int64_t) { return batch; },
                 {.optimizer = layer::Optimizer(layer::AdaGrad{.learning_rate = 0.1, .epsilon = 0.01}, dtypes<T>{}), .epochs = 20});
}

}  // namespace

TEST_CASE("a net of fixed point trains as the plain loop does, bit for bit", "[dtypes]") {
    using D = dtype<fixed>;
    constexpr std::size_t steps = 5, n = 8, width = 4, height = 6;  // a mean over 8 is exact
    Tensor<std::int64_t> const ids{5, 0, 5, 2, 2, 2, 1, 0};
    auto const label = eighths<fixed>({n, 1}, 7);

    test::DefaultScope scope;
    auto const rows = layer::embedding<fixed>(layer::data<std::int64_t>("ids", {UNK}), {.height = height, .width = width, .table = {-1, 1}, .name = "table"});
    auto const cost = layer::mse(layer::fc(rows, {.output_size = 1}), layer::data<fixed>("y", {UNK, 1}));
    std::vector<Feeds> const batch{{{"ids", ids}, {"y", label}}};
    auto const reader = [&](std::int64_t) { return batch; };
    layer::Optimizer const sgd(layer::Sgd{.learning_rate = 0.125}, dtypes<fixed>{});
    auto const first = train(cost, reader, {.optimizer = sgd, .epochs = 0});
    auto const last = train(cost, reader, {.optimizer = sgd, .epochs = steps});

    auto table = first.get<fixed>("table"), w = first.get<fixed>("fc_0.w_0"), b = first.get<fixed>("fc_0.b_0");
    CHECK(b(0).raw == 0);
    for (std::size_t step = 0; step < steps; ++step) {
        std::vector<fixed> g(n);
        double w_sum[width] = {}, b_sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double sum = D::widen(b(0));
            auto const row = table.row(static_cast<std::size_t>(ids(i)));
            for (std::size_t k = 0; k < width; ++k) sum += D::widen(row[k]) * D::widen(w(k, 0));
            g[i] = D::narrow(2.0 / n * (D::widen(D::narrow(sum)) - D::widen(label(i, 0))));
            for (std::size_t k = 0; k < width; ++k) w_sum[k] += D::widen(row[k]) * D::widen(g[i]);
            b_sum += D::widen(g[i]);
        }
        for (std::size_t i = 0; i < n; ++i) {  // rows in input order, each narrowed when it was added
            auto const row = table.row(static_cast<std::size_t>(ids(i)));
            for (std::size_t k = 0; k < width; ++k) {
                fixed const grad = D::narrow(D::widen(g[i]) * D::widen(w(k, 0)));
                row[k] = D::narrow(D::widen(row[k]) - 0.125 * D::widen(grad));
            }
        }
        for (std::size_t k = 0; k < width; ++k) w(k, 0) = D::narrow(D::widen(w(k, 0)) - 0.125 * D::widen(D::narrow(w_sum[k])));
        b(0) = D::narrow(D::widen(b(0)) - 0.125 * D::widen(D::narrow(b_sum)));
    }
    CHECK((last.get<fixed>("table") == table));
    CHECK((last.get<fixed>("fc_0.w_0") == w));
    CHECK((last.get<fixed>("fc_0.b_0") == b));
    CHECK(!(first.get<fixed>("table") == table));
}

TEMPLATE_TEST_CASE("a net of a custom type learns, is saved and loaded, and predicts", "[dtypes]", fixed, dual) {
    using T = TestType;
    using D = dtype<T>;
    File const file(std::is_same_v<T, dual> ? "rowan_net_of_dual_" : "rowan_net_of_fixed_");
    auto const build = [] {
        auto const rows = layer::embedding<T>(layer::data<std::int64_t>("words", {UNK}, 1), {.height = 6, .width = 4, .name = "table"});
        auto const state = layer::rnn_with_last(rows, 5, [](auto x, auto before) {
            auto const now = layer::gru_unit(x, before, {.size = 5});
            return layer::Step{now, now};
        });
        return layer::fc(state.last, {.output_size = 2});
    };
    Scope scope, other;
    auto const predict = [&] {
        ScopeGuard const guard(scope);
        return build();
    }();
    ScopeGuard const guard(scope);
    auto const cost = layer::cross_entropy(predict, layer::data<std::int64_t>("label", {UNK}));
    std::vector<Feeds> const batch{{{"words", words}, {"label", Tensor<std::int64_t>{1, 0, 0, 1}}}};
    double first = 0, last = 0;
    auto const parameters = train(cost, [&](std::int64_t) { return batch; },
                                  {.optimizer = layer::Optimizer(layer::AdaGrad{.learning_rate = 0.1}, dtypes<T>{}),
                                   .epochs = 60,
                                   .on_batch = [&](BatchReport const& r) { (r.epoch == 0 ? first : last) = r.cost; }});
    CHECK(first > 0.5);
    CHECK(last < 0.1);
    CHECK(parameters.contains("table@adagrad.moment"));

    Feeds const asked{{"words", words}};
    auto const want = infer(predict, asked, parameters);
    for (std::size_t i = 0; i < 4; ++i) {
        bool const second = D::widen(want.value()(i, 1)) > D::widen(want.value()(i, 0));
        CHECK(second == (i == 0 || i == 3));
    }
    save_model(predict, parameters, file.path);
    ScopeGuard const elsewhere(other);
    auto const again = build();
    auto const loaded = load_model(again, file.path);
    CHECK((infer(again, asked, loaded) == want));
    CHECK((loaded.template get<T>("table") == parameters.template get<T>("table")));
}

TEST_CASE("an optimizer for other element types refuses a net of an own one, and a file of one is not taken for another", "[dtypes]") {
    File const file("rowan_net_of_two_types_");
    Scope scope, other;
    ScopeGuard const guard(scope);
    auto const predict = layer::fc(layer::data<fixed>("x", {UNK, 2}), {.output_size = 1});
    auto const cost = layer::mse(predict, layer::data<fixed>("y", {UNK, 1}));
    auto const none = [](std::int64_t) { return std::vector<Feeds>(); };
    CHECK_THROWS_AS(train(cost, none, {.optimizer = layer::AdaGrad{}}), TypeError);
    CHECK_THROWS_WITH(train(cost, none, {.optimizer = layer::AdaGrad{}}), "the optimizer: the element type of fc_0.w_0 is element type 1001, expected f32, f64 or bf16");
    save_model(predict, Trainer(cost, {.optimizer = layer::Optimizer(layer::AdaGrad{}, dtypes<fixed>{})}).parameters(), file.path);
    ScopeGuard const elsewhere(other);
    auto const floats = layer::fc(layer::data<float>("x", {UNK, 2}), {.output_size = 1});
    CHECK_THROWS_WITH(load_model(floats, file.path), file.path + ": fc_0.b_0 is Tensor<q15.16>[1], expected LoDTensor<f32>");
}

TEST_CASE("the forward derivative of dual numbers equals the backward pass", "[dtypes]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const bags = layer::embedding_bag<dual>(ids, {.height = 6, .width = 4, .name = "table"}, {Pooling::mean});
    auto const h = layer::tanh(layer::fc(bags, {.output_size = 3}));
    auto const scores = layer::add(layer::fc(layer::mul(h, layer::sigmoid(h))), layer::scale(h, 0.5));
    auto const cost = layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
    test::feed(scope, "words", words);
    test::feed(scope, "label", LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, 0, 1, 1}));
    check_derivatives(cost, "table");
}

TEST_CASE("the forward derivative of dual numbers equals the backward pass of losses", "[dtypes]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const scores = layer::embedding<dual>(ids, {.height = 6, .width = 3, .name = "table"}), w = layer::parameter<dual>({5, 3}, {}, "w");
    auto const label = layer::data<std::int64_t>("label", {UNK}, 1);
    auto const ones = layer::data<dual>("ones", {UNK, 3}, 1);
    test::feed(scope, "ones", LoDTensor<dual>(Tensor<dual>::full({8, 3}, dual{1, 0}), words.lod()));
    test::feed(scope, "words", words);
    test::feed(scope, "label", LoDTensor<std::int64_t>(Tensor<std::int64_t>{2, 0, 1, 1, 0, 2, 0, 0}, words.lod()));
    check_derivatives(layer::sum({layer::reduce_sum(layer::linear_chain_crf(scores, w, label), {.axes = {0}}), layer::huber(scores, ones),
                                  layer::binary_cross_entropy_with_logits(scores, ones), layer::reduce_sum(layer::cosine_similarity(scores, ones), {.axes = {0}}),
                                  layer::cross_entropy(scores, ones, {.soft_label = true})}),
                      "table");
}

TEST_CASE("the forward derivative of dual numbers equals the backward pass through time", "[dtypes]") {
    for (bool const lstm : {false, true}) {
        test::DefaultScope scope;
        auto const table = layer::parameter<dual>({6, 4}, {}, "table");
        auto const h = layer::rnn<dual>(layer::data<std::int64_t>("words", {UNK}, 1), 6, [&](auto id, auto before) {
            auto const x = layer::embedding(id, table);
            if (lstm) return layer::lstm_unit(x, before, {.size = 3});
            auto const now = layer::gru_unit(x, before, {.size = 6});
            return layer::Step{now, now};
        });
        auto const cost = layer::mse(h, layer::data<dual>("y", {UNK, lstm ? 3 : 6}));
        test::feed(scope, "words", words);
        test::feed(scope, "y", LoDTensor<dual>(eighths<dual>({8, lstm ? 3u : 6u}, 9)));
        check_derivatives(cost, "table");
    }
}

TEST_CASE("a dual number carries a derivative through a whole training", "[dtypes]") {
    double const h = 1e-5;
    auto const moved = trained<dual>([](dual x) { return x; });
    auto const right = trained<double>([&](dual x) { return x.v + h * x.d; });
    auto const left = trained<double>([&](dual x) { return x.v - h * x.d; });
    double most = 0;
    for (auto const& [name, value] : moved) {
        if (name.find('@') != name.npos) continue;
        auto const& w = value.get<LoDTensor<dual>>().value();
        for (std::size_t i = 0; i < w.size(); ++i) {
            double const slope = (right.get<double>(name).data()[i] - left.get<double>(name).data()[i]) / (2 * h);
            CAPTURE(name, i, slope, w.data()[i].d);
            CHECK(std::abs(w.data()[i].d - slope) <= 1e-6 * (1 + std::abs(slope)));
            most = std::max(most, std::abs(slope));
        }
    }
    CHECK(most > 1e-2);
}

}  // namespace test_nets
