// tests/distributed/train_checkpoint.cpp: trainings that end and go on, on one process and on ranks, have the bits of those that do not.
#include <rowan/distributed/train_checkpoint.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/optimizers.hpp>

#include "distributed/on_ranks.hpp"
#include "distributed/sharded_nets.hpp"
#include "inputs.hpp"
#include "io/files.hpp"
#include "refused.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace test_train_checkpoint {

using namespace rowan;
using sharded::Hash, sharded::hash_of, sharded::Net1;

namespace {

constexpr std::int64_t per_epoch = 8;  // batches: two steps of three, and one of two

std::vector<Feeds> read(std::int64_t epoch) { return sharded::batches(per_epoch * (epoch % 4), per_epoch * (epoch % 4 + 1)); }

TrainOptions options(std::int64_t epochs) {
    return {.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.05}}, .schedule = layer::CosineDecay{.steps = 20}, .parts = 3, .epochs = epochs, .seed = 3};
}

struct Ends : std::runtime_error {
    Ends() : std::runtime_error("this rank ends") {}
};

/// Trains until step `last` of this call, where a rank throws, or to the end.
template <class C>
Parameters trained_until(C const& comm, Net1 const& net, std::string const& folder, TrainOptions all, std::int64_t last, int bad_rank) {
    all.comm = comm;
    all.overlap = last % 2 == 0;
    all.checkpoint = train_checkpoint(comm, {.folder = folder, .every = 2});
    all.on_batch = [&, n = std::int64_t{0}](BatchReport const&) mutable {
        if (++n == last && comm.rank() == bad_rank) throw Ends();
    };
    return train(net.cost, read, all);
}

}  // namespace

TEST_CASE("a training that ends on a rank again and again goes on, on other numbers of ranks, with the same bits", "[distributed][io]") {
    Net1 const whole(false);
    auto undisturbed = options(6);
    auto const expected = hash_of(train(whole.cost, read, undisturbed));
    test::Folder const folder;
    auto const at = test::shared_path(folder / "run");
    inputs::Random random(5);
    int ends = 0;
    for (bool done = false; !done;) {
        auto const last = 1 + random.below(5);
        int const ranks = static_cast<int>(1 + random.below(4)), bad = static_cast<int>(random.below(ranks));
        auto const placement = sharded::placements()[static_cast<std::size_t>(random.below(4))];
        auto const all = test::on_ranks(ranks, [&](auto const& comm) {
            Net1 const net(true, placement);
            try {
                return hash_of(trained_until(comm, net, at, options(6), last, bad));
            } catch (Ends const&) {
                return Hash{};
            } catch (RemoteError const&) {
                return Hash{};
            }
        });
        done = all[0] != Hash{};
        if (done) CHECK(sharded::together(all) == expected);
        REQUIRE(++ends < 100);
    }
    CHECK(ends > 4);
    auto const again = test::on_ranks(2, [&](auto const& comm) {  // what is complete is returned without a step
        Net1 const net(true);
        return hash_of(trained_until(comm, net, at, options(6), 1, 0));
    });
    CHECK(sharded::together(again) == expected);
}

TEST_CASE("a training goes on within and between epochs, also with an early stop, a callback that ends it, and more epochs", "[distributed][io]") {
    Net1 const net(false);
    auto const metric = [&](Parameters const& p) {  // smallest in the third epoch
        auto const epoch = static_cast<double>(p.steps) / 3;
        return (epoch - 3) * (epoch - 3);
    };
    auto all = options(9);
    all.metrics = {{"metric", metric}};
    all.stop = layer::EarlyStop{.metric = "metric", .patience = 2};
    auto const expected = train(net.cost, read, all);
    CHECK(expected.steps == 9);
    for (std::int64_t const every : {0, 1, 2, 100}) {
        CAPTURE(every);
        test::Folder const folder;
        all.checkpoint = train_checkpoint({.folder = folder / "a/run", .every = every});
        int calls = 0;
        for (Parameters learned;; ++calls) {
            REQUIRE(calls < 30);
            int steps = 0;
            all.on_batch = [&](BatchReport const& r) { return ++steps < 2 + r.epoch % 2; };
            learned = train(net.cost, read, all);
            if (steps == 0) {
                CHECK(hash_of(learned) == hash_of(expected));
                break;
            }
        }
        CHECK(calls > 5);
        if (every != 0) continue;
        auto other = options(12);  // another metric has another best epoch, of those that follow
        other.checkpoint = all.checkpoint;
        other.metrics = {{"metric", [](Parameters const& p) { return 100.0 - static_cast<double>(p.steps); }}, {"other", metric}};
        other.stop = layer::EarlyStop{.metric = "metric", .patience = 0};
        CHECK(train(net.cost, read, other).steps == 9);  // it has the name of the one before
        other.stop->metric = "other";
        CHECK(train(net.cost, read, other).steps == 36);
    }
    test::Folder const folder;
    auto more = options(2);
    more.checkpoint = train_checkpoint({.folder = folder / "run"});
    train(net.cost, read, more);
    more.epochs = 4;
    more.on_batch = [](BatchReport const& r) { return r.epoch < 3 || r.batch < 1; };
    train(net.cost, read, more);
    more.on_batch = {};
    more.epochs = 1;  // less than there is: the save within the fourth epoch remains
    train(net.cost, read, more);
    more.epochs = 4;
    CHECK(hash_of(train(net.cost, read, more)) == hash_of(train(net.cost, read, options(4))));
}

TEST_CASE("the best epoch of sharded tables is saved, and other ranks go on with it", "[distributed][io]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "run");
    auto all = options(9);
    all.metrics = {{"metric", [](Parameters const& p) { return std::abs(static_cast<double>(p.steps) - 6); }}};
    all.stop = layer::EarlyStop{.metric = "metric", .patience = 2};
    Net1 const net(false);
    auto const expected = train(net.cost, read, all);
    CHECK(expected.steps == 6);
    for (int const ranks : {3, 2}) {
        auto const hashes = test::on_ranks(ranks, [&](auto const& comm) {
            Net1 const own(true);
            auto here = all;
            here.comm = comm;
            here.checkpoint = train_checkpoint(comm, {.folder = at, .every = 2});
            if (ranks == 3) here.on_batch = [](BatchReport const& r) { return r.epoch < 2 || r.batch < 1; };
            return hash_of(train(own.cost, read, here));
        });
        CHECK(sharded::together(hashes) == hash_of(expected));
    }
}

TEST_CASE("saves may be kept by functions of one's own; ranks that find different ones are refused", "[distributed][errors]") {
    Net1 const net(false);
    auto const expected = hash_of(train(net.cost, read, options(2)));
    std::optional<Parameters> kept;
    auto const keeps = [&](Variable&, Parameters const& all) { kept = all.share(); };
    auto const finds = [&](Variable&) { return kept ? std::optional(kept->share()) : std::nullopt; };
    auto all = options(2);
    all.checkpoint = {.save = keeps, .load = finds};
    all.on_batch = [n = 0](BatchReport const&) mutable { return ++n % 2 != 0; };
    for (int k = 0; k < 2; ++k) train(net.cost, read, all);
    CHECK(kept->steps == 4);
    auto const refused = test::on_ranks(2, [&](auto const& comm) {
        Net1 const own(false);
        auto here = options(2);
        here.comm = comm;
        here.checkpoint = {.ranks = comm.size(),
                           .save = [](Variable&, Parameters const&) {},
                           .load = [&](Variable& cost) { return comm.rank() == 0 ? finds(cost) : std::nullopt; }};
        auto const text = test::refusal<Error>([&](Cpu) { train(own.cost, read, here); });
        return text == "train: rank 1 goes on from another save than rank 0" ? 1 : 0;
    });
    if (refused.size() == 2) CHECK((refused[0] == 1 && refused[1] == 1));
    all.on_batch = {};
    CHECK(hash_of(train(net.cost, read, all)) == expected);
}

TEST_CASE("saves that cannot be used are refused before the first step", "[distributed][io][errors]") {
    Net1 const net(false);
    test::Folder const folder;
    auto all = options(1);
    auto const refusal = [&] { return test::refusal<Error>([&](Cpu) { train(net.cost, read, all); }); };
    all.checkpoint = train_checkpoint({.folder = folder / "run", .every = -1});
    CHECK(refusal() == "options.checkpoint.every is -1, expected 0 or more");
    all.checkpoint = {.save = [](Variable&, Parameters const&) {}};
    CHECK(refusal() == "options.checkpoint lacks the function save or load");
    all.checkpoint = train_checkpoint({.folder = folder / "run"});
    all.checkpoint.ranks = 2;
    CHECK(refusal() == "options.checkpoint.ranks is 2, expected 1, the ranks that train: train_checkpoint(comm, …)");
    all.checkpoint.ranks = 1;
    save_parameters(train(net.cost, read, options(1)), folder / "training.rowan");
    all.checkpoint = train_checkpoint({.folder = folder / ""});
    CHECK(refusal() == "options.checkpoint: what was loaded has no position: it is no save of train");
    CHECK(test::refusal<Error>([](Cpu) { train_checkpoint({}); }) == "train_checkpoint: options.folder is empty, expected the name of a folder");

    all.checkpoint = train_checkpoint({.folder = folder / "shorter", .every = 2});
    all.on_batch = [](BatchReport const& r) { return r.batch < 1; };
    train(net.cost, read, all);
    auto const fewer = [](std::int64_t) { return sharded::batches(0, 5); };
    CHECK(test::refusal<ShapeError>([&](Cpu) { train(net.cost, fewer, all); }) ==
          "the number of batches of epoch 0 is 5, expected 6 or more, which were read before the save");
    Parameters bad;
    Value position;
    position.set(LoDTensor<double>(Tensor<double>{0, -1, 0, 0, 0, 0, -1}));
    bad.set("@position", std::move(position));
    all.checkpoint = {.save = [](Variable&, Parameters const&) {}, .load = [&](Variable&) { return std::optional(bad.share()); }};
    CHECK(refusal() == "options.checkpoint: what was loaded has no valid position: it is no save of train");
}

}  // namespace test_train_checkpoint
