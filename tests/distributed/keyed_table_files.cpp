// tests/distributed/keyed_table_files.cpp
#include <rowan/distributed/keyed_table_files.hpp>

#include "../io/files.hpp"
#include "catch.hpp"
#include "damaged.hpp"
#include "on_ranks.hpp"
#include "own_files.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_keyed_table_files {

using namespace rowan;

template <class Key, class C = test::Ranks>
struct Saved {
    explicit Saved(C const& comm, KeyedTableOptions const& options = usual())
        : table(comm, options), sums(table.template add_state<double>({}, 0.5)), pairs(table.template add_state<double>({2})) {}

    static KeyedTableOptions usual() { return {.width = 2, .keys = {.sightings = 2, .record_uses = true}}; }
    auto states() const {
        return typename ShardedKeyedTable<float, Key, C>::template States<double>{{"sums", sums}, {"pairs", pairs}};
    }

    ShardedKeyedTable<float, Key, C> table;
    GrowingTensor<double>&sums, &pairs;
};

template <class Key>
Key key_of(std::int64_t i) {
    if constexpr (std::is_same_v<Key, std::string>) {
        return std::string(static_cast<std::size_t>(i % 30), 'k') + std::to_string(i);
    } else {
        return static_cast<Key>(i * i * i);
    }
}

/// How many keys the ranks of a save have seen: some have few, so that ranks have none.
std::int64_t keys_of(std::int64_t save) { return save % 4 == 2 ? save % 3 : 40; }

/// Twenty keys with rows, of which some were evicted, and some that were seen once; numbers that depend on the save.
template <class Key, class C>
void fill(Saved<Key, C>& s, C const& comm, std::int64_t save) {
    std::vector<Key> mine;
    for (std::int64_t i = 0; i < keys_of(save); ++i) {
        if (i % comm.size() == comm.rank()) mine.insert(mine.end(), i < 24 ? 2 + static_cast<std::size_t>(i % 3) : 1, key_of<Key>(i + save));
    }
    s.table.set_step(save);
    s.table.find_or_insert(Cpu{1}, mine);
    for (std::int64_t i = save % 5 == 3 ? 3 : 0; i < 24; i += 5) s.table.erase({key_of<Key>(i + save)});
    s.table.set_step(save + 1);
    for (auto const row : s.table.local().index().rows()) {
        auto const at = static_cast<std::size_t>(row);
        auto const number = static_cast<double>(hash_key(s.table.local().index().key(row), 7) % 1000);
        s.table.value()(at, 0) += static_cast<float>(number);
        s.sums.tensor()(at) += number * 2;
        s.pairs.tensor()(at, 1) = number * 3;
    }
}

/// What a rank has of a table: the sum of it over ranks does not depend on where keys are.
template <class Key, class C>
std::uint64_t content(Saved<Key, C> const& s) {
    auto const c = s.table.local().index().contents();
    auto const add = [](std::uint64_t& h, auto const& x) { h = hash_key(static_cast<std::uint64_t>(x), h); };
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        auto const at = static_cast<std::size_t>(c.rows[i]);
        auto h = hash_key(c.keys[i], 1);
        for (float const x : s.table.local().value().row(at)) add(h, static_cast<double>(x) * 4096 + 4096);
        for (double const x : {s.sums.tensor()(at), s.pairs.tensor()(at, 0), s.pairs.tensor()(at, 1)}) add(h, x * 2);
        if (!c.uses.empty()) add(h, c.uses[i].count * 100 + c.uses[i].step);
        sum += h;
    }
    for (std::size_t i = 0; i < c.seen.size(); ++i) sum += hash_key(c.seen[i], 2) * static_cast<std::uint64_t>(c.sightings[i].count);
    return sum + static_cast<std::uint64_t>(c.step);
}

/// The content of a save on all ranks, which is in the folder afterwards.
template <class Key>
std::uint64_t saved(std::string const& at, int ranks, std::int64_t save) {
    std::uint64_t sum = 0;
    for (auto const x : test::on_ranks(ranks, [&](auto const& comm) {
             Saved<Key> s(comm);
             fill(s, comm, save);
             s.table.save(at, "t", save, s.states());
             return content(s) - static_cast<std::uint64_t>(save + 1);
         }))
        sum += x;
    return sum;
}

/// Whether a rank has what it gets if it reads all files, one after another, and keeps its own keys.
template <class Key, class C>
bool right(Saved<Key, C> const& s, C const& comm, std::string const& at, int files) {
    auto const& table = s.table.local();
    auto const has = table.index().contents();
    KeyIndexContents<Key> want{.height = has.height, .step = std::numeric_limits<std::int64_t>::min()};
    bool same = true;
    std::vector<std::pair<Key, KeyUses>> seen;
    detail::TableIndex const index{CheckpointFile(at + "/t")};
    for (int f = 0; f < files; ++f) {
        CheckpointFile const file = detail::open_shard(index, at, "t", f);
        auto const value = file.load<Tensor<float>>("rows");
        auto const sums = file.load<Tensor<double>>("state sums"), pairs = file.load<Tensor<double>>("state pairs");
        auto const there = detail::saved_keys<Key>(file, "rows", value);
        for (std::size_t i = 0; i < there.keys.size(); ++i) {
            if (detail::key_owner(there.keys[i], comm.size()) != comm.rank()) continue;
            auto const row = static_cast<std::size_t>(there.rows[i]), to = want.keys.size();
            want.rows.push_back(static_cast<std::int64_t>(to));
            want.keys.push_back(there.keys[i]);
            want.uses.push_back(there.uses[i]);
            same = same && to < table.value().shape(0) && std::ranges::equal(table.value().row(to), value.row(row)) && s.sums.tensor()(to) == sums(row) &&
                   std::ranges::equal(s.pairs.tensor().row(to), pairs.row(row));
        }
        for (std::size_t i = 0; i < there.seen.size(); ++i) {
            if (detail::key_owner(there.seen[i], comm.size()) == comm.rank()) seen.emplace_back(there.seen[i], there.sightings[i]);
        }
        want.step = std::max(want.step, there.step);
    }
    std::ranges::sort(seen, {}, &std::pair<Key, KeyUses>::first);
    for (auto const& [key, times] : seen) {
        want.seen.push_back(key);
        want.sightings.push_back(times);
    }
    auto const equal = [](std::vector<KeyUses> const& a, std::vector<KeyUses> const& b) {
        return std::ranges::equal(a, b, [](KeyUses x, KeyUses y) { return x.count == y.count && x.step == y.step; });
    };
    return same && has.keys == want.keys && has.rows == want.rows && equal(has.uses, want.uses) && has.seen == want.seen &&
           equal(has.sightings, want.sightings) && has.step == want.step && (s.sums.height() == table.height() && s.pairs.height() == table.height());
}

template <class Key>
void check_loads(std::string const& at) {
    std::int64_t save = 0;
    for (int const from : test::group_sizes({1, 2, 3, 4})) {
        for (int const to : test::group_sizes({1, 2, 3, 4, 5})) {
            auto const want = saved<Key>(at, from, ++save);
            for (std::size_t const piece : std::vector<std::size_t>{1, 100, 700, detail::deal_bytes}) {
                std::uint64_t sum = 0;
                for (auto const x : test::on_ranks(to, [&](auto const& comm) {
                         Saved<Key> s(comm);
                         if (to != 2) fill(s, comm, 500);  // a table that has more rows before
                         if (detail::KeyedTableFiles<double>::load(s.table, at, "t", s.states(), piece) != save || !right(s, comm, at, from)) return std::uint64_t{0};
                         auto const loaded = content(s) - static_cast<std::uint64_t>(save + 1);
                         auto const row = s.table.find_or_insert(Cpu{1}, {key_of<Key>(30 + save), key_of<Key>(1 + save)});
                         return keys_of(save) < 40 || (row(1) >= 0 && row(0) >= 0) ? loaded : 0;
                     }))
                    sum += x;
                CAPTURE(from, to, piece);
                CHECK(sum == want);
            }
        }
    }
}

TEST_CASE("a table by keys is loaded on any number of ranks", "[distributed][io][keyed_table]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "new");
    check_loads<std::int64_t>(at + "1");
    check_loads<std::string>(at + "2");
}

/// Which save was loaded, and nothing else; or the text of the error, if nothing has changed.
template <class C, class Key = std::int64_t>
std::string loaded(C const& comm, std::string const& at, KeyedTableOptions const& options = Saved<Key>::usual(), std::size_t piece = detail::deal_bytes) {
    Saved<Key> s(comm, options);
    if (options.width == 2) fill(s, comm, 7);
    auto const before = content(s);
    auto const rows = s.table.find(Cpu{1}, {key_of<Key>(8)});
    std::string text;
    try {
        auto const step = detail::KeyedTableFiles<double>::load(s.table, at, "t", s.states(), piece);
        return std::to_string(step);
    } catch (FormatError const& e) {
        text = std::string("damaged: ").append(e.what());
    } catch (Error const& e) {
        text = std::string("refused: ").append(e.what());
    }
    return content(s) == before && s.table.find(Cpu{1}, {key_of<Key>(8)}) == rows ? text : "changed";
}

TEST_CASE("each file of a table by keys is read by one rank", "[distributed][io][keyed_table]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    for (int const from : test::group_sizes({1, 2, 3, 4})) {
        test::on_ranks(1, [&](auto const&) { return std::filesystem::remove_all(at), 0; });
        saved<std::int64_t>(at, from, 1);
        test::check_own_files(at, from, test::group_sizes({1, 2, 3, 4, 5}), [](auto const& comm, std::string const& own) { return loaded(comm, own); });
    }
}

TEST_CASE("keys and rows are read in pieces of bounded size", "[distributed][io][keyed_table]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    std::size_t const size = 100, bytes = 350;
    struct Read {
        std::size_t keys, rows, longest;
    };
    auto const read = test::on_ranks(1, [&](auto const& comm) {
        ShardedKeyedTable<float, std::string, test::Ranks> t(comm, {.width = 2});
        for (char c = 'a'; c < 'z'; ++c) t.find_or_insert(Cpu{1}, {std::string(size, c)});
        t.erase({std::string(size, 'y'), std::string(size, 'c')});
        t.save(at, "t", 1);
        CheckpointFile const file(at + "/t-1.0.rows");
        detail::KeyedList const list{"rows.keys", "rows.rows", true, {{"rows", 8, true, true}}};
        detail::KeyedReader reader(file, list, 0, 1);
        Read all{};
        while (!reader.done()) {
            auto const piece = reader.next(bytes, 1);
            all.keys += piece.lengths.size();
            all.rows += piece.columns[0].size() / 8;
            all.longest = std::max({all.longest, piece.keys.size(), piece.columns[0].size()});
        }
        return all;
    });
    CHECK((read[0].keys == 23 && read[0].rows == 25 && read[0].longest <= bytes));
}

/// Loads a save of three ranks on others, with one byte of one file changed: in each list of it.
template <class Key>
void check_damage(std::string const& at) {
    saved<Key>(at, 3, 1);
    for (int f = 0; f < test::group_sizes({3})[0]; ++f) {
        auto const path = std::string(at).append("/t-1.").append(std::to_string(f)).append(".rows");
        auto const whole = test::read(path);
        std::vector<std::size_t> places;
        CheckpointFile const file(path);
        for (std::string const& name : file.names()) {
            auto const& reader = detail::OpenedFile::reader(file);
            for (auto const& section : reader.record(reader.find(name)).sections) {
                if (section.bytes == 0) continue;
                auto const at_end = places.size() % 3 == 2 && section.bytes % 64 != 0 ? section.bytes : section.bytes - 1;  // or in the padding
                places.push_back(static_cast<std::size_t>(section.offset + (places.size() % 3 == 0 ? 0 : at_end)));
            }
        }
        for (std::size_t const place : places) {
            test::on_ranks(1, [&](auto const&) {
                auto bytes = whole;
                bytes[place] ^= std::byte{0x40};
                return test::write(path, bytes), 0;
            });
            for (int const to : test::group_sizes({2, 4})) {
                CAPTURE(f, place, to);
                test::check_damaged(to, "", [&](auto const& comm) { return loaded<test::Ranks, Key>(comm, at, Saved<Key>::usual(), to == 2 ? 100 : detail::deal_bytes); });
            }
        }
        test::on_ranks(1, [&](auto const&) { return test::write(path, whole), 0; });
    }
    for (int const r : test::on_ranks(4, [&](auto const& comm) { return loaded<test::Ranks, Key>(comm, at) == "1" ? 1 : 0; })) CHECK(r == 1);
}

TEST_CASE("a byte that is wrong in a file of a table by keys is a FormatError on all ranks", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "new");
    check_damage<std::int64_t>(at + "1");
    check_damage<std::string>(at + "2");
}

TEST_CASE("a missing or damaged file of a table by keys is a FormatError on all ranks", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    auto const shard = [&](int rank) { return std::string(at).append("t-1.").append(std::to_string(rank)).append(".rows"); };
    auto const damaged = [&](std::string const& text, auto const& damage) {
        test::on_ranks(1, [&](auto const&) { return std::filesystem::remove_all(at), 0; });
        saved<std::int64_t>(at, 3, 1);
        test::on_ranks(1, [&](auto const&) { return damage(), 0; });
        for (int const n : test::group_sizes({2, 3, 4}))
            test::check_damaged(n, text, [&](auto const& comm) { return loaded(comm, at); });
    };
    int const last = test::group_sizes({3})[0] - 1;
    damaged("is missing", [&] { std::filesystem::remove(shard(last)); });
    damaged("/t is missing", [&] { std::filesystem::remove(at + "t"); });
    damaged("", [&] {
        auto bytes = test::read(shard(last));
        bytes[bytes.size() - 70] ^= std::byte{1};
        test::write(shard(last), bytes);
    });
    damaged("is not the index of a sharded table", [&] {
        Checkpoint other;
        save_checkpoint(other, at + "t");
    });
    damaged(".rows is not a file of rowan", [&] { test::write(shard(last), test::bytes_of("no checkpoint")); });
}

/// What is in the file of one rank.
struct Shard {
    Tensor<float> rows = Tensor<float>::zeros({3, 2});
    std::vector<std::int64_t> keys{1, 2}, at{0, 2}, uses{2, 1, 2, 1}, seen{5}, sightings{1, 1};
    std::string without{};

    void add_to(Checkpoint& file) const {
        auto const pairs = [](std::vector<std::int64_t> const& list) {
            return Tensor<std::int64_t>(Tensor<std::int64_t>::shape_type{list.size() / 2, 2}, list);
        };
        auto const add = [&](std::string const& name, auto const& value) {
            if (name != without) file.add(name, value);
        };
        add("rows", rows);
        add("rows.keys", Tensor<std::int64_t>(keys));
        add("rows.rows", Tensor<std::int64_t>(at));
        add("rows.uses", pairs(uses));
        add("rows.seen", Tensor<std::int64_t>(seen));
        add("rows.sightings", pairs(sightings));
        add("rows.step", Tensor<std::int64_t>{4});
        add("state sums", Tensor<double>::zeros({rows.shape(0)}));
        add("state pairs", Tensor<double>::zeros({rows.shape(0), 2}));
    }
};

/// Saves a file of every rank.
void save_shards(int ranks, std::string const& at, Shard const& shard) {
    test::on_ranks(ranks, [&](auto const& comm) {
        detail::save_shards<detail::PosixFiles>(comm, at, "t", [&] {
            detail::ShardSave save{.partition = {0, 1, comm.size()}, .step = 3};
            shard.add_to(save.shard);
            return save;
        });
        return 0;
    });
}

TEST_CASE("files whose keys are not those of a table are a FormatError on all ranks", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    save_shards(1, at, Shard());
    for (auto const& x : test::on_ranks(2, [&](auto const& comm) { return loaded(comm, at) == "3" ? 1 : 0; })) CHECK(x == 1);
    auto const damaged = [&](std::string const& text, Shard const& shard, int ranks = 1) {
        save_shards(ranks, at, shard);
        test::check_damaged(2, text, [&](auto const& comm) { return loaded(comm, at); });
    };
    damaged("/t keys[1] = 1 is also the key of row 0", {.keys = {1, 1}});
    damaged("rows.shape(0) is 1, expected at least 2, the number of keys", {.rows = Tensor<float>::zeros({1, 2})});
    damaged("seen[0] is also the key of row", {.seen = {2}});
    damaged("seen[1] repeats another key", {.seen = {5, 5}, .sightings = {1, 1, 1, 1}});
    damaged("rows.rows[1] = 3 is not in [0, 3)", {.at = {0, 3}});
    damaged("rows.rows[1] = 1 is less than 2", {.at = {1, 1}});
    damaged("rows.rows is 1, expected 2", {.at = {0}});
    damaged("rows.uses is 1, expected 2", {.uses = {1, 2}});
    damaged("rows.sightings is 0, expected 1", {.sightings = {}});
    damaged("sightings[0] = 0 is not positive", {.sightings = {0, 1}});
    damaged("has no `rows`", {.without = "rows"});
    for (auto const* const name : {"rows.keys", "rows.rows", "rows.uses", "rows.seen", "rows.sightings", "rows.step"})
        damaged(std::string("has no `").append(name), {.without = name});
    damaged("has no `state sums`", {.without = "state sums"});
    if (test::group_sizes({2})[0] == 2) {  // each rank has the same keys
        damaged("is the key of another rank", {}, 2);
        damaged("rows.seen[0] is the key of another rank", {.keys = {}, .at = {}, .uses = {}}, 2);
    }
}

TEST_CASE("a key of a file that is too long is a FormatError on all ranks", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    for (std::size_t const size : std::vector<std::size_t>{65'535, 65'536}) {
        test::on_ranks(1, [&](auto const& comm) {
            detail::save_shards<detail::PosixFiles>(comm, at, "t", [&] {
                detail::ShardSave save{.partition = {0, 1, 1}, .step = 3};
                Shard{.keys = {1}, .at = {0}, .uses = {1, 1}, .without = "rows.keys"}.add_to(save.shard);
                Checkpoint other;
                for (auto const& [name, value] : save.shard.entries()) {
                    if (name != "rows.seen" && name != "rows.sightings") other.add(name, value);
                }
                other.add("rows.keys", detail::KeyVariable<std::string>::of({std::string(size, 'k')}));
                other.add("rows.seen", detail::KeyVariable<std::string>::of({}));
                other.add("rows.sightings", Tensor<std::int64_t>::zeros({0, 2}));
                save.shard = std::move(other);
                return save;
            });
            return 0;
        });
        auto const load = [&](auto const& comm) { return loaded<test::Ranks, std::string>(comm, at); };
        if (size > 65'535) {
            test::check_damaged(2, "rows.keys[0] has 65536 bytes", load);
        } else {
            for (int const r : test::on_ranks(2, [&](auto const& comm) { return load(comm) == "3" ? 1 : 0; })) CHECK(r == 1);
        }
    }
}

TEST_CASE("states that a load of a table by keys does not name have their first values", "[distributed][io][keyed_table]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    saved<std::int64_t>(at, 2, 1);
    for (int const r : test::on_ranks(3, [&](auto const& comm) {
             Saved<std::int64_t> s(comm);
             fill(s, comm, 7);
             s.table.template load<double>(at, "t", {{"pairs", s.pairs}});
             auto const& sums = s.sums.tensor();
             return static_cast<int>(s.sums.height() == s.table.local().height() && std::ranges::all_of(sums, [](double x) { return x == 0.5; }));
         }))
        CHECK(r == 1);
}

TEST_CASE("a table by keys is not loaded into one that is different", "[distributed][io][errors]") {
    test::Folder const folder;
    auto const at = test::shared_path(folder / "");
    saved<std::int64_t>(at, 2, 1);
    auto const refused = [&](std::string const& text, auto const& load) {
        auto const right = test::on_ranks(3, [&](auto const& comm) {
            std::string const said = load(comm);
            return said.starts_with("refused: ") && !said.starts_with("refused: rank ") && said.find(text) != std::string::npos ? 1 : 0;
        });
        CAPTURE(text);
        for (int const r : right) CHECK(r == 1);
    };
    auto const with = [&](std::string const& text, KeyedTableOptions const& options) {
        refused(text, [&](auto const& comm) { return loaded(comm, at, options); });
    };
    with(", 2], expected [", {.width = 3, .keys = {.record_uses = true}});
    with("keys = 19 of all ranks are more than 18, the capacity", {.width = 2, .keys = {.capacity = 18, .sightings = 99, .record_uses = true}});
    refused("", [&](auto const& comm) { return loaded<test::Ranks, std::string>(comm, at); });
    refused("[\"sums\"]", [&](auto const& comm) {
        ShardedKeyedTable<float, std::int64_t, test::Ranks> t(comm, {.width = 2});
        GrowingTensor<double> other({});
        other.grow(1);
        try {
            t.template load<double>(at, "t", {{"sums", other}});
        } catch (Error const& e) {
            return std::string("refused: ").append(e.what());
        }
        return std::string();
    });
    if (test::group_sizes({2})[0] == 2) refused("states[\"pairs\"] on rank 1", [&](auto const& comm) {
        Saved<std::int64_t> s(comm);
        try {
            s.table.template load<double>(at, "t", comm.rank() == 0 ? s.states() : decltype(s.states())());
        } catch (ShapeError const& e) {
            return std::string("refused: ").append(e.what());
        }
        return std::string();
    });
    save_shards(1, at, {.uses = {}});
    with("uses.size() is 0, expected ", Saved<std::int64_t>::usual());
    for (int const r : test::on_ranks(2, [&](auto const& comm) {
             ShardedKeyedTable<float, std::int64_t, test::Ranks> t(comm, {.width = 2});
             typename decltype(t)::Lookup lookup;
             auto const x = t.gather(Cpu{1}, t.find_or_insert(Cpu{1}, {1}), lookup);
             t.load(at, "t");  // without what is recorded, and without states
             if (t.find(Cpu{1}, {2})(0) < 0) return 0;
             try {
                 t.exchange(Cpu{1}, lookup, x);
             } catch (ShapeError const& e) {
                 return std::string(e.what()).starts_with("lookup is not of this table") ? 1 : 0;
             }
             return 0;
         }))
        CHECK(r == 1);
}

}  // namespace test_keyed_table_files
