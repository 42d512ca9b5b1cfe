// tests/train/parts.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/parts.hpp>

#include "layer/check_net.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/layer/split.hpp>
#include <rowan/layer/array.hpp>
#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/op/sequence/expand_rows.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace test_parts {

using namespace rowan;

// The mean of the squared errors of all elements, so that the gradient of a batch is the mean of those of its rows.
layer::Var<float> cost_of(double dropped = 0) {
    auto rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = 6, .width = 3, .name = "table"});
    if (dropped > 0) rows = layer::dropout(rows, {.probability = dropped});
    auto const error = layer::fc(rows, {.output_size = 2, .name = "fc"}) - layer::data<float>("y", {UNK, 2});
    return layer::reduce_mean(error * error);
}

// Rows [begin, end) of a data set with repeated ids.
Feeds rows(std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> ids;
    auto y = Tensor<float>::from_shape({static_cast<std::size_t>(end - begin), 2});
    for (std::int64_t i = begin; i < end; ++i) {
        ids.push_back(i * i % 5);
        for (std::int64_t k = 0; k < 2; ++k)
            y.data()[2 * (i - begin) + k] = 0.25F * static_cast<float>((i * 7 + k * 3) % 9);
    }
    return {{"ids", ids}, {"y", y}};
}

std::vector<Feeds> batches(std::int64_t count, std::int64_t size) {
    std::vector<Feeds> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(rows(i * size, (i + 1) * size));
    return all;
}

// Batches of 1 to 4 rows.
std::vector<Feeds> ragged(std::int64_t count) {
    std::vector<Feeds> all;
    for (std::int64_t i = 0, at = 0; i < count; at += 1 + i++ * 3 % 4) all.push_back(rows(at, at + 1 + i * 3 % 4));
    return all;
}

float rows_of(Feeds const& batch) { return static_cast<float>(batch.at("ids").value().rows()); }

// The sum of gradients [begin, end) as the documented tree.
template <class G, class Add>
G tree(std::vector<G> const& g, std::size_t begin, std::size_t end, Add const& add) {
    if (end - begin == 1) return g[begin];
    std::size_t half = 1;
    while (2 * half < end - begin) half *= 2;
    return add(tree(g, begin, begin + half, add), tree(g, begin + half, end, add));
}

TEST_CASE("parts have the bits of a loop by hand, with clipping, a schedule and averages by steps", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of();
    std::vector<std::int64_t> asked;  // by the schedule
    std::vector<std::int64_t> seen;
    auto const data = ragged(11);
    auto const learned = train(cost, [&](std::int64_t) { return data; },
                               {.optimizer = layer::AdaGrad{.learning_rate = 0.5},
                                .clip = layer::ClipByNorm{.max_norm = 0.125},
                                .schedule =
                                    [&](std::int64_t step) {
                                        asked.push_back(step);
                                        return 1.0 / static_cast<double>(step + 1);
                                    },
                                .average = layer::MovingAverage{.decay = 0.5},
                                .parts = 5,
                                .epochs = 2,
                                .on_batch = [&](BatchReport const& r) { seen.push_back(r.batch); }});
    CHECK(learned.steps == 6);
    CHECK(asked == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(seen == std::vector<std::int64_t>{0, 1, 2, 0, 1, 2});

    auto now = Trainer(cost).parameters();
    auto const gradients = append_backward(*cost);
    std::vector<Variable*> outputs;
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    auto const net = Net<>::trace_and_build(outputs);
    Cpu const exec;
    auto const add_rows = [&](SelectedRows<float> const& a, SelectedRows<float> const& b) {
        return merge(exec, add(a, b));
    };
    auto const add_dense = [](Tensor<float> const& a, Tensor<float> const& b) { return Tensor<float>(a + b); };
    std::map<std::string, Tensor<float>> moments, averages;
    for (auto const& g : gradients) {
        auto const& first = now.get<float>(g.parameter->name());
        moments.emplace(g.parameter->name(), Tensor<float>::zeros(first.shape()));
        averages.emplace(g.parameter->name(), first);
    }
    double rate = 0.5, step = 0;
    for (std::size_t const begin : {0U, 5U, 10U, 0U, 5U, 10U}) {
        std::size_t const end = std::min<std::size_t>(begin + 5, data.size());
        float total = 0;
        std::map<std::string, std::vector<Tensor<float>>> dense;
        std::vector<SelectedRows<float>> sparse;
        for (std::size_t i = begin; i < end; ++i) {
            total += rows_of(data[i]);
            for (auto const& g : gradients) g.parameter->value() = now.find(g.parameter->name()).share();
            default_scope().get("ids").value() = data[i].at("ids").value();
            default_scope().get("y").value() = data[i].at("y").value();
            net.run(default_scope());
            bool const alone = end - begin == 1;
            float const weight = alone ? 1 : rows_of(data[i]);
            for (auto const& g : gradients) {
                if (g.gradient->value().is<SelectedRows<float>>()) {
                    sparse.push_back(scale(merge(exec, g.gradient->value().get<SelectedRows<float>>()), weight));
                } else {
                    dense[g.parameter->name()].push_back(
                        Tensor<float>(g.gradient->value().get<LoDTensor<float>>().value() * weight));
                }
            }
            if (alone) total = 1;
        }
        rate = 0.5 / ++step;
        Parameters next;
        for (auto& [name, moment] : moments) {
            Tensor<float> p = now.get<float>(name);
            if (name == "table") {
                auto mean = tree(sparse, 0, sparse.size(), add_rows);
                for (float& e : mean.value()) e /= total;
                auto const g = clip_by_norm(exec, mean, {.max_norm = 0.125});
                adagrad(exec, p, moment, g, {.learning_rate = rate});
            } else {
                Tensor<float> const mean = tree(dense[name], 0, dense[name].size(), add_dense) / total;
                auto const g = clip_by_norm(exec, mean, {.max_norm = 0.125});
                adagrad(exec, p, moment, g, {.learning_rate = rate});
            }
            moving_average(exec, averages[name], p, {.decay = 0.5});
            Value value;
            value.set(LoDTensor<float>(p));
            next.set(name, std::move(value));
        }
        now = std::move(next);
    }
    REQUIRE(now.size() == 3);
    for (auto const& named : now) {
        CHECK(learned.get<float>(named.first) == now.get<float>(named.first));
        CHECK(learned.averaged().get<float>(named.first) == averages[named.first]);
    }
}

TEST_CASE("n batches as parts of a step are one batch of all their rows, for any optimizer", "[layer]") {
    for (layer::Optimizer const& optimizer :
         {layer::Optimizer(layer::Sgd{.learning_rate = 0.01}), layer::Optimizer(layer::Momentum{.learning_rate = 0.01}),
          layer::Optimizer(layer::Adam{.learning_rate = 0.01, .lazy = false})}) {
        for (std::int64_t const n : {1, 2, 3, 4, 7}) {
            test::DefaultScope scope;
            auto const cost = cost_of();
            auto const data = ragged(n);
            std::int64_t all = 0;
            for (auto const& batch : data) all += static_cast<std::int64_t>(rows_of(batch));
            std::vector<double> costs, whole_costs;
            auto const parts =
                train(cost, [&](std::int64_t) { return data; },
                      {.optimizer = optimizer, .parts = n, .epochs = 3, .on_batch = [&](BatchReport const& r) {
                           costs.push_back(r.cost);
                       }});
            auto const whole = train(cost, [&](std::int64_t) { return std::vector{rows(0, all)}; },
                                     {.optimizer = optimizer, .epochs = 3, .on_batch = [&](BatchReport const& r) {
                                          whole_costs.push_back(r.cost);
                                      }});
            CHECK(parts.steps == 3);
            REQUIRE(costs.size() == 3);
            for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(costs[i] - whole_costs[i]) <= 1e-5 * whole_costs[i]);
            REQUIRE(parts.size() == whole.size());
            for (auto const& named : parts) {
                auto const& a = parts.get<float>(named.first);
                auto const& b = whole.get<float>(named.first);
                for (std::size_t i = 0; i < a.size(); ++i)
                    CHECK(std::abs(a.data()[i] - b.data()[i]) <= 1e-4F * (1 + std::abs(b.data()[i])));
            }
        }
    }
}

TEST_CASE("one part gives the bits of a step without parts", "[layer]") {
    auto const run = [](layer::Parts const& parts) {
        test::DefaultScope scope;
        // sgd on a table: rows that repeat are subtracted in order, not merged
        return train(cost_of(0.25), [&](std::int64_t) { return ragged(9); },
                     {.clip = layer::ClipByGlobalNorm{.max_norm = 0.5}, .parts = parts, .epochs = 2});
    };
    auto const want = run({}), got = run(1);
    for (auto const& named : want) CHECK(got.get<float>(named.first) == want.get<float>(named.first));

    auto const step = [](layer::Parts const& parts) {
        test::DefaultScope scope;
        Trainer trainer(cost_of(), {.parts = parts});
        trainer.step(std::vector{rows(0, 9)});
        trainer.step(rows(3, 7));
        return trainer.parameters();
    };
    auto const alone = step({});
    auto const few = step(4);  // fewer than parts
    for (auto const& named : alone) CHECK(few.get<float>(named.first) == alone.get<float>(named.first));
}

TEST_CASE("a resumed training with parts has the same bits, and each part other dropout masks", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of(0.5);
    auto const run = [&](std::int64_t epochs, Parameters const* resume) {
        return train(cost, [&](std::int64_t) { return batches(5, 2); },
                     {.optimizer = layer::Adam{}, .parts = 3, .epochs = epochs, .resume = resume});
    };
    auto const half = run(1, nullptr), resumed = run(2, &half), whole = run(3, nullptr);
    CHECK(whole.steps == 6);
    CHECK(resumed.steps == 6);
    for (auto const& named : whole) CHECK(resumed.get<float>(named.first) == whole.get<float>(named.first));

    auto const first_cost = [&](std::vector<Feeds> const& parts) { return Trainer(cost, {.parts = 2}).step(parts); };
    CHECK(first_cost({rows(0, 20)}) == first_cost({rows(0, 20)}));
    CHECK(first_cost({rows(0, 20), rows(0, 20)}) != first_cost({rows(0, 20)}));  // nothing but the mask differs
}

TEST_CASE("batch_norm's statistics after a step are the means of those of its parts", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::batch_norm(layer::data<float>("x", {UNK, 1}), {.momentum = 0.5, .name = "norm"});
    auto const y = layer::fc(x, {.output_size = 1});
    auto const cost = layer::reduce_mean(y);
    Trainer trainer(cost, {.parts = 3});
    trainer.step(std::vector<Feeds>{{{"x", Tensor<float>{{1}, {3}}}},
                                    {{"x", Tensor<float>{{4}, {6}, {8}, {6}, {6}}}},
                                    {{"x", Tensor<float>{{0}}}}});
    // from 0: each part's statistic is half its mean
    CHECK(trainer.parameters().get<float>("norm.mean_0") == Tensor<float>{(2 * 1.0F + 5 * 3.0F) / 8});
    CHECK(y->value().empty());  // no memory between steps for what was counted
    trainer.step({{"x", Tensor<float>{{1}, {3}}}});
    CHECK(y->value().empty());
}

namespace {

layer::Var<float> column(char const* name) {
    if (Variable* const there = default_scope().find(name)) return layer::Var<float>(*there);
    return layer::data<float>(name, {UNK});
}

/// The losses of rows x with labels l.
layer::Var<float> losses(CrossEntropyOptions const& options) {
    auto const x = layer::fc(layer::data<float>("x", {UNK, 2}), {.output_size = 3, .name = "fc"});
    return layer::cross_entropy(x, layer::data<std::int64_t>("l", {UNK}), options);
}

/// Rows with these labels and with weights w, 0 where the label is 9.
Feeds labelled(std::vector<std::int64_t> const& l, std::size_t at) {
    auto x = Tensor<float>::from_shape({l.size(), 2}), w = Tensor<float>::from_shape({l.size()});
    for (std::size_t i = 0; i < l.size(); ++i) {
        x(i, 0) = static_cast<float>((at + i) * 7 % 5);
        x(i, 1) = static_cast<float>((at + i) * 3 % 4);
        w.data()[i] = l[i] == 9 ? 0 : static_cast<float>(l[i]) + 0.5F;
    }
    return {{"x", x}, {"l", l}, {"w", w}};
}

using Labels = std::vector<std::vector<std::int64_t>>;

/// The cost and the parameters of a step of parts with these labels, or of one batch.
std::vector<double> step_of(std::function<layer::Var<float>()> const& cost_of, Labels const& labels, bool joined) {
    test::DefaultScope scope;
    std::vector<Feeds> parts;
    std::vector<std::int64_t> all;
    for (auto const& l : labels) {
        parts.push_back(labelled(l, all.size()));
        all.insert(all.end(), l.begin(), l.end());
    }
    if (joined) parts = {labelled(all, 0)};
    auto const cost = cost_of();
    if (scope.find("w") == nullptr) {
        for (Feeds& part : parts) part.erase("w");
    }
    Trainer trainer(cost, {.optimizer = layer::Sgd{.learning_rate = 1}, .parts = 4});
    std::vector<double> result{trainer.step(parts)};
    for (auto const& [name, value] : trainer.parameters()) {
        for (float const e : value.get<LoDTensor<float>>().value()) result.push_back(static_cast<double>(e));
    }
    return result;
}

}  // namespace

TEST_CASE("parts are one batch for each mean that does not divide by rows, and for sums", "[layer]") {
    CrossEntropyOptions const none{.reduction = Reduction::none, .ignore_index = 9};
    auto const weighed = [=] { return losses(none) * column("w"); };
    auto const divided = [=] { return weighed() / layer::reduce_sum(column("w"), {.keep_dims = true}); };
    auto const binary = [=](BinaryCrossEntropyOptions const& options) {
        return layer::binary_cross_entropy_with_logits(losses(none), column("w"), options);
    };
    auto const penalty = [] {
        auto const p = layer::parameter<float>({1}, {-1, 1}, "p");
        return p * p + layer::full<float>({1}, 0.5);
    };
    auto const weighted = [=](BinaryCrossEntropyOptions const& options) {
        return layer::binary_cross_entropy_with_logits(losses(none), layer::clip(column("w"), 0, 1), column("w"), options);
    };
    std::vector<std::function<layer::Var<float>()>> const costs{
        [] { return losses({.ignore_index = 9}); },
        [] { return layer::scale(losses({.ignore_index = 9, .weights = {9e-30, 1e-30, 1e-30}}), 2, 1); },
        [=] { return layer::add(losses({.ignore_index = 9}), penalty()); },
        [] { return losses({.reduction = Reduction::sum, .ignore_index = 9}); },
        [=] { return layer::reduce_sum(losses(none)); },
        [=] { return layer::mean(losses(none)); },
        [=] { return binary({.ignore_index = 0}); },
        [=] { return binary({.reduction = Reduction::sum, .ignore_index = 0}); },
        [=] { return layer::scale(weighted({.pos_weight = 3}), 2, 1); },
        [=] { return weighted({.ignore_index = 1}); },
        [=] { return weighted({.reduction = Reduction::sum}); },
        [=] {  // of several columns
            auto const x = layer::data<float>("x", {UNK, 2});
            static_cast<void>(layer::data<std::int64_t>("l", {UNK}));
            return layer::mse(layer::fc(x, {.output_size = 2, .name = "fc"}), x, column("w"));
        },
        [=] { return layer::reduce_sum(weighed()) / layer::reduce_sum(column("w")); },
        [=] { return layer::mean(weighed()) / layer::mean(column("w")); },
        [=] { return layer::reduce_sum(divided()); },
        [=] { return layer::reduce_sum(layer::squeeze(layer::unsqueeze(divided(), {1}), {1})); },
        [=] {  // a number that is made of another type, and one of several
            auto const counts = layer::cast<std::int64_t>(layer::scale(column("w"), 8, 1));
            return layer::reduce_sum(weighed() / layer::cast<float>(layer::reduce_sum(counts, {.keep_dims = true})));
        },
        [=] {
            auto const sum = layer::reduce_sum(column("w"), {.keep_dims = true});
            return layer::reduce_sum(weighed() / layer::split(layer::concat(std::vector{sum, sum}), {1, 1})[0]);
        },
        [=] {
            auto const q = layer::unsqueeze(divided(), {1});
            return layer::reduce_sum(layer::matmul(q, column("x"), {.transpose_x = true}));
        },
        [=] {
            auto const x = weighed(), w = column("w");
            return layer::reduce_sum(x / layer::apply<expand_rows_op>({}, layer::reduce_sum(w), w));
        },
        [=] {
            auto const x = weighed(), w = column("w");  // the divisors are equal but for their rounding
            return layer::mean(x) / layer::mean(w) + layer::reduce_sum(x) / layer::reduce_sum(w);
        },
        [=] { return layer::mean(weighed() / layer::reduce_mean(column("w"), {.keep_dims = true})); }};
    for (std::size_t k = 0; k < costs.size(); ++k) {
        for (Labels const& labels : {Labels{{0, 9, 9, 9}, {2, 2, 0, 1}}, Labels{{1}, {0, 2}, {9, 0, 0}}, Labels{{9, 9}, {2}}}) {
            if (k >= 12 && labels[0][0] == 9) continue;  // a part with the cost 0 / 0
            auto const want = step_of(costs[k], labels, true), got = step_of(costs[k], labels, false);
            CAPTURE(k, labels, want, got);
            REQUIRE(want.size() == got.size());
            for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(want[i] - got[i]) <= 1e-5 * (1 + std::abs(want[i])));
        }
    }
    Labels const ignored{{9}, {9, 9}};
    for (std::size_t const k : {0U, 6U, 8U, 9U, 11U}) CHECK(step_of(costs[k], ignored, false) == step_of(costs[k], ignored, true));
}

namespace {

struct half_op : operator_of<slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "half";
    using grad = grad_rule<half_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return scale(exec, x, 0.5);
    }
};
struct linear_half_op : half_op {
    static constexpr Linearity linearity = Linearity::scaled;
};

struct own_loss_op : operator_of<slots<slot::x>, slots<slot::out>, LossOptions> {
    static constexpr std::string_view name = "own_loss";
    using grad = gradient<own_loss_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr VarSpec infer(VarSpec const& x, LossOptions const&) { return spec::with_dims(x, {1}); }
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, LossOptions const& o) {
        return o.reduction == Reduction::sum ? reduce_sum(exec, x, {.keep_dims = true}) : reduce_mean(exec, x, {.keep_dims = true});
    }
    template <class T, class D>
    static Tensor<T, D> backward(D, Tensor<T, D> const& x, Tensor<T, D> const& out_grad, LossOptions const& o) {
        auto grad = Tensor<T, D>::zeros(x.shape());
        for (T& e : grad) e = out_grad.data()[0] / (o.reduction == Reduction::sum ? T(1) : static_cast<T>(x.size()));
        return grad;
    }
};

}  // namespace

TEST_CASE("an operator of the user's says what the parts of a step are weighed by", "[layer]") {
    auto const loss = [](Reduction r) { return layer::apply<own_loss_op>({r}, losses({.reduction = Reduction::none})); };
    for (Reduction const r : {Reduction::mean, Reduction::sum}) {
        auto const cost = [&] { return layer::apply<linear_half_op>({}, loss(r)); };
        Labels const labels{{0, 1, 2, 2}, {1}};
        auto const want = step_of(cost, labels, true), got = step_of(cost, labels, false);
        REQUIRE(want.size() == got.size());
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(want[i] - got[i]) <= 1e-5 * (1 + std::abs(want[i])));
    }
    test::DefaultScope scope;
    CHECK_THROWS_WITH(Trainer(layer::apply<half_op>({}, loss(Reduction::mean)), {.parts = 2}),
                      Catch::Matchers::Contains("half -> half_0.out_0, which is not linear in a sum or mean over the batch"));
}

TEST_CASE("a cost of parts that is not that of one batch is refused by the name of its operator", "[layer]") {
    CrossEntropyOptions const none{.reduction = Reduction::none};
    auto const refuses = [](std::function<layer::Var<float>()> const& cost_of, std::string const& text) {
        test::DefaultScope scope;
        auto const cost = cost_of();
        CHECK_THROWS_WITH(Trainer(cost, {.parts = 2}), "parts: the cost depends on the operator " + text);
        CHECK(Trainer(cost).steps() == 0);
    };
    refuses([=] { return layer::relu(layer::mean(losses(none))); },
            "relu -> relu_0.out_0, which is not linear in a sum or mean over the batch");
    refuses([=] {
        auto const w = column("w");
        return layer::mse(losses(none), w, w / layer::reduce_sum(w, {.keep_dims = true}));
    }, "weighted_mse -> weighted_mse_0.out_0, whose weights are divided by a sum or mean over the batch");
    refuses([=] { return layer::reduce_max(losses(none)); },
            "reduce_max -> reduce_max_0.out_0, which is neither a sum nor a mean of rows");
    refuses([=] { return layer::scale(layer::reduce_sum(losses(none)), 1, 1); },
            "scale -> scale_0.out_0, which adds to a sum over the batch what does not depend on the batch");
    refuses([=] {
        auto const all = losses(none);
        return layer::mean(all - layer::reduce_mean(all, {.keep_dims = true}));
    }, "sub -> sub_0.out_0, by which each row depends on a sum or mean over the batch");

    refuses([=] {
        auto const q = losses(none) / layer::reduce_sum(column("w"), {.keep_dims = true});
        return layer::reduce_sum(layer::concat({q, q}));
    }, "concat -> concat_0.out_0, which adds rows that are divided by a sum or mean over the batch");

    auto const both = [=] {
        auto const x = layer::fc(layer::data<float>("x", {UNK, 2}), {.output_size = 3, .name = "fc"});
        auto const l = layer::data<std::int64_t>("l", {UNK});
        return layer::cross_entropy(x, l, {.ignore_index = 9}) + layer::cross_entropy(x, l, {});
    };
    CHECK_NOTHROW(step_of(both, {{0, 1}, {2}}, false));
    CHECK_THROWS_WITH(step_of([] {
        auto const x = layer::fc(layer::data<float>("x", {UNK, 2}), {.output_size = 3, .name = "fc"});
        return layer::cross_entropy(x, layer::data<std::int64_t>("l", {UNK}), {.ignore_index = 0}) +
               layer::reduce_mean(x, {.axes = {0, 1}, .keep_dims = false}) ;
    }, {{0, 1}, {2}}, false), Catch::Matchers::Contains("in proportion to that of"));
}

TEST_CASE("parts whose divisors cancel are refused", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 1}), w = layer::data<float>("w", {UNK, 1});
    Trainer trainer(layer::reduce_sum(layer::fc(x, {.output_size = 1}) * w) / layer::reduce_sum(w), {.parts = 2});
    std::vector<Feeds> const parts{{{"x", Tensor<float>{{1}}}, {"w", Tensor<float>{{2}}}},
                                   {{"x", Tensor<float>{{3}}}, {"w", Tensor<float>{{-2}}}}};
    CHECK_THROWS_WITH(trainer.step(parts), Catch::Matchers::StartsWith("parts: the sum of ") &&
                                               Catch::Matchers::Contains(" is 0, expected a number other than 0"));
    CHECK(trainer.steps() == 0);
}

TEST_CASE("a step with a batch that fails changes nothing", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of(0.5);
    auto const data = batches(3, 3);
    Feeds const bad{{"ids", Tensor<std::int64_t>{0, 6}}, {"y", Tensor<float>::zeros({2, 2})}};
    TrainOptions const options{.optimizer = layer::Adam{}, .parts = 3};
    auto const want = train(
        cost, [&](std::int64_t) { return data; }, options);
    Trainer failing(cost, options);
    auto const before = failing.parameters();
    for (std::size_t i = 0; i < 3; ++i) {
        auto broken = data;
        broken[i] = bad;
        CHECK_THROWS_AS(failing.step(broken), IndexError);
        CHECK(failing.parameters().get<float>("table") == before.get<float>("table"));
    }
    CHECK_THROWS_WITH(failing.step(std::vector<Feeds>{}), "batches is 0, expected 1 to options.parts = 3");
    CHECK_THROWS_WITH(failing.step(batches(4, 3)), "batches is 4, expected 1 to options.parts = 3");
    CHECK(failing.steps() == 0);
    failing.step(data);
    CHECK(failing.steps() == 1);
    CHECK(failing.parameters().get<float>("table") == want.get<float>("table"));
    CHECK(want.get<float>("table") != before.get<float>("table"));
}

TEST_CASE("parts are positive, and of element types that are named", "[layer]") {
    CHECK_THROWS_WITH(layer::Parts(0), "parts is 0, expected 1 or more");
    CHECK_THROWS_AS(layer::Parts(-1), ValueError);
    test::DefaultScope scope;
    CHECK_THROWS_WITH(Trainer(cost_of(), {.parts = {2, dtypes<double>{}}}),
                      Catch::Matchers::Contains("parts: the element type of the gradient of"));
}

}  // namespace test_parts
