// tests/distributed/model.cpp
#include <rowan/distributed/model.hpp>
#include <rowan/io/checkpoint_file.hpp>

#include <rowan/distributed/gather_save.hpp>
#include <rowan/distributed/infer.hpp>
#include <rowan/distributed/scatter_save.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/train.hpp>

#include "../io/files.hpp"
#include "catch.hpp"
#include "damaged.hpp"
#include "on_ranks.hpp"
#include "sharded_nets.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace test_sharded_model {

using namespace rowan;
using namespace sharded;

/// Trains a net on batches [begin, end).
Parameters trained(Net1 const& net, std::int64_t begin, std::int64_t end, layer::Comm const& comm = {},
                   Parameters const* resume = nullptr) {
    return train(net.cost, [&](std::int64_t) { return batches(begin, end); },
                 {.optimizer = layer::RowwiseAdaGrad{}, .comm = comm, .parts = 3, .exec = {1}, .resume = resume});
}

/// The text of the error of f, after its kind.
template <class F>
std::string said(F const& f) {
    try {
        f();
    } catch (FormatError const& e) {
        return std::string("damaged: ").append(e.what());
    } catch (Error const& e) {
        return std::string("refused: ").append(e.what());
    }
    return "";
}

TEST_CASE("what some ranks have saved, others load, infer and resume with the same bits", "[distributed][io]") {
    test::Folder const folder;
    auto const model = test::shared_path(folder / "new/model"), values = test::shared_path(folder / "values");
    Net1 const net(false);
    auto const half = trained(net, 0, 4);
    auto const want = hash_of(trained(net, 4, 8, {}, &half));
    std::size_t n = 0;
    for (auto const& ranks : {std::array{1, 3}, {3, 2}, {2, 4}, {4, 1}, {3, 3}}) {
        int const from = ranks[0], to = ranks[1];
        auto const saved = placements()[n++ % 4], placed = placements()[(n + 1) % 4];  // in another way there
        test::on_ranks(from, [&](auto const& comm) {
            Net1 const mine(true, saved);
            auto const learned = trained(mine, 0, 4, comm);
            save_model(comm, mine.predict, learned, model);
            save_parameters(comm, mine.cost, learned, values);
            return 0;
        });
        auto const same = test::on_ranks(to, [&](auto const& comm) {
            Net1 const mine(true, placed);
            together(comm, [&] {  // every second time, what is loaded has been in one file
                if (comm.rank() != 0 || n % 2 == 0) return;
                for (auto const& path : {model, values}) {
                    gather_save(path, path + ".all");
                    scatter_save(path + ".all", path, from % 3 + 1);
                }
            });
            auto const data = batch(20 + comm.rank());
            auto const loaded = detail::ModelFiles::load_model(comm, *mine.predict, model, 300);
            return infer(comm, mine.predict, data, loaded) == infer(net.predict, data, half) ? 1 : 0;
        });
        auto const all = test::on_ranks(to, [&](auto const& comm) {
            Net1 const mine(true, placed);
            auto const before = detail::ModelFiles::load_parameters<>(comm, *mine.cost, values, 100);  // in pieces
            return hash_of(trained(mine, 4, 8, comm, &before));
        });
        CAPTURE(from, to);
        for (int const s : same) CHECK(s == 1);
        CHECK(together(all) == want);
    }
}

TEST_CASE("one process loads with Self what ranks have saved, and plain loads and saves say so", "[distributed][io]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "model");
    auto const other = at + "-9.0";  // the name of another model, not of a rank's file
    test::on_ranks(1, [&](auto const&) { return test::write(other, {}), 0; });
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net(true);
        auto const learned = trained(net, 0, 3, comm);
        save_model(comm, net.predict, learned, at);
        auto const rows = load_model(Self(), net.predict, at).get_rows<float>("table");
        auto const own = load_model(comm, net.predict, at).template get_rows<float>("table");
        auto const has = [](std::string const& text, char const* part) { return text.find(part) != std::string::npos; };
        bool const plain = has(said([&] { load_model(net.predict, at); }), "with Self{} for one process") &&
                           has(said([&] { load_parameters(at); }), "with Self{} for one process");
        bool const refused = comm.size() == 1 || has(said([&] { save_model(net.predict, learned, at); }),
                                                     "300: those of a rank are saved by save_model(comm, …)");
        return (rows.rows().size() == height ? 1 : 0) + (own == learned.template get_rows<float>("table") ? 2 : 0) +
               (plain ? 4 : 0) + (refused ? 8 : 0);
    });
    for (int const r : right) CHECK(r == 15);
    auto const there = test::on_ranks(1, [&](auto const&) { return std::filesystem::exists(other) ? 1 : 0; });
    CHECK(there == std::vector{1});  // asked by the rank whose folder it is, before it leaves
}

TEST_CASE("a missing, damaged or foreign file of a rank is a FormatError on all", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "model");
    auto const shard = [&](int rank) { return std::string(at).append("-1.").append(std::to_string(rank)).append(".rows"); };
    auto const damaged = [&](std::string const& text, auto const& damage) {
        test::on_ranks(1, [&](auto const&) {
            for (auto const& file : std::filesystem::directory_iterator(std::filesystem::path(at).parent_path()))
                std::filesystem::remove(file);
            return 0;
        });
        test::on_ranks(3, [&](auto const& comm) {
            Net1 const net(true);
            return save_model(comm, net.predict, trained(net, 0, 3, comm), at), 0;
        });
        test::on_ranks(1, [&](auto const&) { return damage(), 0; });
        test::check_damaged(2, text, [&](auto const& comm) {
            Net1 const net(true);
            return said([&] { load_model(comm, net.predict, at); });
        });
    };
    damaged("-1.2.rows is missing", [&] { std::filesystem::remove(shard(2)); });
    damaged("model is missing", [&] { std::filesystem::remove(at); });
    damaged("", [&] {
        auto bytes = test::read(shard(1));
        bytes[bytes.size() - 70] ^= std::byte{1};
        test::write(shard(1), bytes);
    });
    damaged("is of another save than its index",
            [&] { std::filesystem::copy_file(shard(0), shard(1), std::filesystem::copy_options::overwrite_existing); });
    damaged("is not the index of a sharded table", [&] { save_checkpoint(Checkpoint(), at); });
    for (auto const& place : {std::array<std::int64_t, 2>{64, 1}, {64, 3}, {0, 0}}) {  // of the rows, in an index that says another one
        damaged(place == std::array<std::int64_t, 2>{64, 1} ? "has too many or too few rows" : "has a bad `@placement table`", [&] {
            CheckpointFile const index(at);
            Checkpoint other;
            for (char const* const name : {"@shards", "@shard_ids"}) other.add(name, index.load<Tensor<std::int64_t>>(name));
            for (auto const& name : index.names())
                if (!name.starts_with("@")) other.add(name, index.load<Tensor<float>>(name));
            other.add("@placement table", Tensor<std::int64_t>{place[0], place[1]});
            save_checkpoint(other, at);
        });
    }
}

TEST_CASE("ranks that load a table into different places get an error on all", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "model");
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net(true);
        save_model(comm, net.predict, trained(net, 0, 3, comm), at);
        int n = 0;
        bool const last = comm.rank() == comm.size() - 1;
        for (Placement const& other : {Placement{.block = 7}, Placement{.block = 64, .first = 1}, Placement{.first = comm.size()}}) {
            Net1 const mine(true, last ? other : Placement{});
            auto const text = said([&] { load_model(comm, mine.predict, at); });
            n += text.find(other.block == 7 ? "the rows in turn of table on rank 2 is 7" : "the first rank of table on rank 2 is 1") != std::string::npos ? 1 : text.empty() ? 10 : 100;
        }
        return n;
    });
    for (int const r : right) CHECK(r == (right.size() == 1 ? 30 : 12));
}

TEST_CASE("files of another net, and values of other ranks, are refused", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "model");
    Net1 const whole(false);
    auto const all = trained(whole, 0, 3);
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net(true);
        auto const learned = trained(net, 0, 3, comm);
        auto const has = [](std::string const& text, std::string const& part) {
            return text.starts_with("refused: ") && text.find(part) != std::string::npos ? 1 : 0;
        };
        auto const unrelated = layer::reduce_mean(layer::data<float>("z", {UNK}));
        int const unread = has(said([&] { save_parameters(comm, unrelated, learned, at); }), "give the cost that was trained");
        save_parameters(comm, net.cost, learned, at);
        save_model(comm, net.predict, learned, at + "_model");
        Net1 const other(false);
        int n = unread + has(said([&] { load_model(comm, other.predict, at + "_model"); }), "is sharded, and in this net it is whole");
        n += has(said([&] { load_parameters(comm, other.cost, at); }), "no sharded table of this net");
        n += has(said([&] { load_model(comm, net.predict, at); }), "the file belongs to another net");
        auto changed = learned.share();
        if (comm.rank() == comm.size() - 1) changed.set("table", all.find("table").share());
        n += has(said([&] { save_parameters(comm, net.cost, changed, at); }), "");
        if (comm.rank() == comm.size() - 1) changed.set("table", learned.find("table").share());
        changed.steps = comm.rank() == 0 ? 7 : 8;
        n += comm.size() == 1
                 ? 1
                 : has(said([&] { save_parameters(comm, net.cost, changed, at); }), "the step of the save on rank 1 is 8, expected 7, as on rank 0");
        return n + (load_parameters(comm, net.cost, at).steps == learned.steps ? 1 : 0);
    });
    for (int const r : right) CHECK(r == 7);
}

TEST_CASE("a save of a model that is killed at any system call leaves the old or the new one", "[distributed][io]") {
    using test::FaultyFiles;
    Net1 const net(true);
    auto const first = trained(net, 0, 3), second = trained(net, 0, 6);
    bool whole = false;
    for (std::size_t call = 1; !whole; ++call) {
        test::Folder const folder;
        auto const at = folder / "values";
        save_parameters(Self(), net.cost, first, at);
        pid_t const child = ::fork();
        if (child == 0) {
            FaultyFiles::state = {.fail = call, .kill = true};
            detail::ModelFiles::save_parameters<FaultyFiles>(Self(), *net.cost, second, at);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        whole = WIFEXITED(status);
        auto const now = load_parameters(Self(), net.cost, at);
        CAPTURE(call);
        CHECK((hash_of(now) == hash_of(second) || (hash_of(now) == hash_of(first) && !whole)));
        save_parameters(Self(), net.cost, first, at);
        CHECK(hash_of(load_parameters(Self(), net.cost, at)) == hash_of(first));
        CHECK(folder.files() == 2);
        REQUIRE(call < 200);
    }
}

}  // namespace test_sharded_model
