// tests/distributed/sharded_keyed_table.cpp
#include <rowan/distributed/sharded_keyed_table.hpp>

#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sum_of_parts.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "on_ranks.hpp"
#include "parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test_sharded_keyed_table {

using namespace rowan;
using parts::bits, parts::of_rank;

using Numbers = std::vector<std::int64_t>;
template <class Key>
using Table = ShardedKeyedTable<float, Key, test::Ranks>;

constexpr std::size_t width = 3;

template <class Key>
Key key_of(std::int64_t i) {
    if constexpr (std::is_same_v<Key, std::string>) {
        return std::string(static_cast<std::size_t>(i % 40), 'k') + std::to_string(i);
    } else {
        return static_cast<Key>(i % 3 == 0 ? -i : i * 0x3000'0000'0001);
    }
}

/// The keys of a part of a step: few are frequent, and a part may have none.
template <class Key>
std::vector<Key> keys_of(std::int64_t step, std::size_t part, std::int64_t distinct) {
    inputs::Random random(static_cast<std::uint64_t>(step + distinct * 100) * 100 + part + 1);
    std::vector<Key> keys;
    for (std::int64_t n = part == 2 && step % 2 == 0 ? 0 : random.below(60); n > 0; --n)
        keys.push_back(key_of<Key>(random.below(1 + random.below(distinct))));
    return keys;
}

/// What a step does with a table, wherever its rows are.
template <class Key>
struct One {
    explicit One(KeyedTableOptions const& options) : table(options) {}

    Tensor<std::int64_t> find_or_insert(std::vector<Key> const& keys) { return table.find_or_insert(Cpu{1}, keys); }
    Tensor<float> gather(Tensor<std::int64_t> const& rows) {
        auto out = Tensor<float>::zeros({rows.size(), width});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows(i) >= 0) std::ranges::copy(table.value().row(static_cast<std::size_t>(rows(i))), out.row(i).begin());
        }
        return out;
    }
    SelectedRows<float> sum(std::vector<SelectedRows<float>> const& all) { return sum_of_parts(all); }
    std::int64_t height() const { return table.height(); }
    KeyedTable<float, Key> const& local() const { return table; }

    KeyedTable<float, Key> table;
    Cpu exec{1};
};
template <class Key>
struct OnRanks {
    OnRanks(test::Ranks const& comm, Cpu e, KeyedTableOptions const& options) : table(comm, options), exec(e) {}

    Tensor<std::int64_t> find_or_insert(std::vector<Key> const& keys) { return table.find_or_insert(exec, keys); }
    Tensor<float> gather(Tensor<std::int64_t> const& rows) { return table.gather(exec, rows, lookup); }
    SelectedRows<float> sum(std::vector<SelectedRows<float>> const& all) { return table.exchange(exec, all); }
    std::int64_t height() const { return table.height(); }
    KeyedTable<float, Key> const& local() const { return table.local(); }

    Table<Key> table;
    typename Table<Key>::Lookup lookup;
    Cpu exec;
};

/// A number that is the sum over all keys, so that it does not depend on where they are.
struct Hash {
    std::uint64_t keys = 0, batches = 0;
    std::int64_t size = 0, seen = 0;

    bool operator==(Hash const&) const = default;
};

template <class Key>
std::uint64_t bits_of(Key const& key, KeyUses const& uses) {
    std::uint64_t hash = hash_key(key, 5);
    for (auto const x : {uses.count, uses.step}) hash = hash_key(static_cast<std::uint64_t>(x), hash);
    return hash;
}

template <class Key, class... State>
void add_keys(Hash& hash, KeyedTable<float, Key> const& table, State const&... states) {
    auto const c = table.index().contents();
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        auto const row = static_cast<std::size_t>(c.rows[i]);
        auto const of_row = [&](auto const& t, std::uint64_t h) { return bits(std::as_bytes(t.row(row)), h); };
        std::uint64_t h = of_row(table.value(), bits_of(c.keys[i], c.uses.empty() ? KeyUses() : c.uses[i]));
        ((h = of_row(states, h)), ...);
        hash.keys += hash_key(h, 1);
    }
    for (std::size_t i = 0; i < c.seen.size(); ++i) hash.keys += hash_key(bits_of(c.seen[i], c.sightings[i]), 2);
    hash.size += static_cast<std::int64_t>(c.keys.size());
    hash.seen += static_cast<std::int64_t>(c.seen.size());
}

Hash sum(std::vector<Hash> const& all) {
    Hash s;
    for (auto const& h : all) s = {s.keys + h.keys, s.batches + h.batches, s.size + h.size, s.seen + h.seen};
    return s;
}

/// The rows that keys have, and their gradients.
SelectedRows<float> known(std::span<std::int64_t const> rows, Tensor<float> const& grad, std::int64_t height) {
    Numbers list, at;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] < 0) continue;
        list.push_back(rows[i]);
        at.push_back(static_cast<std::int64_t>(i));
    }
    return SelectedRows<float>(height, list, gather(grad, at));
}

/// Some steps of 4 parts, of which a rank has some: the hash of what it has then.
template <class Key, class On>
Hash trained(On& on, std::int64_t distinct, int rank = 0, int ranks = 1) {
    auto& table = on.table;
    auto& sums = table.template add_state<float>({});
    auto& first = table.template add_state<float>({width});
    auto& second = table.template add_state<float>({width});
    std::vector<std::size_t> const all{0, 1, 2, 3};
    Hash hash;
    for (std::int64_t step = 1; step <= 6; ++step) {
        table.set_step(step);
        std::vector<std::vector<Key>> keys;
        std::vector<Key> joined;
        for (auto const part : of_rank(all, rank, ranks)) {
            keys.push_back(keys_of<Key>(step, part, distinct));
            joined.insert(joined.end(), keys.back().begin(), keys.back().end());
        }
        auto const rows = on.find_or_insert(joined);
        auto const x = on.gather(rows);
        std::vector<SelectedRows<float>> grads;
        std::size_t at = 0, k = 0;
        for (auto const part : of_rank(all, rank, ranks)) {
            std::size_t const end = at + keys[k++].size();
            auto grad = inputs::wild<float>({end - at, width}, static_cast<std::uint64_t>(step) * 8 + part);
            std::uint64_t h = part + 1;
            for (std::size_t i = at; i < end; ++i) {
                h = bits(std::as_bytes(x.row(i)), h);
                for (std::size_t j = 0; j < width; ++j) grad(i - at, j) += x(i, j);
            }
            hash.batches += hash_key(h, static_cast<std::uint64_t>(step));
            grads.push_back(known(std::span(rows.data(), rows.size()).subspan(at, end - at), grad, on.height()));
            at = end;
        }
        auto const grad = on.sum(grads);
        rowwise_adagrad(on.exec, table.value(), sums.tensor(), grad);
        adam(on.exec, table.value(), first.tensor(), second.tensor(), grad, {.step = step});
        if (on.local().index().options().record_uses && step % 2 == 0) {
            table.evict_unused(step - 1);
            if (step == 4) table.evict_rare(3);
        }
    }
    add_keys(hash, on.local(), sums.tensor(), first.tensor(), second.tensor());
    return hash;
}

template <class Key>
void same_bits(KeyIndexOptions const& keys, std::int64_t distinct = 50, std::vector<int> const& sizes = {1, 2, 3, 4}) {
    KeyedTableOptions const options{.width = width, .seed = 3, .keys = keys};
    One<Key> one(options);
    Hash const want = trained<Key>(one, distinct);
    CHECK(want.size > 0);
    for (int const n : test::group_sizes(sizes)) {
        for (int const threads : {1, 3}) {
            auto const all = test::on_ranks(n, [&](auto const& comm) {
                auto own = options;  // the seed of the hash table is each rank's own
                if (threads != 1) own.keys.hash_seed = hash_key(std::int64_t{comm.rank()}, static_cast<std::uint64_t>(n));
                OnRanks<Key> on(comm, Cpu{threads}, own);
                return trained<Key>(on, distinct, comm.rank(), comm.size());
            });
            CAPTURE(n, threads, keys.sightings, distinct);
            CHECK(sum(all).size == want.size);
            CHECK(sum(all).seen == want.seen);
            CHECK(sum(all) == want);
        }
    }
}

TEST_CASE("a table by keys has the bits of one on one rank, for any number of ranks", "[distributed][keyed_table]") {
    same_bits<std::int64_t>({});
    same_bits<std::int64_t>({.record_uses = true}, 3);
    for (std::int64_t const distinct : {40, 50, 60, 200})
        same_bits<std::int64_t>({.sightings = 3, .record_uses = true, .seed = 9}, distinct);
    same_bits<std::uint64_t>({.sightings = 0, .probability = 0.2}, 50, {3});
    same_bits<std::string>({.sightings = 2, .probability = 0.1, .record_uses = true});
}

TEST_CASE("keys that are chosen for one rank are answered right, and that rank has them all", "[distributed][keyed_table]") {
    for (int const n : test::group_sizes({2, 3})) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            Numbers keys;
            for (std::int64_t i = 0; keys.size() < 1000; ++i) {
                if (detail::key_owner(i, n) == n - 1) keys.push_back(i);
            }
            Table<std::int64_t> table(comm, {.width = width, .seed = 3, .keys = {.hash_seed = random_hash_seed()}});
            typename Table<std::int64_t>::Lookup lookup;
            auto const rows = table.find_or_insert(Cpu{1}, keys);
            auto const x = table.gather(Cpu{1}, rows, lookup);
            std::vector<float> want(width);
            bool same = table.local().size() == (comm.rank() == n - 1 ? keys.size() : 0) && table.find(Cpu{1}, keys) == rows;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                table.local().first_values(keys[i], want);
                same = same && std::ranges::equal(want, x.row(i));
            }
            return same ? 1 : 0;
        });
        for (int const r : right) CHECK(r == 1);
    }
}

TEST_CASE("a lookup is a part of each rank, where keys without a row take no part", "[distributed][keyed_table]") {
    auto const run = [](auto const& comm) {
        Table<std::int64_t> t(comm, {.width = width, .keys = {.sightings = 2}});
        typename Table<std::int64_t>::Lookup lookup, later;
        auto const keys = keys_of<std::int64_t>(1, static_cast<std::size_t>(comm.rank()), 90);
        auto const rows = t.find_or_insert(Cpu{1}, keys);
        auto const x = t.gather(Cpu{1}, rows, lookup);
        bool good = x.shape() == Tensor<float>::shape_type{keys.size(), width};
        int none = 0;
        std::vector<float> first(width);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            t.local().first_values(keys[i], first);
            if (rows(i) < 0) first.assign(width, 0), ++none;
            good &= std::ranges::equal(first, x.row(i));
        }
        good &= t.find(Cpu{1}, keys) == rows;
        Numbers more;  // between the gather and its exchange, the table grows
        for (std::int64_t i = 0; i < 2000; ++i) more.push_back(i / 2 * 7 + 1'000'000);
        auto const grown = t.find_or_insert(Cpu{1}, more);
        auto const grad = inputs::wild<float>(x.shape(), 4 + static_cast<std::uint64_t>(comm.rank()));
        std::int64_t const before = 1 + *std::ranges::max_element(rows, {}, [](auto r) { return r; });
        auto const part = known({rows.data(), rows.size()}, grad, before);
        auto const sums = t.exchange(Cpu{1}, lookup, grad);
        good &= bits(sums) == bits(t.exchange(Cpu{1}, part)) && sums.height() == t.local().height();
        auto seen = Tensor<float>::zeros(t.value().shape());
        update_rows(t.gradient(Cpu{1}, lookup, grad), LaneRule{[](auto sum, auto& to) { to = sum; }}, seen);
        good &= bits(seen) == bits(to_dense(sums));
        Tensor<std::int64_t> const square{{grown(0), -1}, {grown(1), -1}};
        auto const y = t.gather(Cpu{1}, square, later);
        good &= y.shape() == Tensor<float>::shape_type{2, 2, width} && y(1, 1, 0) == 0 && y(0, 0, 0) == y(1, 0, 0);
        return good ? 1000 + none : 0;
    };
    for (int const r : test::on_ranks(3, run)) CHECK(r > 1000);
    for (int const r : test::on_ranks(4, run, 2)) CHECK(r > 1000);
}

TEST_CASE("a table without keys, rows or elements", "[distributed][keyed_table]") {
    auto const run = [](auto const& comm) {
        bool good = true;
        for (std::size_t const w : {0U, 2U}) {
            Table<std::string> t(comm, {.width = w});
            typename Table<std::string>::Lookup lookup;
            auto const none = t.find_or_insert(Cpu{1}, std::vector<std::string>());
            good &= none.size() == 0 && t.height() == 0;
            good &= t.gather(Cpu{1}, {-1, -1}, lookup).shape() == Tensor<float>::shape_type{2, w};
            good &= t.exchange(Cpu{1}, lookup, Tensor<float>::zeros({2, w})).rows().empty();
            good &= t.exchange(Cpu{1}, std::vector<SelectedRows<float>>()).rows().empty();
            std::vector<std::string> keys;
            if (comm.rank() == 0) keys = {"", "a", ""};
            auto const rows = t.find_or_insert(Cpu{1}, keys);
            good &= t.gather(Cpu{1}, rows, lookup).shape() == Tensor<float>::shape_type{keys.size(), w};
            auto const grad = t.exchange(Cpu{1}, lookup, Tensor<float>::full({keys.size(), w}, 1));
            good &= static_cast<std::int64_t>(grad.rows().size()) == t.local().height();
            good &= t.find(Cpu{1}, {"b"})(0) == -1 && (t.find(Cpu{1}, {"a"})(0) >= 0);
        }
        return good ? 1 : 0;
    };
    for (int const r : test::on_ranks(3, run)) CHECK(r == 1);
    for (int const r : test::on_ranks(4, run, 2)) CHECK(r == 1);
}

TEST_CASE("a key occurs as often as all ranks say", "[distributed][keyed_table]") {
    auto const right = test::on_ranks(4, [&](auto const& comm) {
        Table<std::int64_t> t(comm, {.width = 1, .keys = {.sightings = comm.size() * 3, .record_uses = true}});
        bool good = t.find_or_insert(Cpu{1}, {7, 7})(0) == -1;
        good &= t.find_or_insert(Cpu{1}, {7, 7, 7})(0) >= 0;
        std::int64_t count = 0;
        for (auto const row : t.local().index().rows()) count += t.local().index().uses(row).count;
        return good && (count == 0 || count == 3 * comm.size()) ? 1 : 0;
    });
    for (int const r : right) CHECK(r == 1);
}

TEST_CASE("what is wrong with keys on one rank is an error on all, and nothing has changed", "[distributed][errors]") {
    using Key = std::string;
    auto const refused = [&](std::string const& text, auto const& call) {
        auto const right = test::on_ranks(3, [&](auto const& comm) {
            Table<Key> t(comm, {.width = 2, .keys = {.capacity = 12, .sightings = 2, .record_uses = true}});
            auto& state = t.template add_state<float>({}, 2);
            typename Table<Key>::Lookup lookup;
            std::vector<Key> const keys{"a", "b", "c", "a", "b", "c", "d" + std::to_string(comm.rank())};
            auto const rows = t.find_or_insert(Cpu{1}, keys);
            auto const x = t.gather(Cpu{1}, rows, lookup);
            t.erase({"c"});
            auto const seen = [&] {
                Hash hash;
                add_keys(hash, t.local(), state.tensor());
                return hash.keys + static_cast<std::uint64_t>(t.height() + t.local().height());
            };
            auto const before = seen();
            int thrown = 0;
            try {
                call(t, comm.rank() == comm.size() - 1, comm.size(), lookup);
            } catch (Error const& e) {
                thrown = std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
            bool const same = seen() == before && t.find(Cpu{1}, {"a", "b", "a"})(2) == rows(0) &&
                t.exchange(Cpu{1}, lookup, x).height() == t.local().height();
            return thrown + (same && t.find_or_insert(Cpu{1}, {"c", "c"})(1) >= 0 ? 2 : 0);
        });
        CAPTURE(text);
        for (int const r : right) CHECK(r == 3);
    };
    using List = std::vector<Key>;
    refused("has 65536 bytes", [](auto& t, bool last, int, auto&) {
        t.find_or_insert(Cpu{1}, last ? List{"e", Key(65'536, 'x')} : List{"e", "e"});
    });
    refused("has 65536 bytes", [](auto& t, bool last, int, auto&) {
        static_cast<void>(t.find(Cpu{1}, last ? List{Key(65'536, 'x')} : List{"e"}));
    });
    refused("threads is -1", [](auto& t, bool last, int, auto&) { t.find_or_insert(Cpu{last ? -1 : 1}, {"e", "e"}); });
    refused(" 12", [](auto& t, bool last, int, auto&) {
        List keys{"a"};
        for (int i = 0; i < (last ? 11 : 0); ++i) keys.insert(keys.end(), 2, "new " + std::to_string(i));
        t.find_or_insert(Cpu{1}, keys);
    });
    refused("keys is new, and there are 12 keys, the most", [](auto& t, bool last, int ranks, auto&) {  // one rank alone is beyond the capacity
        List keys{"a"};
        for (int i = 0; last && keys.size() < 29; ++i) {
            Key const key = "new " + std::to_string(i);
            if (detail::key_owner(key, ranks) == 0) keys.insert(keys.end(), 2, key);
        }
        t.find_or_insert(Cpu{1}, keys);
    });
    refused("is neither -1 nor a row of the table", [](auto& t, bool last, int, auto& lookup) {
        static_cast<void>(t.gather(Cpu{1}, {-1, last ? -2 : -1}, lookup));
    });
    refused("rows[0] = 100 is neither -1 nor a row of the table", [](auto& t, bool, int, auto& lookup) {
        static_cast<void>(t.gather(Cpu{1}, {100}, lookup));
    });
    refused("parts height is 101, expected at most ", [](auto& t, bool, int, auto&) {
        t.exchange(Cpu{1}, SelectedRows<float>(101, {0}, {{1, 2}}));
    });
    refused("out_grad.shape() is [1, 2], expected [7, 2]", [](auto& t, bool, int, auto& lookup) {
        t.exchange(Cpu{1}, lookup, Tensor<float>{{1, 2}});
    });
}

TEST_CASE("keys of all ranks beyond the capacity leave none, also where several threads insert", "[distributed][errors]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        std::int64_t const most = 20'000 * comm.size() - 1;
        Table<std::int64_t> t(comm, {.width = 1, .keys = {.capacity = most, .record_uses = true}});
        Numbers keys;
        for (std::int64_t i = 0; i < 20'000; ++i) keys.push_back((i * comm.size() + comm.rank()) * 7);
        auto const known = t.find_or_insert(Cpu{1}, {0, 7, 14});
        t.erase({7});
        auto const height = t.local().height();
        int thrown = 0;
        try {
            t.find_or_insert(Cpu{3}, keys);
        } catch (IndexError const&) {
            thrown = 1;
        }
        bool same = t.local().height() == height && t.find(Cpu{1}, {0, 7, 14, 21}) == Tensor<std::int64_t>{known(0), -1, known(2), -1};
        if (comm.rank() == 0) keys.pop_back();
        auto const rows = t.find_or_insert(Cpu{3}, keys);
        same &= std::ranges::min(rows) >= 0 && t.find(Cpu{3}, keys) == rows;
        return thrown + (same ? 2 : 0);
    });
    for (int const r : right) CHECK(r == 3);
}

TEST_CASE("ranks that call it differently get an error, all of them", "[distributed][errors]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        bool const last = comm.rank() == comm.size() - 1 && comm.size() > 1;
        int thrown = 0;
        auto const refused = [&](std::string const& text, auto const& call) {
            try {
                call();
                thrown += comm.size() == 1 ? 1 : 0;
            } catch (Error const& e) {
                thrown += std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
        };
        auto const make = [&](KeyedTableOptions const& options) { Table<std::int64_t> const t(comm, options); };
        refused(" is 4, expected 3, as on rank 0", [&] { make({.width = 2, .seed = last ? 4U : 3U}); });
        refused("options.width on rank ", [&] { make({.width = last ? 3U : 2U}); });
        refused("options.keys.sightings", [&] { make({.width = 2, .keys = {.sightings = last ? 2 : 1}}); });
        refused("probability is 2, expected in [0, 1]", [&] { make({.width = 2, .keys = {.probability = last ? 2. : 0}}); });
        if (comm.size() > 1) refused("keys.default_row is 1", [&] { make({.width = 2, .keys = {.default_row = last}}); });
        Table<std::int64_t> one(comm, {.width = 2}), two(comm, {.width = 2});
        refused(" calls find where rank 0 calls find_or_insert",
                [&] { last ? one.find(Cpu{1}, {1}) : one.find_or_insert(Cpu{1}, {1}); });
        refused("the number of the sharded table", [&] { (last ? one : two).find_or_insert(Cpu{1}, {1}); });
        typename Table<std::int64_t>::Lookup lookup;
        refused("the number of the sharded table", [&] { (last ? one : two).gather(Cpu{1}, {-1}, lookup); });
        bool const same = one.height() == two.height() && (comm.size() == 1 || one.height() == 0);
        return thrown + (comm.size() == 1 ? 1 : 0) + (same ? 10 : 0);
    });
    for (int const r : right) CHECK(r == 18);
}

}  // namespace test_sharded_keyed_table
