// tests/distributed/table_files.cpp
#include <rowan/distributed/table_files.hpp>
#include <rowan/io/checkpoint_file.hpp>

#include <rowan/distributed/self.hpp>
#include <rowan/distributed/together.hpp>

#include "../io/files.hpp"
#include "catch.hpp"
#include "damaged.hpp"
#include "on_ranks.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace test_table_files {

using namespace rowan;

template <class C>
using Table = ShardedTable<float, Cpu, C>;
using States = std::map<std::string, Tensor<double>>;

/// Element j of a row of a save.
float element(std::int64_t row, std::size_t j, std::int64_t save) {
    return static_cast<float>(row * 10 + static_cast<std::int64_t>(j) + save * 1000);
}

template <class C>
Table<C> table(C const& comm, std::int64_t block, std::int64_t save, std::int64_t height = 23) {
    return {comm, {height, block, comm.size(), static_cast<int>(block) % comm.size()}, 2, [&](std::int64_t row, std::span<float> values) {
                for (std::size_t j = 0; j < values.size(); ++j) values[j] = element(row, j, save);
            }};
}

/// A state with one number for each row.
template <class C>
States states(Table<C> const& t, int rank, std::int64_t save) {
    auto sums = Tensor<double>::zeros({t.local().shape()[0]});
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums(i) = element(t.partition().global(rank, static_cast<std::int64_t>(i)), 7, save);
    States all;
    all.emplace("sums", std::move(sums));
    return all;
}

/// Which save was loaded, and nothing else; or the text of the error, if nothing has changed.
template <class C>
std::string loaded(C const& comm, std::string const& folder, std::int64_t block = 3, std::int64_t height = 23) {
    auto t = table(comm, block, 0, height);
    auto s = states(t, comm.rank(), 0);
    std::string text;
    std::int64_t step = 0;
    try {
        step = t.load(folder, "t", s);
    } catch (FormatError const& e) {
        text = std::string("damaged: ").append(e.what());
    } catch (Error const& e) {
        text = std::string("refused: ").append(e.what());
    }
    bool const right = t.local() == table(comm, block, step, height).local() && s == states(t, comm.rank(), step);
    return !right ? "other rows" : step == 0 ? text : std::to_string(step);
}

template <class Files, class C>
void save(C const& comm, std::string const& folder, std::int64_t step, std::int64_t block = 2) {
    auto const t = table(comm, block, step);
    detail::TableFiles<double>::save<Files>(t, folder, "t", step, states(t, comm.rank(), step));
}

template <class C>
void save(C const& comm, std::string const& folder, std::int64_t step, std::int64_t block = 2) {
    auto const t = table(comm, block, step);
    t.save(folder, "t", step, states(t, comm.rank(), step));
}

TEST_CASE("a table is loaded on any number of ranks", "[distributed][io]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "new");
    std::int64_t step = 0;
    for (int from = 1; from <= 4; ++from) {
        for (int to = 1; to <= 4; ++to) {
            ++step;
            test::on_ranks(from, [&](auto const& comm) { return save(comm, at, step), 0; });
            auto const right =
                test::on_ranks(to, [&](auto const& comm) { return loaded(comm, at) == std::to_string(step) ? 1 : 0; });
            CAPTURE(from, to);
            for (int const r : right) CHECK(r == 1);
        }
    }
}

TEST_CASE("a save of before indexes had the first rank is of blocks from rank 0 on", "[distributed][io]") {
    test::Folder const folder;
    save(Self(), folder / "", 5);
    auto const index = [&](std::vector<std::int64_t> numbers) {
        auto ids = CheckpointFile(folder / "t").load<Tensor<std::int64_t>>("@shard_ids");
        Checkpoint all;
        all.add("@shards", Tensor<std::int64_t>(numbers));
        all.add("@shard_ids", std::move(ids));
        save_checkpoint(all, folder / "t");
        return loaded(Self(), folder / "");
    };
    CHECK(index({23, 2, 5, 1}) == "5");
    CHECK(index({23, 2, 5, 1, 0}) == "5");
    for (std::vector<std::int64_t> const& bad : {std::vector<std::int64_t>{23, 2, 5, 1, 1}, {23, 2, 5, 1, -1}, {23, 2, 5}, {23, 2, 5, 1, 0, 0}})
        CHECK(index(bad).find("has a bad index of a sharded table") != std::string::npos);
}

TEST_CASE("a save removes the files of the one before", "[distributed][io]") {
    test::Folder const folder;
    for (std::int64_t const step : {1, 2, 2}) save(Self(), folder / "", step);
    CHECK(folder.files() == 2);
    CHECK(loaded(Self(), folder / "") == "2");
}

TEST_CASE("a missing, damaged or foreign shard is a FormatError on all ranks", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    auto const shard = [&](int rank) { return std::string(at).append("t-1.").append(std::to_string(rank)).append(".rows"); };
    auto const damaged = [&](std::string const& text, auto const& damage) {
        test::on_ranks(1, [&](auto const&) { return std::filesystem::remove_all(at), 0; });
        test::on_ranks(3, [&](auto const& comm) { return save(comm, at, 1), 0; });
        test::on_ranks(1, [&](auto const&) { return damage(), 0; });
        test::check_damaged(3, text, [&](auto const& comm) { return loaded(comm, at, 2); });
    };
    damaged("is missing", [&] { std::filesystem::remove(shard(2)); });
    damaged("/t is missing", [&] { std::filesystem::remove(at + "t"); });
    damaged("", [&] {
        auto bytes = test::read(shard(1));
        bytes[bytes.size() - 70] ^= std::byte{1};
        test::write(shard(1), bytes);
    });
    damaged("is of another save than its index",
            [&] { std::filesystem::copy_file(shard(0), shard(1), std::filesystem::copy_options::overwrite_existing); });
    damaged("is not the index of a sharded table", [&] {
        Checkpoint other;
        save_checkpoint(other, at + "t");
    });
    damaged("/t-1.1.rows: ", [&] { test::write(shard(1), test::bytes_of("no checkpoint")); });  // of which file, on all
    auto const right = test::on_ranks(2, [&](auto const& comm) {
        save(comm, at, 1);
        auto wide = table(comm, 2, 0);
        States other;
        other.emplace("sums", Tensor<double>::zeros({wide.local().shape()[0], 2}));
        int shape = 0;
        try {
            wide.load(at, "t", other);
        } catch (ShapeError const&) {
            shape = 1;
        } catch (RemoteError const&) {  // where no row of this rank was in a file
            shape = 1;
        }
        return shape + (loaded(comm, at, 3, 24).starts_with("refused: the height in ") ? 2 : 0);
    });
    for (int const r : right) CHECK(r == 3);
}

TEST_CASE("a save and another operation are an error on all ranks, and none waits", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        if (comm.size() == 1) return 3;
        bool const other = comm.rank() == 1;
        auto const t = table(comm, 2, 1);
        auto const all = states(t, comm.rank(), 1);
        auto const text = [&](auto const& f) -> std::string {
            try {
                f();
            } catch (Error const& e) {
                return e.what();
            }
            return "";
        };
        auto const first = text([&] { other ? together(comm, [] {}) : t.save(at, "t", 1, all); });
        auto const second =
            text([&] { other ? t.save(at, "t", 1, all) : static_cast<void>(table(comm, 2, 1)); });
        save(comm, at, 2);
        auto one = table(comm, 2, 1), two = table(comm, 2, 1);
        auto const mixed = [&](std::string const& is) {
            return is.starts_with("the number of the sharded table on rank 1 is ");
        };
        auto const third = text([&] { (other ? one : two).save(at, "t", 1, all); });
        auto const fourth = text([&] { static_cast<void>((other ? one : two).template load<float>(at, "t")); });
        if (!mixed(third) || !mixed(fourth)) return 0;
        return (first == "rank 1 calls together where rank 0 calls save" ? 1 : 0) +
               (second == "rank 1 calls save where rank 0 calls ShardedTable" && loaded(comm, at) == "2" ? 2 : 0);
    });
    for (int const r : right) CHECK(r == 3);
}

TEST_CASE("a save that fails removes its files", "[distributed][io][errors]") {
    using test::FaultyFiles;
    test::Folder const folder;
    save(Self(), folder / "", 1);
    int failures = 0;
    for (std::size_t call = 1;; ++call) {
        FaultyFiles::state = {.fail = call, .ever_after = true, .code = ENOSPC};
        try {
            save<FaultyFiles>(Self(), folder / "", 2);
            break;
        } catch (IoError const&) {
            ++failures;
        }
        CAPTURE(call);
        auto const now = loaded(Self(), folder / "");
        REQUIRE((now == "1" || now == "2"));
        if (now == "1") CHECK(folder.files() == 2);
        REQUIRE(call < 200);
    }
    CHECK(failures > 10);
    test::Folder const second;  // an index that cannot be replaced
    auto const at = test::shared_path(second / "");
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        together(comm, [&] {
            if (comm.rank() == 0) std::filesystem::create_directories(at + "/t/x");
        });
        int thrown = 0;
        for (int i = 0; i < 2; ++i) {
            try {
                save(comm, at, 1);
            } catch (Error const&) {
                ++thrown;
            }
        }
        together(comm, [] {});
        auto const all = std::filesystem::directory_iterator(at);
        return 10 * thrown + static_cast<int>(std::distance(begin(all), end(all)));
    });
    for (int const r : right) CHECK(r == 21);
}

TEST_CASE("a save that ranks ask for differently leaves the one before", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        save(comm, at, 1);
        bool const last = comm.rank() == comm.size() - 1;
        auto const t = table(comm, 2, 2);
        auto const refused = [&](std::string const& name, std::int64_t step, States const& all, char const* text) {
            try {
                t.save(at, name, step, all);
            } catch (Error const& e) {
                bool const said = comm.size() == 1 || std::string(e.what()).find(text) != std::string::npos;
                return said && loaded(comm, at) == "1" ? 1 : 0;
            }
            return comm.size() == 1 ? 1 : 0;
        };
        auto const all = states(t, comm.rank(), 2);
        return refused("t", last ? 2 : 3, all, "the step of the save on rank 2 is 2, expected 3, as on rank 0") +
               refused("t", 2, last ? all : States(), "the saved value state sums on rank 2 is rows of f64[], expected missing, as on rank 0") +
               refused(last ? "t/t" : "t", 2, all, "t/t");
    });
    for (int const r : right) CHECK(r == 3);
}

TEST_CASE("a save that is killed at any system call leaves the old or the new one", "[distributed][io]") {
    using test::FaultyFiles;
    bool whole = false;
    for (std::size_t call = 1; !whole; ++call) {
        test::Folder const folder;
        save(Self(), folder / "", 1);
        pid_t const child = ::fork();
        if (child == 0) {
            FaultyFiles::state = {.fail = call, .kill = true};
            save<FaultyFiles>(Self(), folder / "", 2);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        whole = WIFEXITED(status);
        auto const now = loaded(Self(), folder / "");
        CAPTURE(call);
        CHECK((now == "2" || (now == "1" && !whole)));
        save(Self(), folder / "", 3);
        CHECK(loaded(Self(), folder / "") == "3");
        CHECK(folder.files() == 2);
        REQUIRE(call < 200);
    }
}

}  // namespace test_table_files
