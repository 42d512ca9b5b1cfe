// tests/train/predictor.cpp
#include <rowan/train/predictor.hpp>

#include "forked.hpp"
#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/train/train.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace test_predictor {

using namespace rowan;

namespace {

/// A recurrent net with a table, dropout and a cost.
struct Tagger {
    test::DefaultScope scope;
    layer::Var<std::int64_t> words = layer::data<std::int64_t>("words", {UNK}, 1);
    layer::Var<float> rows = layer::dropout(layer::embedding(words, {.height = 6, .width = 3}), {.probability = 0.5});
    layer::Var<float> last = layer::rnn_with_last(rows, 4, [](auto x_t, auto before) {
                                 auto const now = layer::gru_unit(x_t, before, {.size = 4});
                                 return layer::Step{now, now};
                             }).last;
    layer::Var<float> scores = layer::fc(last, {.output_size = 2});
    layer::Var<float> cost = layer::mse(scores, layer::data("y", {UNK, 2}));
    Parameters parameters = Trainer(cost).parameters();
    std::vector<Feeds> batches{{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 3}, {5}, {4, 0}})}},
                               {{"words", LoDTensor<std::int64_t>::from_nested({{2}, {}})}}};
};

/// Calls f(i) in four threads, some times each.
template <class F>
void in_threads(F const& f) {
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&f, k] {
            for (int i = 0; i < 20; ++i) f(static_cast<std::size_t>(k + i) % 2);
        });
    for (auto& t : threads) t.join();
}

}  // namespace

TEST_CASE("threads share a predictor, and get the bits of infer", "[layer]") {
    Tagger net;
    Predictor const predictor(net.scores, net.parameters);
    std::array const want{infer(net.scores, net.batches[0], net.parameters),
                          infer(net.scores, net.batches[1], net.parameters)};
    std::atomic<int> wrong = 0;
    in_threads([&](std::size_t i) {
        if (predictor(net.batches[i], Cpu{.threads = 1}) != want[i]) ++wrong;
        if (infer(net.scores, net.batches[i], net.parameters, Cpu{.threads = 1}) != want[i]) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("a process may fork while other threads use a predictor", "[layer]") {
    Tagger net;
    Predictor const predictor(net.scores, net.parameters);
    auto const want = infer(net.scores, net.batches[0], net.parameters);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) predictor(net.batches[0], Cpu{.threads = 1});
    });
    int wrong = 0;
    for (int i = 0; i < 20; ++i) wrong += !forked::succeeds_beside_threads([&] { return predictor(net.batches[0], Cpu{.threads = 2}) == want; });
    done = true;
    other.join();
    CHECK(wrong == 0);
}

TEST_CASE("a predictor names a feed that it lacks, and, if asked to, one that it does not read", "[layer]") {
    Tagger net;
    Predictor const predictor(net.scores, net.parameters),
        strict(net.scores, net.parameters, {.refuse_other_feeds = true});
    CHECK_THROWS_WITH(predictor({}), "the batch has no \"words\"; it is empty");
    Feeds more = net.batches[0];
    more.emplace("y", Tensor<float>{{1, 2}});
    CHECK(predictor(more) == strict(net.batches[0]));
    CHECK_THROWS_WITH(strict(more), "the batch has a value for \"y\", which the net does not read");
    CHECK_THROWS_WITH(Predictor(layer::data("z", {UNK}), net.parameters), "z is written by no operator");
}

TEST_CASE("a predictor keeps aliases of the parameters, and uses the pool of its thread", "[layer]") {
    Tagger net;
    Predictor const predictor(net.scores, net.parameters);
    auto const before = predictor(net.batches[0]).value();
    auto bias = net.parameters.get<float>("fc_0.b_0").share();
    bias += 1.f;
    MemoryPool pool;
    LoDTensor<float> after;
    {
        MemoryPool::Guard const guard(pool);
        after = predictor(net.batches[0]);
    }
    CHECK(pool.kept() > 0);
    CHECK((after == infer(net.scores, net.batches[0], net.parameters) && after.value() != before));
}

TEST_CASE("threads infer two layers of one net", "[layer]") {
    Tagger net;
    auto const shares = layer::softmax(net.scores);
    std::atomic<int> wrong = 0;
    in_threads([&](std::size_t i) {
        auto const& predict = i == 0 ? net.scores : shares;
        if (infer(predict, net.batches[i], net.parameters, Cpu{.threads = 1}).value().shape(1) != 2) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("a net of optimizers is not run in two threads at once", "[layer]") {
    Tagger net;
    Net<> changes;
    for (auto const& g : append_backward<float>(*net.cost)) changes.append(*layer::Optimizer(layer::Sgd{}).add(net.scope, g).op);
    detail::ScopeUse const use(net.scope);
    bool refused = false;
    std::thread([&] {
        try {
            changes.run(net.scope);
        } catch (GraphError const& e) {
            refused = std::string(e.what()).starts_with("another thread");
        }
    }).join();
    CHECK(refused);
}

TEST_CASE("a net is not trained in two threads at once", "[layer]") {
    Tagger net;
    Feeds batch = net.batches[1];
    batch.emplace("y", Tensor<float>{{1, 2}, {3, 4}});
    auto const reader = [&](std::int64_t) { return std::array{batch}; };
    int refused = 0;
    train(net.cost, reader, {.on_batch = [&](BatchReport const&) {
              std::thread([&] {
                  try {
                      train(net.cost, reader);
                  } catch (GraphError const&) {
                      ++refused;
                  }
              }).join();
          }});
    CHECK(refused == 1);
    train(net.cost, reader);  // and it is free again
}

}  // namespace test_predictor
