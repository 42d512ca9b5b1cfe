// tests/distributed/table_files.cpp
#include <rowan/distributed/table_files.hpp>
#include <rowan/io/checkpoint_file.hpp>

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/distributed/gather_save.hpp>
#include <rowan/distributed/scatter_save.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/safetensors.hpp>

#include "../dtypes/own_types.hpp"
#include "../io/files.hpp"
#include "catch.hpp"
#include "damaged.hpp"
#include "on_ranks.hpp"
#include "own_files.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
std::string loaded(C const& comm, std::string const& folder, std::int64_t block = 3, std::int64_t height = 23,
                   std::size_t piece = detail::deal_bytes) {
    auto t = table(comm, block, 0, height);
    auto s = states(t, comm.rank(), 0);
    std::string text;
    std::int64_t step = 0;
    try {
        step = detail::TableFiles<double>::load(t, folder, "t", s, piece);
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
            auto const right = test::on_ranks(to, [&](auto const& comm) {
                int n = 0;
                for (std::int64_t const block : {1, 2, 3, 7, 64}) {
                    for (std::size_t piece = 1; piece < 1000; piece *= 3)
                        n += loaded(comm, at, block, 23, piece) == std::to_string(step) ? 0 : 1;
                    n += loaded(comm, at, block) == std::to_string(step) ? 0 : 1;
                }
                return n;
            });
            CAPTURE(from, to);
            for (int const r : right) CHECK(r == 0);
        }
    }
}

TEST_CASE("each file of a save is read by one rank", "[distributed][io]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    auto const sizes = test::group_sizes({1, 2, 3, 4});
    for (int const from : sizes) {
        test::on_ranks(1, [&](auto const&) { return std::filesystem::remove_all(at), 0; });
        test::on_ranks(from, [&](auto const& comm) { return save(comm, at, 1), 0; });
        test::check_own_files(at, from, sizes, [](auto const& comm, std::string const& own) { return loaded(comm, own, 3, 23, 40); });
    }
}

TEST_CASE("a save becomes one file, and that a save of other ranks, with the same bytes", "[distributed][io]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "save"), all = at + ".safetensors", npy = at + ".npy";
    int const from = test::group_sizes({3}).front();
    auto const right = [&](int ranks, auto const& f) {
        CAPTURE(ranks);
        for (int const r : test::on_ranks(ranks, f)) CHECK(r == 1);
    };
    test::on_ranks(from, [&](auto const& comm) { return save(comm, at, 5, 3), 0; });
    right(1, [&](auto const&) {
        gather_save(at + "/t", all);
        gather_save_to_npy(at + "/t", "rows", npy);
        auto const whole = table(Self(), 2, 5);
        detail::SavedShards shards(at + "/t", 0, 1);
        shards.share_values(detail::GroupOf<Self>(Self()));
        bool pieces = true;
        for (std::size_t piece = 1; piece < 400; piece += 13) {
            test::Bytes bytes;
            shards.each_piece("rows", piece, [&](std::span<std::byte const> some) { bytes.insert(bytes.end(), some.begin(), some.end()); });
            pieces = pieces && std::ranges::equal(bytes, detail::bytes_of(whole.local()));
        }
        SafetensorsFile const file(all);
        std::map<std::string, std::string> const about{{"rowan.save", "3 5"}, {"rowan:rows", "sharded 5 4 f32"}, {"rowan:state sums", "sharded 6 8 f64"}};
        return pieces && file.load<float>("rows") == whole.local() && file.load<double>("state sums") == states(whole, 0, 5).at("sums") &&
                       file.metadata() == about && file.size() == 2 && load_npy<float>(npy) == whole.local()
                   ? 1
                   : 0;
    });
    for (int const ranks : {from, 1, 2, 5}) {
        right(1, [&](auto const&) {
            auto const there = std::string(at).append(std::to_string(ranks));
            scatter_save(all, there + "/t", ranks);
            bool same = true;
            if (ranks == from) {
                for (auto const& file : std::filesystem::directory_iterator(at))
                    same = same && test::read(file.path()) == test::read(there + "/" + file.path().filename().string());
            }
            gather_save(there + "/t", there + "/all");
            return same && test::read(there + "/all") == test::read(all) ? 1 : 0;
        });
        for (int to = 1; to <= 4; ++to)
            right(to, [&](auto const& comm) { return loaded(comm, std::string(at).append(std::to_string(ranks))) == "5" ? 1 : 0; });
    }
    right(1, [&](auto const&) {  // what has no metadata
        scatter_save(npy, at + "npy/t", 2);
        scatter_save(npy, at + "npy/t", 3);  // replaces it
        auto t = table(Self(), 1, 0);
        auto const files = std::filesystem::directory_iterator(at + "npy");
        bool const loads = t.template load<float>(at + "npy", "t") == 0 && t.local() == table(Self(), 1, 5).local() && std::distance(begin(files), end(files)) == 4;
        auto const ids = Tensor<std::int64_t>{1, 2, 3};
        save_safetensors(all, {{"rows", t.local()}, {"state sums", states(t, 0, 3).at("sums")}, {"ids", ids}}, {{"rowan:ids", "whole"}});
        scatter_save(all, at + "npy/t", 2);
        CheckpointFile const index(at + "npy/t");
        auto s = states(t, 0, 0);
        return loads && index.load<Tensor<std::int64_t>>("ids") == ids && t.load(at + "npy", "t", s) == 0 && s == states(t, 0, 3) ? 1 : 0;
    });
}

TEST_CASE("rows of any type become one file and a save again", "[distributed][io]") {
    test::Folder const folder;
    auto const same = [&]<class T>(T) {
        auto const make = [](int save) {
            return ShardedTable<T, Cpu, Self>(Self(), {150, 7, 1}, 3, [&](std::int64_t row, std::span<T> values) {
                for (T& x : values) x = dtype<T>::narrow(static_cast<typename dtype<T>::sum>(row % 2 * save));
            });
        };
        std::map<std::string, Tensor<T>> none;
        make(1).save(folder / "a", "t", 1, none);
        gather_save(folder / "a/t", folder / "all");
        scatter_save(folder / "all", folder / "b/t", 4);
        auto t = make(0);
        t.load(folder / "b", "t", none);
        CHECK(t.local() == make(1).local());
    };
    same(double{});
    same(float16{});
    same(bfloat16{});
    same(std::int64_t{});
    same(std::uint8_t{});
    same(bool{});
    same(test::fixed{});
}

TEST_CASE("a file that is no save, or is damaged, changes nothing", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const all = folder / "all";
    auto const t = table(Self(), 2, 1);
    save(Self(), folder / "save", 1);
    auto const refused = [&](std::string const& text, std::map<std::string, std::string> const& about) {
        save_safetensors(all, {{"rows", t.local()}}, about);
        CHECK_THROWS_WITH(scatter_save(all, folder / "save/t", 2), Catch::Contains(text));
    };
    for (char const* const about : {"", "2", "0 1", "2 -1", "2 x"}) refused("wrong metadata `rowan.save`", {{"rowan.save", about}});
    for (char const* const about : {"", "shard", "table 5", "table x", "table 77 4 own", "table 5 4 f64"}) refused("wrong metadata `rowan:rows`", {{"rowan:rows", about}});
    refused("wrong metadata `rowan.save`", {{"rowan.save", "2 7 x"}});
    for (char const* const name : {"@placement rows", "@shards"}) {
        save_safetensors(all, {{"rows", t.local()}, {name, Tensor<std::int64_t>{1, 0}}}, {{std::string("rowan:").append(name), "whole"}});
        CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 2), FormatError);
    }
    save_safetensors(all, {{"rows", t.local()}, {"state s", Tensor<float>::zeros({4})}});
    CHECK_THROWS_WITH(scatter_save(all, folder / "save/t", 2), Catch::Contains("state s.shape(0) is 4, expected 23, that of rows"));
    // The same with what gather_save tells of a save: the table and a state, of one table and of a net.
    for (auto const& dims : {std::vector<std::size_t>{50, 8}, {400}, {0}}) {
        auto const rows = Tensor<float>::zeros(Tensor<float>::shape_type(dims.begin(), dims.end())), state = Tensor<float>::zeros({100, 2});
        auto const other = std::string(".shape(0) is 100, expected ").append(std::to_string(dims[0])).append(", that of ");
        save_safetensors(all, {{"rows", rows}, {"state s", state}}, {{"rowan.save", "2 1"}});
        CHECK_THROWS_WITH(scatter_save(all, folder / "save/t", 2), Catch::Contains("state s" + other + "rows"));
        save_safetensors(all, {{"a", state}, {"t.w", rows}, {"t.w@adam.moment1", state}}, {{"rowan.save", "2 1"}, {"rowan:t.w@adam.moment1", "table"}});
        CHECK_THROWS_WITH(scatter_save(all, folder / "save/t", 2), Catch::Contains("t.w@adam.moment1" + other + "t.w"));
    }
    save_safetensors(all, {{"rows", Tensor<float>::zeros({9, 0})}}, {{"rowan:rows", "table"}});
    CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 2), FormatError);
    save_safetensors(all, {{"rows", Tensor<float>::zeros({})}});
    CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 2), ShapeError);
    CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 0), ShapeError);
    CHECK_THROWS_AS(scatter_save(all, folder / "", 1), Error);
    CHECK_THROWS_AS(scatter_save(folder / "none", folder / "save/t", 1), IoError);
    auto bytes = test::read(all);
    test::write(all, std::span(bytes).first(bytes.size() - 1));
    CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 1), FormatError);
    auto const npy = to_npy(t.local());
    test::write(all, std::span(npy).first(npy.size() - 1));
    CHECK_THROWS_AS(scatter_save(all, folder / "save/t", 1), FormatError);
    std::filesystem::create_directories(folder / "save/other/x");  // an index that cannot be replaced
    test::write(all, npy);
    CHECK_THROWS_AS(scatter_save(all, folder / "save/other", 1), IoError);
    std::filesystem::remove_all(folder / "save/other");
    auto const files = std::filesystem::directory_iterator(folder / "save");
    CHECK(std::distance(begin(files), end(files)) == 2);
    CHECK(loaded(Self(), folder / "save") == "1");

    CHECK_THROWS_AS(gather_save_to_npy(folder / "save/t", "none", all), Error);
    CHECK_THROWS_AS(gather_save(folder / "save/none", all), FormatError);
    auto shard = test::read(folder / "save/t-1.0.rows");
    shard[shard.size() - 70] ^= std::byte{1};
    test::write(folder / "save/t-1.0.rows", shard);
    CHECK_THROWS_AS(gather_save(folder / "save/t", all), FormatError);
    CHECK(test::read(all) == npy);
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
        for (std::int64_t const block : {2, 3}) {  // where no rows travel, and where they do
            for (std::size_t const piece : std::vector<std::size_t>{20, 1000})
                test::check_damaged(3, text, [&](auto const& comm) { return loaded(comm, at, block, 23, piece); });
        }
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
    damaged("/t-1.1.rows is not a file of rowan", [&] { test::write(shard(1), test::bytes_of("no checkpoint")); });  // of which file, on all
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
        }
        States none;
        if (comm.rank() != 0) other = states(wide, comm.rank(), 0);
        int differ = comm.size() == 1 ? 4 : 0;
        try {
            wide.load(at, "t", comm.rank() == 0 ? none : other);
        } catch (ShapeError const& e) {
            if (std::string(e.what()).starts_with("the height of state sums on rank 1 is 23, expected missing")) differ = 4;
        }
        return shape + (loaded(comm, at, 3, 24).starts_with("refused: the height in ") ? 2 : 0) + differ;
    });
    for (int const r : right) CHECK(r == 7);
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
