// tests/exceptions/growth.cpp: the allocations of what builds and ends nets grow as the operators do.
#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/trainer.hpp>

#include "catch.hpp"
#include "failing_new.hpp"

#include <rowan/io/to_program.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/moving_average.hpp>
#include <rowan/train/optimizers.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace test_growth {

namespace {

using namespace rowan;

/// How many times as many allocations f(4 n) makes as f(n), of which `f` calls `begin` where counting begins.
double growth(int n, std::function<void(int, std::function<void()> const& begin)> const& f) {
    auto const count = [&](int size) {
        std::ptrdiff_t before = test::allocations();
        Scope scope;
        ScopeGuard const guard(scope);
        f(size, [&] { before = test::allocations(); });
        return static_cast<double>(test::allocations() - before);
    };
    count(n);
    double const few = count(n);
    return count(4 * n) / few;
}

/// The mean of all elements of n tensors side by side.
template <class F>
layer::Var<float> cost_of(int n, F const& part) {
    std::vector<layer::Var<float>> parts;
    for (int i = 0; i < n; ++i) parts.push_back(part());
    return layer::reduce_mean(layer::concat(parts, {.axis = 1}));
}

layer::Var<float> cost_of_fc(int n) {
    auto const x = layer::data("x", {UNK, 2});
    return cost_of(n, [&] { return layer::fc(x, {.output_size = 1}); });
}

layer::Var<float> sum_of_means(int n) {
    auto const x = layer::data("x", {UNK, 2});
    auto cost = layer::reduce_mean(layer::fc(x, {.output_size = 1}));
    for (int i = 1; i < n; ++i) cost = cost + layer::reduce_mean(layer::fc(x, {.output_size = 1}));
    return cost;
}

layer::Var<float> cost_of_tables(int n) {
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    return cost_of(n, [&] { return layer::embedding(ids, {.height = 3, .width = 1}); });
}

}  // namespace

TEST_CASE("a net to which operators are appended one by one visits each once", "[net]") {
    CHECK(growth(64, [](int n, auto const& begin) {
              Scope& scope = default_scope();
              auto& x = scope.new_var("x", tensor_spec<float>({2}), Role::data);
              std::vector<Operator*> all;
              for (int i = 0; i < n; ++i) all.push_back(&scope.new_op<tanh_op, Cpu, float>({&x}));
              Net<> net;
              begin();
              for (Operator* const op : all) net.append(*op);
          }) < 5);
}

TEST_CASE("a trainer, with an optimizer and an average for each parameter, visits each operator a few times", "[net]") {
    auto const of = [](TrainOptions const& options, auto const& net) {
        return growth(40, [&](int n, auto const& begin) {
            auto const cost = net(n);
            begin();
            Trainer<float> const trainer(cost, options);
        });
    };
    CHECK(of({.optimizer = layer::Adam{.learning_rate = 0.1}}, cost_of_fc) < 5);
    CHECK(of({.optimizer = layer::Sgd{}, .clip = layer::ClipByNorm{.max_norm = 1}, .average = layer::MovingAverage{}, .parts = 2},
             cost_of_fc) < 5);
    CHECK(of({.optimizer = layer::Sgd{}, .parts = 2}, sum_of_means) < 5);
    CHECK(of({.optimizer = layer::Adam{}}, cost_of_tables) < 5);
    CHECK(of({.optimizer = layer::Deferred{layer::Adam{}}}, cost_of_tables) < 5);
}

TEST_CASE("a program of many recurrent layers is as long as they are", "[io]") {
    auto const length = [](int n) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const words = layer::data("words", {UNK, 2}, 1);
        auto const cost = cost_of(n, [&] {
            return layer::rnn(words, 2, [](auto x_t, auto before) {
                auto const now = layer::tanh(x_t + before);
                return layer::Step{now, now};
            });
        });
        auto const program = to_program(*cost);
        std::size_t bytes = 0;
        for (auto const& block : program.blocks) {
            for (auto const& v : block.vars) bytes += v.name.size();
        }
        return static_cast<double>(bytes);
    };
    CHECK(length(100) / length(25) < 5);
}

}  // namespace test_growth
