// tests/distributed/train_checkpoint_previous.cpp: trainings whose last save is damaged, missing, or did not end.
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/distributed/train_checkpoint.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/train/detail/train_position.hpp>
#include <rowan/train/optimizers.hpp>

#include "distributed/on_ranks.hpp"
#include "distributed/sharded_nets.hpp"
#include "forked.hpp"
#include "io/files.hpp"
#include "refused.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace test_train_checkpoint_previous {

using namespace rowan;
using sharded::Hash, sharded::hash_of, sharded::Net1;

namespace {

std::vector<Feeds> read(std::int64_t epoch) { return sharded::batches(8 * epoch, 8 * epoch + 8); }

TrainOptions options() { return {.optimizer = layer::Adam{}, .parts = 2, .epochs = 2, .seed = 3}; }

/// Trains `steps` steps more than the last save, or to the end if it is 0, with a save after each.
template <class Checkpoint>
Parameters trained(Net1 const& net, TrainOptions all, Checkpoint const& checkpoint, int steps) {
    all.checkpoint = checkpoint;
    all.on_batch = [&, n = 0](BatchReport const&) mutable { return ++n != steps; };
    return train(net.cost, read, all);
}
Parameters trained(Net1 const& net, TrainCheckpointOptions const& saves, int steps) {
    return trained(net, options(), train_checkpoint(saves), steps);
}

/// The same on ranks: the hash, or, if train throws FormatError, 1 where its text has all of these and 2 where not.
std::vector<Hash> trained(int ranks, TrainCheckpointOptions const& saves, int steps, std::vector<std::string> const& texts = {}) {
    return test::on_ranks(ranks, [&](auto const& comm) {
        Net1 const net(true);
        auto all = options();
        all.comm = comm;
        try {
            return hash_of(trained(net, all, train_checkpoint(comm, saves), steps));
        } catch (FormatError const& e) {
            for (auto const& text : texts)
                if (std::string(e.what()).find(text) == std::string::npos) return Hash{2, 2};
            return Hash{1, 1};
        }
    });
}
bool refused(std::vector<Hash> const& all) {
    return std::ranges::all_of(all, [](Hash const& hash) { return hash == Hash{1, 1}; });
}

/// Damages a file in one of three ways.
void damage(std::string const& path, int way) {
    auto bytes = test::read(path);
    bytes[20] ^= std::byte{4};
    if (way == 0) test::write(path, bytes);
    if (way == 1) std::filesystem::resize_file(path, bytes.size() / 2);
    if (way == 2) std::filesystem::remove(path);
}
/// The same on the first rank of all, while the others wait.
template <class F>
void on_first_rank(F const& f) {
    test::on_ranks(1, [&](auto const&) { return f(), 1; });
}

/// The number of files of ranks in a folder.
std::size_t files_of_ranks(std::string const& folder) {
    std::size_t n = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) n += entry.path().string().ends_with(".rows") ? 1 : 0;
    return n;
}

}  // namespace

TEST_CASE("a damaged or missing last save is an error that names the one before, from which an option goes on", "[distributed][io][bad_input]") {
    Net1 const net(false);
    auto const expected = hash_of(train(net.cost, read, options()));
    for (int const way : {0, 1, 2}) {
        CAPTURE(way);
        test::Folder const folder;
        TrainCheckpointOptions saves{.folder = folder / "run", .every = 1};
        auto const last = folder / "run/training.rowan", previous = folder / "run/previous.rowan";
        CHECK(trained(net, saves, 1).steps == 1);
        CHECK_FALSE(std::filesystem::exists(previous));
        CHECK(trained(net, saves, 3).steps == 4);
        CHECK(load_parameters(previous).steps == 3);
        CHECK(load_parameters(last).steps == 4);
        damage(last, way);
        auto const before = test::read(previous);
        auto const text = test::refusal<FormatError>([&](Cpu) { trained(net, saves, 0); });
        CAPTURE(text);
        if (way == 2) {
            CHECK(text == "byte 0: " + last + " is missing, although there is " + previous +
                              ": to begin anew, remove the saves or take another folder; the save before it is " + previous +
                              ", of step 3: train_checkpoint goes on from that with options.previous = true");
        } else {
            CHECK(text.find(last + ": ") != std::string::npos);
            CHECK(text.ends_with("; the save before it is " + previous + ", of step 3: train_checkpoint goes on from that with options.previous = true"));
        }
        rowan::detail::TrainingFiles(saves).begin();  // a save of step 0 beside another would hide that
        CHECK(std::filesystem::exists(last) == (way != 2));
        saves.previous = true;
        CHECK(trained(net, saves, 1).steps == 4);  // which does not keep the damaged one as the one before
        CHECK(test::read(previous) == before);
        CHECK(trained(net, saves, 1).steps == 5);
        CHECK(load_parameters(previous).steps == 4);
        damage(previous, way);
        CHECK(trained(net, saves, 1).steps == 6);  // the last one is whole
        damage(last, way);
        damage(previous, way == 2 ? 2 : 1);
        if (way == 2) {  // nothing is left to tell
            CHECK(hash_of(trained(net, saves, 0)) == expected);
        } else {
            CHECK_THROWS_AS(trained(net, saves, 0), FormatError);
        }
    }
    test::Folder const folder;
    for (int k = 0; k < 4; ++k) {
        trained(net, {.folder = folder / "run", .every = 1}, 2);
        damage(folder / "run/training.rowan", k % 3);
        trained(net, {.folder = folder / "run", .every = 1, .previous = true}, 2);
    }
    CHECK(hash_of(trained(net, {.folder = folder / "run"}, 0)) == expected);
}

TEST_CASE("ranks go on from the save before a damaged last one if an option permits it", "[distributed][io][bad_input]") {
    Net1 const net(false);
    auto const expected = hash_of(train(net.cost, read, options()));
    test::Folder const folder;
    for (auto const& [way, file] : {std::pair{0, 1}, {1, 0}, {2, 1}, {0, 2}, {2, 2}}) {  // file 2 is the index
        CAPTURE(way, file);
        auto const run = test::shared_path(folder / ("run" + std::to_string(3 * way + file)));
        TrainCheckpointOptions saves{.folder = run, .every = 1};
        auto const last = run + "/training.rowan", previous = run + "/previous.rowan";
        trained(3, saves, 4);
        auto const files = static_cast<std::size_t>(test::group_sizes({3})[0]);
        CHECK(files_of_ranks(run) == 2 * files);  // of this save and the one before
        auto const damaged = file == 2 ? last : run + "/training.rowan-4." + std::to_string(file) + ".rows";
        on_first_rank([&] { damage(damaged, way); });
        CHECK(refused(trained(2, saves, 0, {damaged, previous + ", of step 3: train_checkpoint goes on from that with options.previous = true"})));
        saves.previous = true;
        trained(2, saves, 1);
        CHECK(sharded::together(trained(4, saves, 0)) == expected);
    }
}

TEST_CASE("files of ranks without the save that names them are refused", "[distributed][io][bad_input]") {
    test::Folder const folder;
    auto const run = test::shared_path(folder / "run");
    TrainCheckpointOptions const saves{.folder = run, .every = 1};
    trained(2, saves, 1);
    on_first_rank([&] { std::filesystem::remove(run + "/training.rowan"); });
    std::string const file = run + "/training.rowan-1.";
    CHECK(refused(trained(2, saves, 0, {run + "/training.rowan is missing, although there is " + file, "to begin anew"})));
    CHECK(refused(trained(3, {.folder = run, .previous = true}, 0, {"is missing"})));
    on_first_rank([&] {
        Net1 const net(false);
        CHECK_THROWS_AS(trained(net, saves, 0), FormatError);  // also for one process
        CHECK(std::filesystem::exists(file + "0.rows"));
    });
}

TEST_CASE("ranks that are killed in their first save begin anew", "[distributed][io]") {
    if (sanitizers::thread) return;
    auto const expected = [] {
        Net1 const net(false);
        return hash_of(train(net.cost, read, options()));
    }();
    test::Folder const folder;
    std::size_t begun = 0, ended = 0;
    auto const run = test::shared_path(folder / "run");
    auto const last = run + "/training.rowan";
    for (std::size_t n = 1; ended == 0; ++n) {
        CAPTURE(n);
        REQUIRE(n < 60);
        auto const left = test::on_ranks(1, [&](auto const&) {
            std::filesystem::remove_all(run);
            ::pid_t const child = ::fork();
            if (child == 0) {
                ::alarm(20);
                Net1 const net(true);
                Trainer trainer(net.cost, {.seed = 3, .exec = {1}});
                rowan::detail::TrainingFiles const files({.folder = run});
                test::FaultyFiles::state = {.fail = n, .kill = true};
                rowan::detail::ModelFiles::save_parameters<test::FaultyFiles>(
                    Self{}, *net.cost, rowan::detail::TrainPosition{}.added_to(trainer.parameters()), last, {[&] { files.begin(); }, files.previous(), false});
                ::_exit(0);
            }
            int const status = forked::status(child);
            if (WIFEXITED(status)) return 2;
            return std::filesystem::exists(run) && files_of_ranks(run) != 0 && !std::filesystem::exists(last) ? 3 : 1;
        })[0];
        REQUIRE((left == 1 || left == 2));
        if (left == 2) ++ended;
        if (left == 1 && n % 9 == 0) {
            ++begun;
            CHECK(sharded::together(trained(2, {.folder = run}, 0)) == expected);
        }
    }
    CHECK(begun > 1);
}

TEST_CASE("a training whose save fails keeps two saves that are whole", "[distributed][io]") {
    Net1 const net(false);
    test::Folder const folder;
    auto const last = folder / "training.rowan", previous = folder / "previous.rowan";
    auto const value = [](double x) {
        Checkpoint all;
        all.add("x", Tensor<double>{x});
        return all;
    };
    auto const save = [&]<class Files>(Files, double x) {
        return rowan::detail::write_checkpoint<Files>(Cpu{1}, value(x), std::nullopt, last, {}, previous);
    };
    auto const saved = [&](std::string const& path) { return load_checkpoint<Tensor<double>>(path, "x")[0]; };
    save(rowan::detail::PosixFiles{}, 0);
    CHECK_FALSE(std::filesystem::exists(previous));
    save(rowan::detail::PosixFiles{}, 1);
    CHECK((saved(previous) == 0 && saved(last) == 1));
    bool more = true;
    for (std::size_t n = 1; more; ++n) {
        CAPTURE(n);
        test::FaultyFiles::state = {.fail = n};
        try {
            save(test::FaultyFiles{}, 2);
            more = false;
        } catch (IoError const&) {
        }
        test::FaultyFiles::state = {};
        CHECK((saved(last) == 1 || saved(last) == 2));
        CHECK((saved(previous) == 0 || saved(previous) == 1));
        CHECK(folder.files() == 2);
        save(rowan::detail::PosixFiles{}, 0), save(rowan::detail::PosixFiles{}, 1);
        REQUIRE(n < 30);
    }
}

}  // namespace test_train_checkpoint_previous
