// tests/distributed/train.cpp
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/train.hpp>

#include "on_ranks.hpp"
#include "parts.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/sum_of_parts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace test_distributed_train {

using namespace rowan;

constexpr std::int64_t height = 20, width = 3;

/// A table, moving statistics, dropout and dense parameters, in a scope that is the thread's.
struct Net1 {
    Scope scope;
    ScopeGuard guard{scope};
    layer::Var<float> cost = make();

    static layer::Var<float> make() {
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        auto rows = layer::embedding(ids, {.height = height, .width = width, .name = "table"});
        rows = layer::dropout(layer::batch_norm(rows, {.name = "norm"}), {.probability = 0.25});
        auto const error = layer::fc(rows, {.output_size = 2, .name = "fc"}) - layer::data<float>("y", {UNK, 2});
        return layer::reduce_mean(error * error);
    }
};

/// Batch i, of 2 to 6 rows.
Feeds batch(std::int64_t i, float first = 0.1F) {
    inputs::Random random(static_cast<std::uint64_t>(i) + 7);
    auto const n = static_cast<std::size_t>(2 + random.below(5));
    std::vector<std::int64_t> ids;
    auto y = Tensor<float>::from_shape({n, 2});
    for (std::size_t k = 0; k < n; ++k) {
        ids.push_back(random.below(height));
        y(k, 0) = first * static_cast<float>(random.below(100));
        y(k, 1) = 0.3F * static_cast<float>(random.below(100));
    }
    return {{"ids", ids}, {"y", y}};
}

std::vector<Feeds> batches(std::int64_t begin, std::int64_t end) {
    std::vector<Feeds> all;
    for (std::int64_t i = begin; i < end; ++i) all.push_back(batch(i));
    return all;
}

std::uint64_t hash_of(Parameters const& p) {
    std::uint64_t h = static_cast<std::uint64_t>(p.steps);
    for (auto const& [name, value] : p) h = parts::bits(value.share().elements().bytes, h);
    return h;
}

TrainOptions options_for(layer::Parts const& parts, layer::Comm const& comm = {}) {
    return {.optimizer = layer::Adam{.learning_rate = 0.05},
            .clip = layer::ClipByGlobalNorm{.max_norm = 0.5},
            .comm = comm,
            .parts = parts,
            .epochs = 2,
            .exec = {1}};
}

TEST_CASE("a net trained on ranks has the bits of one process, for any number of ranks", "[distributed]") {
    // 11 batches: steps of 5, 5 and 1, and of 8 and 3
    for (std::int64_t const parts : {5, 8}) {
        std::vector<double> costs;
        auto const run = [&](layer::Comm const& comm, std::vector<double>* reported, bool overlap = false) {
            Net1 const net;
            auto options = options_for(parts, comm);
            options.overlap = overlap;
            options.on_batch = [&](BatchReport const& r) {
                if (reported != nullptr) reported->push_back(r.cost);
            };
            auto const learned = train(
                net.cost, [](std::int64_t) { return batches(0, 11); }, options);
            return hash_of(learned);
        };
        auto const want = run({}, &costs);
        for (int const n : {1, 2, 3, 4, 6}) {
            auto const right = test::on_ranks(n, [&](auto const& comm) {
                std::vector<double> mine;
                auto const got = run(comm, &mine);
                return (got == want && run(comm, nullptr, true) == want ? 1 : 0) + (mine == costs ? 2 : 0);
            });
            CAPTURE(n, parts);
            for (int const r : right) CHECK(r == 3);
        }
    }
}

TEST_CASE("gradients that travel in several messages while the net runs have the bits of one process", "[distributed]") {
    auto const run = [](layer::Comm const& comm, bool fails) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto x = layer::data<float>("y", {UNK, 2});
        for (int i = 0; i < 3; ++i) x = layer::tanh(layer::fc(x, {.output_size = 300}));  // 360 KB each
        auto options = options_for(4, comm);
        options.overlap = true;
        auto const reader = [=](std::int64_t) {
            std::vector<Feeds> all;
            for (std::size_t i = 0; i < 12; ++i) {
                bool const bad = fails && i == 8;  // a rank fails when others have summed what they have
                auto y = Tensor<float>::from_shape({bad ? 1U : 30U, 2});
                std::ranges::fill(y, bad ? std::numeric_limits<float>::quiet_NaN() : 0.01F * static_cast<float>(i));
                all.push_back({{"y", std::move(y)}});
            }
            return all;
        };
        return hash_of(train(layer::reduce_mean(x * x), reader, options));
    };
    auto const want = run({}, false);
    for (int const n : test::group_sizes({2, 3})) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            try {
                run(comm, true);
            } catch (Error const& e) {
                bool const said = std::string(e.what()).find("a finite number") != std::string::npos;
                return said && run(comm, false) == want ? 1 : 0;
            }
            return 0;
        });
        for (int const r : right) CHECK(r == 1);
    }
}

TEST_CASE("one part has the bits of a training without parts, on ranks too", "[distributed]") {
    auto const run = [](layer::Parts const& parts, layer::Comm const& comm) {
        Net1 const net;
        auto options = options_for(parts, comm);
        options.optimizer = layer::Sgd{.learning_rate = 0.1F};  // rows that repeat are subtracted in order
        return hash_of(train(
            net.cost, [](std::int64_t) { return batches(0, 4); }, options));
    };
    auto const want = run({}, {});
    for (auto const got : test::on_ranks(3, [&](auto const& comm) { return run(1, comm); })) CHECK(got == want);
}

TEST_CASE("the gradient of a step is sum_of_parts of the parts' gradients times their rows", "[distributed]") {
    auto const data = batches(0, 5);
    auto const cost_of = [] {
        auto const rows =
            layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = height, .width = 2, .name = "table"});
        auto const error = rows - layer::data<float>("y", {UNK, 2});
        return layer::reduce_mean(error * error);
    };
    Scope scope;
    ScopeGuard const guard(scope);
    auto const cost = cost_of();
    auto const first = Trainer(cost).parameters();
    auto const gradients = append_backward(*cost);
    REQUIRE(gradients.size() == 1);
    auto const net = Net<>::trace_and_build(*gradients[0].gradient);
    std::vector<SelectedRows<float>> all;
    float total = 0;
    for (auto const& feeds : data) {
        scope.get("table").value() = first.find("table").share();
        for (char const* const name : {"ids", "y"}) scope.get(name).value() = feeds.at(name).value();
        net.run(scope, {1});
        auto const rows = static_cast<float>(feeds.at("ids").value().rows());
        all.push_back(scale(merge(gradients[0].gradient->value().get<SelectedRows<float>>()), rows));
        total += rows;
    }
    auto sum = sum_of_parts(all);
    for (float& e : sum.value()) e /= total;
    auto table = first.get<float>("table");
    sgd(table, sum, 0.5F);
    auto const want = parts::bits(table);
    for (int const n : {1, 2, 3}) {
        auto const got = test::on_ranks(n, [&](auto const& comm) {
            Scope own;
            ScopeGuard const mine(own);
            Trainer trainer(cost_of(),
                            {.optimizer = layer::Sgd{.learning_rate = 0.5F}, .comm = comm, .parts = 5, .exec = {1}});
            trainer.step(data);
            return parts::bits(trainer.parameters().template get<float>("table"));
        });
        for (auto const bits : got) CHECK(bits == want);
    }
}

TEST_CASE("parts are weighed by the labels that count, with the same bits on ranks", "[distributed]") {
    auto const run = [&](layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = height, .width = 3, .name = "table"});
        rows = layer::batch_norm(rows, {.name = "norm"});
        std::vector<Feeds> data;
        for (std::int64_t i = 0; i < 7; ++i) {
            auto const ids = batch(i).at("ids").value();
            std::vector<std::int64_t> labels;
            for (std::int64_t k = 0; k < static_cast<std::int64_t>(ids.rows()); ++k) labels.push_back(k < i % 3 ? k % 3 : -1);
            data.push_back({{"ids", ids}, {"label", labels}});
        }
        auto const cost = layer::cross_entropy(rows, layer::data<std::int64_t>("label", {UNK}),
                                                            {.ignore_index = -1, .weights = {9, 1, 2}});
        return hash_of(train(cost, [&](std::int64_t) { return data; }, options_for(7, comm)));
    };
    auto const want = run({});
    for (int const n : {2, 3, 5}) {
        for (auto const hash : test::on_ranks(n, run)) CHECK(hash == want);
    }
}

TEST_CASE("parts are weighed by the weights of their rows, with the same bits on ranks", "[distributed]") {
    auto const make = [] {
        auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = height, .width = 2, .name = "table"});
        return layer::binary_cross_entropy_with_logits(layer::fc(rows, {.output_size = 2, .name = "fc"}), layer::data<float>("y", {UNK, 2}), layer::data<float>("w", {UNK}), {.pos_weight = 3});
    };
    auto const weighed = [](std::int64_t i) {
        Feeds feeds = batch(i, 0.01F);
        auto w = Tensor<float>::from_shape({feeds.at("ids").value().rows()});
        for (std::size_t k = 0; k < w.size(); ++k) w(k) = i == 3 ? 0 : 0.3F * static_cast<float>((static_cast<std::size_t>(i) + 2 * k) % 7);
        feeds.insert_or_assign("w", w);
        return feeds;
    };
    std::vector<Feeds> data;
    for (std::int64_t i = 0; i < 7; ++i) data.push_back(weighed(i));
    auto const run = [&](layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        return hash_of(train(make(), [&](std::int64_t) { return data; }, options_for(7, comm)));
    };
    auto const want = run({});
    for (int const n : {2, 3, 5}) {
        for (auto const hash : test::on_ranks(n, run)) CHECK(hash == want);
    }
    auto const whole = data;
    for (Feeds feeds : whole) {  // a step without rows
        feeds.insert_or_assign("w", Tensor<float>::zeros({feeds.at("ids").value().rows()}));
        data.push_back(feeds);
    }
    for (int const n : {1, 3}) {
        for (auto const hash : test::on_ranks(n, run)) CHECK(hash == want);
    }
    data[5].insert_or_assign("w", Tensor<float>::full({data[5].at("ids").value().rows()}, -1));
    auto const refused = test::on_ranks(3, [&](auto const& comm) {
        try {
            return run(comm) == 0 ? 2 : 3;
        } catch (Error const& e) {
            return std::string(e.what()).find("weights[0] is -1, expected in [0, 1e150]") != std::string::npos ? 1 : 0;
        }
    });
    for (int const r : refused) CHECK(r == 1);
}

TEST_CASE("gradients of bfloat16 travel as float and are rounded once", "[distributed]") {
    auto const run = [](layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const table = layer::parameter<bfloat16>({height, 2}, {-1, 1}, "table");
        auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), table);
        auto const error = layer::cast<float>(rows) - layer::data<float>("y", {UNK, 2});
        return hash_of(train(
            layer::reduce_mean(error * error), [](std::int64_t) { return batches(0, 5); }, options_for(5, comm)));
    };
    auto const want = run({});
    for (int const n : {2, 3}) {
        for (auto const hash : test::on_ranks(n, run)) CHECK(hash == want);
    }
}

TEST_CASE("a training resumes on another number of ranks with the same bits", "[distributed]") {
    auto const run = [](layer::Comm const& comm, std::int64_t begin, std::int64_t end, Parameters const* resume) {
        Net1 const net;
        auto options = options_for(3, comm);
        options.epochs = 1;
        options.resume = resume;
        return train(
            net.cost, [&](std::int64_t) { return batches(begin, end); }, options);
    };
    auto const half = run({}, 0, 6, nullptr);
    auto const want = hash_of(run({}, 6, 12, &half));
    for (int const n : {2, 4}) {
        auto const got = test::on_ranks(n, [&](auto const& comm) {
            auto const before = run(comm, 0, 6, nullptr);
            return hash_of(before) == hash_of(half) ? hash_of(run(comm, 6, 12, &half)) : 0;
        });
        for (auto const hash : got) CHECK(hash == want);
    }
}

TEST_CASE("a rank does not read the batches of other ranks", "[distributed]") {
    auto const data = batches(0, 4);
    auto const run = [&](layer::Comm const& comm, std::vector<Feeds> const& mine) {
        Net1 const net;
        return hash_of(train(
            net.cost, [&](std::int64_t) { return mine; }, options_for(4, comm)));
    };
    auto const want = run({}, data);
    auto const got = test::on_ranks(2, [&](auto const& comm) {
        auto mine = data;
        std::size_t const other = comm.rank() == 0 ? 2 : 0;
        mine[other] = mine[other + 1] = Feeds{};
        return comm.size() == 1 ? want : run(comm, mine);
    });
    for (auto const hash : got) CHECK(hash == want);
}

/// Calls f(comm, trainer, net) on 3 ranks. It throws on all; the text on rank 0 has `text`. Then a step has the bits of one
/// on one process: nothing has changed.
template <class F>
void refused(std::string const& text, F const& f) {
    auto const step = [](Trainer<float>& trainer) {
        trainer.step(batches(0, 4));
        return hash_of(trainer.parameters());
    };
    Net1 const alone;
    Trainer one(alone.cost, options_for(4));
    auto const want = step(one);
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net;
        Trainer trainer(net.cost, options_for(4, comm));
        int thrown = 0;
        try {
            f(comm, trainer, net);
        } catch (std::exception const& e) {
            thrown = std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
        }
        return thrown + (step(trainer) == want ? 2 : 0);
    });
    CAPTURE(text);
    for (int const r : right) CHECK(r == 3);
}

TEST_CASE("an error on one rank is one on all, and nothing has changed", "[distributed][errors]") {
    using Data = std::vector<Feeds>;
    auto const with = [](Data all, std::size_t i, Feeds const& feeds) {
        all[i] = feeds;
        return all;
    };
    float const inf = std::numeric_limits<float>::infinity();
    refused("20 is not in [0, 20)", [&](auto const&, auto& trainer, auto const&) {
        trainer.step(with(batches(0, 4), 1, {{"ids", std::vector<std::int64_t>{20}}, {"y", Tensor<float>{{1, 2}}}}));
    });
    refused("a finite number",
            [&](auto const&, auto& trainer, auto const&) { trainer.step(with(batches(0, 4), 3, batch(1, inf))); });
    refused("rank 1 has another number of batches for a step than rank 0",
            [&](auto const& comm, auto& trainer, auto const&) { trainer.step(batches(0, comm.rank() == 0 ? 4 : 3)); });
    refused("rank 2 has another batch for the only part",
            [&](auto const& comm, auto& trainer, auto const&) { trainer.step(batch(comm.rank() == 2 ? 1 : 0)); });
    refused("batches is 5, expected 1 to options.parts = 4",
            [&](auto const& comm, auto& trainer, auto const&) { trainer.step(batches(0, comm.rank() == 1 ? 5 : 4)); });
}

TEST_CASE("weights of parts whose sum is zero are an error on all ranks, which have begun to add up gradients", "[distributed][errors]") {
    auto const run = [](std::int64_t wide, layer::Comm const& comm, bool bad) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const x = layer::data<float>("x", {UNK, 2}), w = layer::data<float>("w", {UNK, 1});
        Trainer trainer(layer::reduce_sum(layer::fc(layer::fc(x, {.output_size = wide}), {.output_size = 1}) * w) / layer::reduce_sum(w),
                        {.comm = comm, .parts = 3, .exec = {1}});
        auto const parts = [](std::vector<float> const& weights) {
            std::vector<Feeds> all;
            for (float const weight : weights) all.push_back({{"x", Tensor<float>{{1, weight}}}, {"w", Tensor<float>{{weight}}}});
            return all;
        };
        std::int64_t thrown = 0;
        try {
            if (bad) trainer.step(parts({1, 1, -2}));
        } catch (Error const& e) {
            thrown = std::string(e.what()).find("is 0, expected a number other than 0, as it divides the cost") != std::string::npos ? 0 : 1;
        }
        trainer.step(parts({1, 3, 2}));
        return hash_of(trainer.parameters()) + static_cast<std::uint64_t>(thrown);
    };
    for (std::int64_t const wide : std::vector<std::int64_t>{3, 10000}) {  // 10,000 are added up in slices
        auto const want = run(wide, {}, false);
        for (auto const hash : test::on_ranks(3, [&](auto const& comm) { return run(wide, comm, true); })) CHECK(hash == want);
    }
}

/// Calls f(comm, cost, options) on 3 ranks: the number of those where it throws an error with this text.
template <class F>
void all_throw(std::string const& text, F const& f) {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net;
        try {
            f(comm, net.cost, options_for(2, comm));
        } catch (std::exception const& e) {
            return std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
        }
        return 2;
    });
    CAPTURE(text);
    for (int const r : right) CHECK(r == 1);
}

TEST_CASE("what differs between ranks is an error on all", "[distributed][errors]") {
    auto const reader = [](std::int64_t) { return batches(0, 4); };
    all_throw("options.seed is 1 on rank 2, 0 on rank 0",
              [&](auto const& comm, auto const& cost, TrainOptions o) {
                  o.seed = comm.rank() == 2 ? 1 : 0;
                  train(cost, reader, o);
              });
    all_throw("options.parts is 3 on rank 1, 2 on rank 0", [&](auto const& comm, auto const& cost, TrainOptions o) {
        if (comm.rank() == 1) o.parts = 3;
        train(cost, reader, o);
    });
    all_throw("options.parts is not given", [&](auto const&, auto const& cost, TrainOptions o) {
        o.parts = {};
        train(cost, reader, o);
    });
    all_throw("options.epochs is 3 on rank 2, 2 on rank 0", [&](auto const& comm, auto const& cost, TrainOptions o) {
        if (comm.rank() == 2) o.epochs = 3;
        train(cost, reader, o);
    });
    // Options that would train apart, and no word differs in a step.
    auto const differs = [&](std::string const& text, auto const& change) {
        all_throw("train: " + text + " on rank 0", [&](auto const& comm, auto const& cost, TrainOptions o) {
            change(o, comm.rank() == 1);
            train(cost, reader, o);
        });
    };
    differs("options.optimizer.learning_rate is 0.2 on rank 1, 0.1", [](TrainOptions& o, bool other) {
        o.optimizer = layer::Sgd{.learning_rate = other ? 0.2 : 0.1};
    });
    differs("options.optimizer is adagrad on rank 1, sgd", [](TrainOptions& o, bool other) {
        o.optimizer = layer::Sgd{};
        if (other) o.optimizer = layer::AdaGrad{};
    });
    differs("options.optimizer.lazy is false on rank 1, true", [](TrainOptions& o, bool other) {
        o.optimizer = layer::Momentum{.lazy = !other};
    });
    differs("options.optimizer.decoupled is true on rank 1, false", [](TrainOptions& o, bool other) {
        o.optimizer = layer::Adam{.weight_decay = 0.01};
        if (other) o.optimizer = layer::AdamW{.weight_decay = 0.01};
    });
    differs("options.optimizers[\"table\"].rho is 0.8 on rank 1, 0.9", [](TrainOptions& o, bool other) {
        o.optimizers.insert_or_assign("table", layer::RmsProp{.rho = other ? 0.8 : 0.9});
    });
    differs("options.optimizers[\"table\"] is sgd on rank 1, missing", [](TrainOptions& o, bool other) {
        if (other) o.optimizers.insert_or_assign("table", layer::Sgd{});
    });
    differs("options.rates[\"table\"] is missing on rank 1, 2", [](TrainOptions& o, bool other) {
        if (!other) o.rates["table"] = 2;
    });
    differs("options.clip is missing on rank 1, clip_by_global_norm", [](TrainOptions& o, bool other) {
        if (other) o.clip = {};
    });
    differs("options.clip.max_norm is 1 on rank 1, 0.5", [](TrainOptions& o, bool other) {
        if (other) o.clip = layer::ClipByGlobalNorm{.max_norm = 1};
    });
    differs("options.average.decay is 0.5 on rank 1, 0.25", [](TrainOptions& o, bool other) {
        o.average = layer::MovingAverage{.decay = other ? 0.5 : 0.25};
    });
    differs("options.schedule is given on rank 1, missing", [](TrainOptions& o, bool other) {
        if (other) o.schedule = layer::ConstantRate{};
    });
    differs("options.stop.patience is 2 on rank 1, 1", [](TrainOptions& o, bool other) {
        o.metrics["m"] = [](Parameters const&) { return 1.0; };
        o.stop = layer::EarlyStop{.metric = "m", .patience = other ? 2 : 1};
    });
    all_throw("rank 1 has another value of the metric of options.stop than rank 0",
              [&](auto const& comm, auto const& cost, TrainOptions o) {
                  o.metrics["m"] = [rank = comm.rank()](Parameters const&) { return rank == 1 ? 1.0 : 2.0; };
                  o.stop = layer::EarlyStop{.metric = "m"};
                  train(cost, reader, o);
              });
    all_throw("rank 1 calls step of another Trainer than rank 0",
              [&](auto const& comm, auto const& cost, TrainOptions const& o) {
                  Trainer a(cost, o);
                  Net1 const net;
                  Trainer b(net.cost, o);
                  (comm.rank() == 1 ? b : a).step(batches(0, 2));
              });
    all_throw("there is no metric \"none\"", [&](auto const& comm, auto const& cost, TrainOptions o) {
        if (comm.rank() == 1) o.stop = layer::EarlyStop{.metric = "none"};
        train(cost, reader, o);
    });
    all_throw("rank 1 has another number of batches", [&](auto const& comm, auto const& cost, TrainOptions const& o) {
        train(
            cost, [&](std::int64_t) { return batches(0, comm.rank() == 1 ? 4 : 6); }, o);
    });
    all_throw("another factor of the learning rate", [&](auto const& comm, auto const& cost, TrainOptions o) {
        o.schedule = [&, rank = comm.rank()](std::int64_t step) { return rank == 1 && step == 1 ? 0.5 : 1.0; };
        train(cost, reader, o);
    });
}

TEST_CASE("readers and callbacks that throw on one rank end all", "[distributed][errors]") {
    auto const reader = [](std::int64_t) { return batches(0, 4); };
    all_throw("no file", [&](auto const& comm, auto const& cost, TrainOptions const& o) {
        train(
            cost,
            [&](std::int64_t epoch) {
                if (epoch == 1 && comm.rank() == 1) throw std::runtime_error("no file");
                return batches(0, 4);
            },
            o);
    });
    all_throw("no disk", [&](auto const& comm, auto const& cost, TrainOptions o) {
        o.on_batch = [rank = comm.rank()](BatchReport const&) {
            if (rank == 2) throw std::runtime_error("no disk");
        };
        train(cost, reader, o);
    });
    all_throw("no space", [&](auto const& comm, auto const& cost, TrainOptions o) {
        o.on_epoch = [rank = comm.rank()](std::int64_t, Parameters const&) {
            if (rank == 0) throw std::runtime_error("no space");
        };
        train(cost, reader, o);
    });
}

TEST_CASE("what fails on one rank while ranks exchange ends the step on all, and nothing has changed", "[distributed][errors]") {
    auto const run = [](layer::Comm const& comm, auto const& reader) {
        Net1 const net;
        auto options = options_for(2, comm);
        options.overlap = true;
        return hash_of(train(net.cost, reader, options));
    };
    auto const good = [](std::int64_t) { return batches(0, 6); };
    auto const want = run({}, good);
    auto const inf = std::numeric_limits<float>::infinity();
    auto const fails = [&](std::string const& text, auto const& reader_of) {
        auto const right = test::on_ranks(3, [&](auto const& comm) {
            int thrown = 0;
            std::vector<double> costs;
            Net1 const net;
            auto options = options_for(2, comm);
            options.overlap = true;
            options.on_batch = [&](BatchReport const& r) { costs.push_back(r.cost); };
            try {
                train(net.cost, reader_of(comm.rank() == comm.size() / 2), options);
            } catch (std::exception const& e) {
                thrown = std::string(e.what()).find(text) != std::string::npos && costs.size() == 2 ? 1 : 0;
            }
            return thrown + (run(comm, good) == want ? 2 : 0);
        });
        CAPTURE(text);
        for (int const r : right) CHECK(r == 3);
    };
    fails("a finite number", [&](bool) {  // on the rank that runs it
        return [&](std::int64_t) {
            auto all = batches(0, 6);
            all[5] = batch(5, inf);
            return all;
        };
    });
    fails("20 is not in [0, 20)", [&](bool) {
        return [&](std::int64_t) {
            auto all = batches(0, 6);
            all[4] = {{"ids", std::vector<std::int64_t>{20}}, {"y", Tensor<float>{{1, 2}}}};
            return all;
        };
    });
    fails("no more", [&](bool bad) {  // steps of what has been read are made
        return [=](std::int64_t) {
            return std::views::iota(std::int64_t{0}, std::int64_t{6}) | std::views::transform([=](std::int64_t i) {
                       if (bad && i == 4) throw std::runtime_error("no more");
                       return batch(i);
                   });
        };
    });
    if (test::group_sizes({3}).back() == 1) return;
    fails("another number of batches", [&](bool bad) { return [=](std::int64_t) { return batches(0, bad ? 4 : 6); }; });
}

TEST_CASE("a callback that ends the training on one rank ends it on all", "[distributed]") {
    auto const steps = [](auto const& set) {
        return test::on_ranks(3, [&](auto const& comm) {
            Net1 const net;
            auto options = options_for(2, comm);
            set(comm.rank(), options);
            options.overlap = true;
            return train(
                       net.cost, [](std::int64_t) { return batches(0, 6); }, options)
                .steps;
        });
    };
    for (auto const n : steps([](int rank, TrainOptions&o) {
             o.on_batch = [=](BatchReport const& r) { return rank != 1 || r.batch < 1; };
         }))
        CHECK(n == 2);
    for (auto const n : steps([](int rank, TrainOptions&o) {  // of which only one rank has a callback
             if (rank == 1) o.on_epoch = [](std::int64_t, Parameters const&) { return false; };
         }))
        CHECK(n == 3);
}

TEST_CASE("ranks whose parameters differ are found after so many steps", "[distributed][errors]") {
    auto const found = test::on_ranks(3, [&](auto const& comm) {
        Net1 net;
        auto options = options_for(3, comm);
        options.check_every = 2;
        Trainer trainer(net.cost, options);
        auto const parts = batches(0, 3);
        trainer.step(parts);
        if (comm.rank() == 2) net.scope.get("table").value().template get<LoDTensor<float>>().value()(7, 1) += 0.5F;
        try {
            trainer.step(parts);
        } catch (Error const& e) {
            std::string const text = e.what();
            return text.find("a hash of the value of table") != std::string::npos && text.find("on rank 2") != std::string::npos ? 1 : 0;
        }
        return comm.size() == 1 ? 1 : 0;
    });
    for (int const f : found) CHECK(f == 1);
    auto const trained = [](layer::Comm const& comm, std::int64_t check_every) {
        Net1 const net;
        auto options = options_for(3, comm);
        options.check_every = check_every;
        return hash_of(train(
            net.cost, [](std::int64_t) { return batches(0, 9); }, options));
    };
    auto const want = trained({}, 0);
    for (auto const h : test::on_ranks(3, [&](auto const& comm) { return trained(comm, 1); })) CHECK(h == want);
    CHECK_THROWS_WITH(trained({}, -1), "options.check_every is -1, expected at least 0");
}

/// Ranks that count their calls.
struct Counting : test::Ranks {
    Counting(test::Ranks const& ranks, int& calls) : test::Ranks(ranks), calls_(&calls) {}
    static constexpr int few_ranks = 512;  // whose agreements are one call

    void sum(std::span<std::int64_t> words) const { counted().sum(words); }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const { counted().allgather(in, out); }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const { counted().alltoall(in, out); }
    auto alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts, std::span<std::byte> out,
                   std::span<std::size_t const> out_counts) const {
        return counted().alltoallv(unit, in, counts, out, out_counts);
    }
    auto allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out, std::span<std::size_t const> counts) const {
        return counted().allgatherv(unit, in, out, counts);
    }

private:
    test::Ranks const& counted() const {
        ++*calls_;
        return *this;
    }
    int* calls_;
};

TEST_CASE("a step makes as few collective calls with many parameters as with one", "[distributed]") {
    // `rows` are the ids of a part, `wide` the outputs of the last layer
    auto const calls_of = [](int layers, int tables, auto const& comm, int parts_of_step = 4, std::int64_t rows = 2, std::int64_t wide = 0) {
        Scope scope;
        ScopeGuard const guard(scope);
        bool const sharded = tables != 0;
        auto const looked_up = [&] {
            auto const ids = layer::data<std::int64_t>("ids", {UNK});
            auto const table = [&](std::int64_t n) {  // all but the first have a row without a gradient
                return layer::embedding(ids, {.height = 1000 + n, .width = 3, .padding_id = n == 0 ? std::optional<std::int64_t>() : 2, .sharded = true, .placement = {.block = 1000}});
            };
            auto sum = table(0);
            for (int t = 1; t < tables; ++t) sum = sum + table(t);
            return sum;
        };
        auto x = sharded ? looked_up() : layer::data<float>("x", {UNK, 3});
        for (int i = 0; i < layers; ++i) x = layer::fc(x, {.output_size = 3 + i});
        if (wide != 0) x = layer::fc(x, {.output_size = wide});
        std::vector<std::int64_t> ids;
        for (std::int64_t i = 0; i < rows; ++i) ids.push_back(i + 1);
        int calls = 0;
        Trainer trainer(layer::reduce_mean(x), {.comm = Counting(comm, calls), .parts = parts_of_step, .exec = {1}});
        std::vector<Feeds> const parts(static_cast<std::size_t>(parts_of_step), sharded ? Feeds{{"ids", ids}} : Feeds{{"x", Tensor<float>{{1, 2, 3}}}});
        int const before = calls;
        trainer.step(parts);
        return calls - before;
    };
    for (int const ranks : test::group_sizes({2, 3})) {
        auto const calls = test::on_ranks(ranks, [&](auto const& comm) { return 100 * calls_of(1, 0, comm) + calls_of(6, 0, comm); });
        auto const with_table = test::on_ranks(ranks, [&](auto const& comm) { return 100 * calls_of(1, 1, comm) + calls_of(6, 3, comm); });
        // an agreement, and the costs and gradients
        for (int const c : calls) CHECK(c == (ranks == 1 ? 0 : 202));
        // an agreement, the rows to fetch, and their values; their gradients go with the others
        for (int const c : with_table) CHECK(c == (ranks == 1 ? 0 : 505));
    }
    for (int const ranks : test::group_sizes({2})) {
        // ranks with several sums of a gradient tell their numbers, rows and keys, too
        for (int const c : test::on_ranks(ranks, [&](auto const& comm) { return calls_of(1, 1, comm, 6); })) CHECK(c == (ranks == 1 ? 0 : 9));
        for (int const tables : {32, 33, 100}) {
            CAPTURE(tables);
            for (int const c : test::on_ranks(ranks, [&](auto const& comm) { return calls_of(1, tables, comm); })) CHECK(c == (ranks == 1 ? 0 : 5));
        }
        // sums of more than 1 MiB are not copied to travel with others
        for (int const c : test::on_ranks(ranks, [&](auto const& comm) { return calls_of(1, 0, comm, 4, 2, 100000); })) CHECK(c == (ranks == 1 ? 0 : 3));
    }
    // train agrees once more in each step, on whether all go on
    for (int const ranks : test::group_sizes({2})) {
        auto const calls_of_train = [](int tables, int steps, auto const& comm) {
            Scope scope;
            ScopeGuard const guard(scope);
            auto x = layer::fc(layer::data<float>("x", {UNK, 3}), {.output_size = 3});
            auto const ids = layer::data<std::int64_t>("ids", {UNK});
            for (int t = 0; t < tables; ++t) x = x + layer::embedding(ids, {.height = 1000, .width = 3, .sharded = true});
            Feeds part{{"x", Tensor<float>{{1, 2, 3}, {4, 5, 6}}}};
            if (tables != 0) part.insert_or_assign("ids", std::vector<std::int64_t>{1, 70});
            std::vector<Feeds> const batches(static_cast<std::size_t>(2 * steps), part);
            int calls = 0;
            train(layer::reduce_mean(x), [&](std::int64_t) { return std::span(batches); }, {.comm = Counting(comm, calls), .parts = 2, .exec = {1}});
            return calls;
        };
        for (int const tables : {0, 1, 33}) {
            CAPTURE(tables);
            for (int const c : test::on_ranks(ranks, [&](auto const& comm) { return calls_of_train(tables, 3, comm) - calls_of_train(tables, 2, comm); }))
                CHECK(c == (ranks == 1 ? 0 : tables == 0 ? 3 : 6));
        }
    }
    // three ranks that ask the fourth for many rows tell it first how many
    for (int const ranks : test::group_sizes({4})) {
        for (int const c : test::on_ranks(ranks, [&](auto const& comm) { return calls_of(1, 1, comm, 4, 600); })) CHECK(c == (ranks == 1 ? 0 : ranks < 4 ? 5 : 6));
    }
}

namespace {

/// A communicator that has only what one must have.
class Plain {
public:
    explicit Plain(test::Ranks const& ranks) : ranks_(ranks) {}
    int rank() const { return ranks_.rank(); }
    int size() const { return ranks_.size(); }
    void sum(std::span<std::int64_t> words) const { ranks_.sum(words); }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const { ranks_.allgather(in, out); }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const { ranks_.alltoall(in, out); }
    rowan::detail::Done alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                                  std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        ranks_.alltoallv(unit, in, counts, out, out_counts).wait();
        return {};
    }
    rowan::detail::Done allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                                   std::span<std::size_t const> counts) const {
        ranks_.allgatherv(unit, in, out, counts).wait();
        return {};
    }
    void barrier() const { ranks_.barrier(); }
    [[noreturn]] void abort(std::string_view text) const { ranks_.abort(text); }

private:
    test::Ranks ranks_;
};

#ifdef ROWAN_TEST_MPI  // ranks are processes of a busy machine, which answer late
constexpr std::chrono::milliseconds patience(1000);
#else
constexpr std::chrono::milliseconds patience(150);
#endif

/// The text that the ranks get when the last one is stuck in its reader, before the third step.
template <class Make>
std::string text_of_late(test::Ranks const& comm, bool overlap, Make const& make) {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const reader = [&](std::int64_t) {
        return std::views::iota(0, 8) | std::views::transform([&](int k) {
                   if (k == 4 && comm.rank() == comm.size() - 1) std::this_thread::sleep_for(5 * patience / 2);
                   return batch(k);
               });
    };
    try {
        train(make(), reader, {.comm = comm, .parts = 2, .overlap = overlap, .patience = patience});
    } catch (RemoteError const& e) {
        if (e.rank() != comm.size() - 1) return "of another rank";
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a rank that is stuck in its reader ends a training whose patience ends, with the step", "[distributed][errors]") {
    auto const right = [](std::string const& expected, auto const& make) {
        auto const all = test::on_ranks(3, [&](test::Ranks const& comm) {
            return text_of_late(comm, false, make).starts_with(expected) ? 1 : 0;
        });
        return std::ranges::count(all, 1) == std::ssize(all);
    };
    CHECK(right("rank 2 has not come to step 3's gradients for ", &Net1::make));
    CHECK(right("rank 2 has not come to step 3's fetch for ", [] {
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        auto const rows = layer::embedding(ids, {.height = height, .width = 2, .sharded = true});
        auto const error = rows - layer::data<float>("y", {UNK, 2});
        return layer::reduce_mean(error * error);
    }));
}

TEST_CASE("a training that no rank keeps waiting for longer than its patience has its bits", "[distributed]") {
    auto const trained = [](layer::Comm const& comm, std::chrono::milliseconds how_long) {
        Net1 const net;
        auto options = options_for(3, comm);
        options.patience = how_long;
        return hash_of(train(net.cost, [](std::int64_t) { return batches(0, 6); }, options));
    };
    auto const want = trained({}, std::chrono::hours(1));
    for (auto const got : test::on_ranks(2, [&](auto const& comm) { return trained(comm, std::chrono::hours(1)); })) CHECK(got == want);
    CHECK_THROWS_WITH(trained({}, std::chrono::milliseconds(-1)), "options.patience is -1, expected 0 ms or more");
}

TEST_CASE("patience is refused where the communicator cannot have it", "[distributed][errors]") {
    auto const texts = test::on_ranks(2, [](test::Ranks const& comm) {
        Net1 const net;
        try {
            train(net.cost, [](std::int64_t) { return batches(0, 2); },
                  {.comm = Plain(comm), .parts = 2, .patience = std::chrono::hours(1)});
        } catch (Error const& e) {
            return std::string_view(e.what()) == "train: options.patience is given, and the communicator has no function expect" ? 1 : 2;
        }
        return 0;
    });
    for (int const right : texts) CHECK(right == 1);
    auto const without = test::on_ranks(2, [](test::Ranks const& comm) {
        Net1 const net;
        return hash_of(train(net.cost, [](std::int64_t) { return batches(0, 2); }, {.comm = Plain(comm), .parts = 2}));
    });
    CHECK(without[0] == without.back());
}

}  // namespace test_distributed_train
