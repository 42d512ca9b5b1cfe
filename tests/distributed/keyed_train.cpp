// tests/distributed/keyed_train.cpp: tables by keys in nets that several ranks train.
#include <rowan/distributed/model.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/train/keyed.hpp>
#include <rowan/own_operator.hpp>

#include "io/files.hpp"
#include "on_ranks.hpp"
#include "parts.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/deferred.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace test_distributed_keyed_train {

using namespace rowan;

/// Users are strings, and their items integers in sequences, in a scope that is the thread's.
struct Net {
    Scope scope;
    ScopeGuard guard{scope};
    layer::Var<float> cost = make();

    static layer::Var<float> make() {
        layer::Keyed const kind{.sightings = 2, .eviction = {.idle = 2, .most = 9, .every = 2, .time = "day"}};
        layer::data<std::int64_t>("day", {1});
        auto const users = layer::embedding(layer::data<std::string>("users", {UNK}), {.width = 3, .name = "u", .kind = kind});
        auto const items = layer::embedding_bag(layer::data<std::int64_t>("items", {UNK}, 1),
                                                {.width = 3, .name = "i", .kind = layer::Keyed{}}, {.pool = Pooling::sum});
        auto const error = layer::fc(users + items, {.output_size = 1, .name = "fc"}) - layer::data<float>("y", {UNK, 1});
        return layer::reduce_mean(error * error);
    }
};

/// Batch i.
Feeds batch(std::int64_t i) {
    inputs::Random random(static_cast<std::uint64_t>(i) + 7);
    auto const n = static_cast<std::size_t>(2 + random.below(5));
    std::vector<std::string> users;
    std::vector<std::vector<std::int64_t>> items(n);
    auto y = Tensor<float>::from_shape({n, 1});
    for (std::size_t k = 0; k < n; ++k) {
        users.push_back("user " + std::to_string(random.below(20)));
        for (std::int64_t m = random.below(4); m > 0; --m) items[k].push_back(random.below(15) * 1'000'000'007);
        y(k, 0) = 0.1F * static_cast<float>(random.below(100));
    }
    return {{"users", users}, {"items", LoDTensor<std::int64_t>::from_nested(items)}, {"y", y}, {"day", i / 3}};
}

std::uint64_t hash_of(Parameters const& p) {
    std::uint64_t h = static_cast<std::uint64_t>(p.steps);
    for (auto const& [name, value] : p) {
        if (name.find('#') != std::string::npos || name.starts_with("fc") || name.starts_with("i")) {
            h = parts::bits(value.share().elements().bytes, h);
            continue;
        }
        for (auto const row : p.get<std::int64_t>("u#rows")) {  // rows that no key has may differ
            auto const one = p.get<float>(name).slice(static_cast<std::size_t>(row), static_cast<std::size_t>(row) + 1);
            h = parts::bits(std::as_bytes(std::span(one.data(), one.size())), h);
        }
    }
    return h;
}

/// The 11 batches of an epoch, without those of other ranks' parts.
std::vector<Feeds> batches(std::int64_t epoch, std::int64_t step_parts, int rank, int ranks) {
    std::vector<Feeds> all;
    for (std::int64_t i = 0; i < 11; ++i) {
        std::int64_t const part = i % step_parts, total = std::min(step_parts, 11 - i + part);
        bool const mine = total == 1 || (part >= total * rank / ranks && part < total * (rank + 1) / ranks);
        all.push_back(mine ? batch(11 * epoch + i) : Feeds{});
    }
    return all;
}

TEST_CASE("a net with tables by keys has the bits of one process, on any number of ranks", "[distributed][keyed]") {
    for (bool const deferred : {false, true}) {
        auto const run = [&](layer::Comm const& comm, int rank, int ranks, bool overlap) {
            Net const net;
            TrainOptions options{.optimizer = layer::AdaGrad{.learning_rate = 0.05}, .comm = comm, .parts = 5, .overlap = overlap, .epochs = 2, .exec = {1}};
            if (deferred) options.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.05}};
            if (ranks > 1) options.check_every = 2;
            return hash_of(train(net.cost, [&](std::int64_t epoch) { return batches(epoch, 5, rank, ranks); }, options));
        };
        auto const want = run({}, 0, 1, false);
        for (int const n : test::group_sizes({1, 2, 3, 4, 6})) {
            CAPTURE(n, deferred);
            auto const right = test::on_ranks(n, [&](auto const& comm) {
                return (run(comm, comm.rank(), comm.size(), false) == want ? 1 : 0) +
                       (run(comm, comm.rank(), comm.size(), true) == want ? 2 : 0);
            });
            for (int const r : right) CHECK(r == 3);
        }
    }
}

TEST_CASE("a step that fails on one rank leaves no key on any", "[distributed][keyed]") {
    auto const run = [](auto const& comm, bool fails) {
        Net const net;
        Trainer<> trainer(net.cost, {.optimizer = layer::AdaGrad{}, .comm = comm, .parts = 4, .exec = {1}});
        int thrown = 0;
        for (std::int64_t step = 0; step < 3; ++step) {
            std::vector<Feeds> parts;
            for (std::int64_t i = 0; i < 4; ++i) parts.push_back(batch(4 * step + i));
            for (int kind = 0; fails && kind < 2; ++kind) {
                auto bad = parts;
                for (Feeds& feeds : bad) feeds.insert_or_assign("users", std::vector<std::string>(feeds.at("users").value().get<Strings>().size(), "new"));
                auto const rows = bad[3].at("y").value().rows();
                if (kind == 0) bad[3].insert_or_assign("y", Tensor<float>::full({rows, 1}, NAN));
                if (kind == 1) bad[3].erase("items");
                try {
                    trainer.step(bad);
                } catch (Error const&) {
                    ++thrown;
                }
            }
            trainer.step(parts);
            if (step == 2) continue;
            if (fails) {  // what a refused step has told is forgotten
                try {
                    trainer.step(std::vector<Feeds>(5, parts[3]));
                } catch (Error const&) {
                }
            }
            trainer.step(parts[3]);
        }
        return (thrown == (fails ? 6 : 0)) ? hash_of(trainer.parameters()) : 0;
    };
    auto const all = test::on_ranks(3, [&](auto const& comm) { return run(comm, true); });
    auto const want = test::on_ranks(3, [&](auto const& comm) { return run(comm, false); });
    for (std::size_t r = 0; r < all.size(); ++r) CHECK((all[r] == want[0] && want[r] == want[0] && all[r] != 0));
}

TEST_CASE("parameters with keys are saved by ranks and go on on another number", "[distributed][keyed]") {
    test::Folder const folder;
    auto const path = test::shared_path(folder / "parameters.rowan");
    auto const run = [&](auto const& comm, Parameters const* resume, std::int64_t epochs) {
        Net const net;
        return train(net.cost, [&](std::int64_t epoch) { return batches(epoch + (resume != nullptr), 5, 0, 1); },
                     {.optimizer = layer::Adam{}, .comm = comm, .parts = 5, .epochs = epochs, .exec = {1}, .resume = resume});
    };
    auto const want = hash_of(run(Self{}, nullptr, 2));
    test::on_ranks(2, [&](auto const& comm) {
        Net const net;
        save_parameters(comm, net.cost, run(comm, nullptr, 1), path);
        return 0;
    });
    for (auto const got : test::on_ranks(3, [&](auto const& comm) {
             Net const net;
             auto const before = load_parameters(comm, net.cost, path);
             return hash_of(run(comm, &before, 1));
         }))
        CHECK(got == want);
}

}  // namespace test_distributed_keyed_train
