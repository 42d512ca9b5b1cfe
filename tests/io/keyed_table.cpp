// tests/io/keyed_table.cpp: keyed tables in checkpoints.
#include <rowan/io/checkpoint_chain.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/keyed_table.hpp>

#include "catch.hpp"
#include "files.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace test_io_keyed_table {

namespace {

using namespace rowan;
using Numbers = Tensor<std::int64_t>;

constexpr KeyedTableOptions options{.width = 3, .keys = {.sightings = 2, .record_uses = true}};

/// A table with evicted rows, and keys that were seen once.
template <class Key>
void fill(KeyedTable<float, Key>& table, std::vector<Key> const& keys) {
    table.find_or_insert(keys);
    table.set_step(1);
    table.find_or_insert(std::span(keys).first(4));
    table.set_step(7);
    table.find_or_insert(std::span(keys).subspan(2, 1));
    CHECK(table.erase(std::span(keys).subspan(1, 1)) == std::vector<std::int64_t>{1});
    table.value()(0, 1) = 42;
}

template <class Key>
void check_resumes(std::vector<Key> const& keys) {
    test::Folder const folder;
    KeyedTable<float, Key> saved(options), loaded(options);
    auto& moment = saved.template add_state<double>({}, 0.5);
    auto& loaded_moment = loaded.template add_state<double>({}, 0.5);
    fill(saved, keys);
    moment.tensor()(2) = 9;
    Checkpoint checkpoint;
    add_keyed_table(checkpoint, "users", saved);
    checkpoint.add("users.moment", moment.tensor());
    save_checkpoint(checkpoint, folder / "x");

    CheckpointFile const file(folder / "x");
    load_keyed_table(file, "users", loaded);
    loaded_moment.assign(file.template load<Tensor<double>>("users.moment"));
    auto const equal = [&] {
        CHECK(loaded.index().keys() == saved.index().keys());
        CHECK(loaded.index().rows() == saved.index().rows());
        CHECK(loaded.index().step() == saved.index().step());
        CHECK(loaded.value() == saved.value());
        CHECK(loaded_moment.tensor() == moment.tensor());
        CHECK(loaded.index().statistics().seen == saved.index().statistics().seen);
        for (std::int64_t const row : saved.index().rows()) {
            CHECK(loaded.index().uses(row).count == saved.index().uses(row).count);
            CHECK(loaded.index().uses(row).step == saved.index().uses(row).step);
        }
    };
    equal();
    CHECK(loaded.index().statistics().seen == 2);
    for (auto* table : {&saved, &loaded}) {  // the free row is the next, and the sightings go on
        table->set_step(8);
        CHECK(table->find_or_insert(std::span(keys).last(2))(0) == 1);
        table->evict_unused(2);
    }
    equal();
    CHECK(loaded.size() == 3);
}

}  // namespace

TEST_CASE("a keyed table goes on after a load as it would have without", "[keyed_table]") {
    check_resumes<std::int64_t>({7, -1, 0, std::numeric_limits<std::int64_t>::min(), 5, 6});
    check_resumes<std::uint64_t>({7, ~std::uint64_t{0}, 0, std::uint64_t{1} << 63, 5, 6});
    check_resumes<std::string>({"", "a", std::string("b\0c", 3), "\xff", "four", "a long key that is not stored in place"});
}

TEST_CASE("a keyed table has the same bytes in a file under any hash seed", "[keyed_table]") {
    test::Folder const folder;
    auto const bytes = [&](std::uint64_t hash_seed, int threads) {
        KeyedTable<float, std::string> table({.width = 2, .seed = 3, .keys = {.sightings = 2, .probability = 0.25, .record_uses = true, .seed = 5, .hash_seed = hash_seed}});
        for (std::int64_t step = 1; step <= 4; ++step) {
            std::vector<std::string> keys;
            for (std::int64_t i = 0; i < 30'000; ++i) keys.push_back(std::to_string(i * i * step % 20'011));
            table.set_step(step);
            table.find_or_insert(Cpu{threads}, keys);
            if (step == 3) table.evict_rare(2);
        }
        Checkpoint checkpoint;
        add_keyed_table(checkpoint, "users", table);
        KeyedTable<float, std::string> loaded({.width = 2, .seed = 3, .keys = table.index().options()});
        loaded.assign(table.index().contents(), table.value());  // with a seed of its own
        add_keyed_table(checkpoint, "loaded", loaded);
        save_checkpoint(checkpoint, folder / "users");
        return test::read(folder / "users");
    };
    auto const want = bytes(0, 1);
    for (int const threads : {1, 4}) {
        CHECK(bytes(1, threads) == want);
        CHECK(bytes(random_hash_seed(), threads) == want);
    }
}

TEST_CASE("deltas of a keyed table hold what was inserted, changed and evicted", "[keyed_table][checkpoint_chain]") {
    test::Folder const folder;
    KeyedTable<float> table({.width = 3, .keys = {.record_uses = true}}), loaded({.width = 3, .keys = {.record_uses = true}});
    auto& moment = table.add_state<float>({}, 0.5F);
    auto& loaded_moment = loaded.add_state<float>({}, 0.5F);
    TouchedRows touched(0);
    std::vector<std::string> files;
    std::uint64_t id = 0;
    auto const use = [&](std::vector<std::int64_t> const& keys) {
        auto const rows = table.find_or_insert(keys);
        touched.grow(table.height());
        touched.add(rows);
        for (std::int64_t const row : rows) {
            table.value().row(static_cast<std::size_t>(row))[1] += 1;
            moment.tensor()(static_cast<std::size_t>(row)) += 1;
        }
    };
    for (int day = 0; day < 5; ++day) {
        table.set_step(day);
        touched.clear();
        if (day != 3) use({10, 20 + day, 30 + 2 * day});
        table.evict_unused(day - 1);
        files.push_back(folder / std::to_string(day));
        Checkpoint checkpoint;
        if (day == 0) {
            add_keyed_table(checkpoint, "x", table);
            checkpoint.add("x.moment", moment.tensor());
            id = save_checkpoint(checkpoint, files.back());
        } else {
            add_keyed_table(checkpoint, "x", table, touched);
            checkpoint.add("x.moment", touched.of(moment.tensor()));
            id = save_delta(checkpoint, id, files.back());
        }
        CheckpointChain const chain(files);
        load_keyed_table(chain, "x", loaded);
        loaded_moment.assign(chain.load<Tensor<float>>("x.moment"));
        CHECK(loaded.index().keys() == table.index().keys());
        CHECK(loaded.index().rows() == table.index().rows());
        CHECK(loaded.value() == table.value());
        CHECK(loaded_moment.tensor() == moment.tensor());
    }
    CHECK(table.size() == 3);

    std::int64_t const before = table.height();
    table.find_or_insert({77, 78, 79, 80, 81, 82, 83, 84, 85});  // a delta that lacks new rows
    touched.grow(table.height());
    touched.add({table.height() - 1});
    Checkpoint lacking;
    add_keyed_table(lacking, "x", table, touched);
    save_delta(lacking, id, folder / "lacking");
    files.push_back(folder / "lacking");
    CHECK_THROWS_WITH(load_keyed_table(CheckpointChain(files), "x", loaded),
                      Catch::Matchers::EndsWith("has 1 of the " + std::to_string(table.height() - before) + " rows that \"x\" has got"));
    CHECK(loaded.size() == 3);
    CHECK_THROWS_WITH(touched.grow(1), "height is 1, expected at least " + std::to_string(table.height()));
}

TEST_CASE("states that a load does not bring begin anew", "[keyed_table]") {
    test::Folder const folder;
    KeyedTable<float> saved(options), loaded(options);
    auto& moment = loaded.add_state<float>({3}, 0.1F);
    auto& count = loaded.add_state<std::int64_t>({}, 4);
    saved.find_or_insert({40, 50, 60, 50, 40, 60, 70, 70});
    CHECK(saved.erase({60}) == std::vector<std::int64_t>{2});
    Checkpoint checkpoint;
    add_keyed_table(checkpoint, "users", saved);
    save_checkpoint(checkpoint, folder / "x");
    for (std::vector<std::int64_t> const& used : {std::vector<std::int64_t>{}, {1, 1}, {1, 2, 1, 2}}) {
        KeyedTable<float> table(options);
        auto& state = table.add_state<float>({3}, 0.1F);
        table.find_or_insert(used);
        state.tensor().fill(1.5F);
        load_keyed_table(CheckpointFile(folder / "x"), "users", table);
        CHECK(state.tensor() == Tensor<float>::full({4, 3}, 0.1F));
        CHECK(table.value() == saved.value());
    }
    loaded.find_or_insert({1, 2, 3, 1, 2, 3});
    for (int times = 0; times < 2; ++times) {
        moment.tensor().fill(1.5F), count.tensor().fill(9);
        load_keyed_table(CheckpointFile(folder / "x"), "users", loaded);
        CHECK(moment.tensor() == Tensor<float>::full({4, 3}, 0.1F));
        CHECK(count.tensor() == Tensor<std::int64_t>::full({4}, 4));
    }
    moment.tensor().fill(1.5F);
    auto const before = loaded.index().keys();
    CHECK_THROWS_AS(load_keyed_table(CheckpointFile(folder / "x"), "others", loaded), GraphError);
    CHECK((moment.tensor() == Tensor<float>::full({4, 3}, 1.5F) && loaded.index().keys() == before));  // nothing changed
}

TEST_CASE("an empty keyed table is saved and loaded", "[keyed_table]") {
    test::Folder const folder;
    KeyedTable<float, std::string> saved({.width = 0}), loaded({.width = 0});
    Checkpoint checkpoint;
    add_keyed_table(checkpoint, "x", saved);
    save_checkpoint(checkpoint, folder / "x");
    load_keyed_table(CheckpointFile(folder / "x"), "x", loaded);
    CHECK(loaded.size() == 0);

    Checkpoint wide;  // rows without elements take no space in a file, so it does not bound their number
    for (auto const& [key, entry] : checkpoint.entries()) {
        if (key != "x") wide.add(key, entry);
    }
    wide.add("x", Tensor<float>::zeros({std::size_t{1} << 40, 0}));
    save_checkpoint(wide, folder / "x");
    CHECK_THROWS_WITH(load_keyed_table(CheckpointFile(folder / "x"), "x", loaded), "x.shape(0) is 1099511627776, expected 0, the number of keys");
}

TEST_CASE("a file that does not fit leaves a keyed table as it was", "[keyed_table]") {
    test::Folder const folder;
    KeyedTable<float> saved(options);
    fill(saved, {10, 20, 30, 40, 50, 60});
    Checkpoint all;
    add_keyed_table(all, "x", saved);
    KeyedTable<float> table({.width = 3, .keys = {.capacity = 9, .record_uses = true}});
    table.find_or_insert({1, 2});
    auto const rows = table.value();
    auto const refusal = [&](std::string const& name, auto const& value) -> std::string {
        Checkpoint changed;
        for (auto const& [key, entry] : all.entries()) {
            if (key != name) changed.add(key, entry);
        }
        changed.add(name, value);
        save_checkpoint(changed, folder / "x");
        try {
            load_keyed_table(CheckpointFile(folder / "x"), "x", table);
        } catch (Error const& e) {
            CHECK(table.value() == rows);
            CHECK(table.index().keys() == std::vector<std::int64_t>{1, 2});
            return e.what();
        }
        return "loaded";
    };
    CHECK(refusal("x.keys", Numbers{10, 30, 10}) == "keys[2] = 10 is also the key of row 0");
    CHECK(refusal("x.keys", Numbers{10, 30}) == "rows.size() is 3, expected 2");
    CHECK(refusal("x.keys", Numbers{{10, 30, 40}}) == "x.keys is of rank 2, expected rank 1");
    CHECK(refusal("x.keys", LoDTensor<std::uint8_t>()) == "x.keys is Tensor<u8>[0], expected Tensor<i64>");
    CHECK(refusal("x.rows", Numbers{0, 2, 4}) == "rows[2] = 4 is not in [0, 4)");
    CHECK(refusal("x.rows", Numbers{0, 2, 2}) == "rows[2] = 2 is less than 3");
    CHECK(refusal("x.rows", Numbers{-1, 2, 3}) == "rows[0] = -1 is less than 0");
    CHECK(refusal("x.uses", Numbers{1, 2, 3}) == "x.uses.shape() is [3], expected [n, 2]");
    CHECK(refusal("x.uses", Numbers{{1, 2}}) == "uses.size() is 1, expected 3");
    CHECK(refusal("x.sightings", Numbers{{1, 0}, {0, 0}}) == "sightings[1] = 0 is not positive");
    CHECK(refusal("x.seen", Numbers{50, 10}) == "seen[1] is also the key of row 0");
    CHECK(refusal("x.step", Numbers{1, 2}) == "x.step is 2 numbers, expected 1");
    CHECK(refusal("x", Tensor<float>::zeros({4, 2})) == "value.shape() is [4, 2], expected [4, 3]");
    CHECK(refusal("x", Tensor<double>::zeros({4, 3})) == "x is Tensor<f64>[4, 3], expected Tensor<f32>");
    CHECK(refusal("x", Tensor<float>::zeros({2, 3})) == "rows[1] = 2 is not in [0, 2)");
    CHECK(refusal("x", Tensor<float>::zeros({12, 3})) == "height is 12, expected in [0, 9]");
    CHECK(refusal("x.step", Numbers{1}) == "loaded");
    CHECK(table.size() == 3);
    CHECK_THROWS_AS(load_keyed_table(CheckpointFile(folder / "x"), "y", table), GraphError);
    CHECK_THROWS_AS(add_keyed_table(all, "x", saved), GraphError);
}

}  // namespace test_io_keyed_table
