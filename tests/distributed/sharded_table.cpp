// tests/distributed/sharded_table.cpp
#include <rowan/distributed/sharded_table.hpp>

#include <rowan/sparse.hpp>

#include "../dtypes/own_types.hpp"
#include "counting.hpp"
#include "on_ranks.hpp"
#include "parts.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>

namespace test_sharded_table {

using namespace rowan;
using parts::bits, parts::of_rank;

template <class T>
using Table = ShardedTable<T, Cpu, test::Ranks>;

/// The first values of a row: they have no other input.
template <class T>
void first(std::int64_t row, std::span<T> values) {
    inputs::Random random(static_cast<std::uint64_t>(row) + 1);
    for (T& x : values) {
        if constexpr (std::is_same_v<T, test::dual>) {
            x = {random.wild<double>(), random.wild<double>()};
        } else {
            x = random.wild<T>();
        }
    }
}

template <class T>
Tensor<T> whole(std::int64_t height, std::size_t width) {
    auto table = Tensor<T>::from_shape({static_cast<std::size_t>(height), width});
    for (std::int64_t i = 0; i < height; ++i)
        first<T>(i, std::span(table.data() + static_cast<std::size_t>(i) * width, width));
    return table;
}

/// The rows that a rank has of a gradient, numbered as there.
template <class T>
SelectedRows<T> shard(SelectedRows<T> const& g, Partition const& p, int rank) {
    std::vector<std::int64_t> at, rows;
    for (std::size_t i = 0; i < g.rows().size(); ++i) {
        if (p.owner(g.rows()[i]) != rank) continue;
        at.push_back(static_cast<std::int64_t>(i));
        rows.push_back(p.local(g.rows()[i]));
    }
    return merge(SelectedRows<T>(p.rows_of(rank), rows, gather(g.value(), at)));
}

template <class T>
Tensor<T> shard(Tensor<T> const& table, Partition const& p, int rank) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < p.rows_of(rank); ++i) rows.push_back(p.global(rank, i));
    return gather(table, rows);
}

/// Whether every rank has its rows of what one process computes.
template <class T>
void check(std::vector<SelectedRows<T>> const& all, std::vector<int> const& sizes, std::int64_t block = 2, int at = 0, int per_node = 0) {
    std::int64_t const height = all[0].height();
    std::size_t const width = all[0].row_size();
    auto const table = whole<T>(height, width);
    auto const sum = sum_of_parts(all), merged = merge(parts::joined(all));
    for (int const n : sizes) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            Partition const p{height, block, comm.size(), at % comm.size()};
            Table<T> t(comm, p, static_cast<std::int64_t>(width), first<T>);
            auto const mine = of_rank(all, comm.rank(), comm.size());
            bool good = bits(t.local()) == bits(shard(table, p, comm.rank()));
            good &= bits(t.exchange(Cpu{1}, mine)) == bits(shard(sum, p, comm.rank()));
            good &= bits(t.exchange(Cpu{2}, mine, SumOrder::contributions)) == bits(shard(merged, p, comm.rank()));

            // A lookup on each rank, of the rows of its part, and its gradient.
            std::vector<SelectedRows<T>> const lookups(
                all.begin(), all.begin() + std::min<std::ptrdiff_t>(comm.size(), std::ssize(all)));
            bool const has = static_cast<std::size_t>(comm.rank()) < lookups.size();
            SelectedRows<T> const none(height, std::vector<std::int64_t>(), Tensor<T>::from_shape({0, width}));
            auto const& g = has ? lookups[static_cast<std::size_t>(comm.rank())] : none;
            typename Table<T>::Lookup lookup;
            good &= bits(t.gather(Cpu{1}, g.rows(), lookup)) == bits(gather(table, g.rows()));
            auto const sums = shard(sum_of_parts(lookups), p, comm.rank());
            good &= bits(t.exchange(Cpu{1}, lookup, g.value())) == bits(sums);
            auto const gradient = t.gradient(Cpu{2}, lookup, g.value());
            good &= gradient.height() == sums.height() && std::ranges::equal(gradient.rows(), sums.rows());
            auto seen = Tensor<T>::zeros(t.local().shape());
            update_rows(Cpu{2}, gradient, [](auto sum, auto to) { std::ranges::transform(sum, to.begin(), dtype<T>::narrow); }, seen);
            good &= bits(seen) == bits(to_dense(sums));
            return good ? 1 : 0;
        }, per_node);
        for (int const r : right) {
            CAPTURE(n, block, at, per_node, all.size(), width, height);
            CHECK(r == 1);
        }
    }
}

TEST_CASE("shards have the bits of the whole table, for any number of ranks", "[distributed]") {
    auto const all = parts::make<float>(8, 700, 5, 1000);
    check(all, {1, 2, 3, 4, 5, 6, 7, 8}, 64);
    for (std::int64_t const block : {1, 7, 2000}) {
        for (int const at : {0, 2}) check(all, {3}, block, at);
    }
    for (std::size_t const n : {3U, 13U, 64U}) check(parts::make<float>(n, 60, 2, 40), {2, 4});
    check(parts::make<float>(2, 9000, 4, 3), {2});      // rows that several threads sum
    check(parts::make<float>(2, 9000, 4, 6000), {2});
}

TEST_CASE("shards on several nodes have the bits of the whole table", "[distributed]") {
    auto const all = parts::make<float>(8, 300, 5, 500);
    check(all, {4, 6, 8}, 7, 1, 2);
    check(all, {8}, 64, 0, 4);
    check(all, {3, 5, 6}, 7, 0, 3);  // nodes of other sizes
    check(parts::make<float>(8, 9, 3, 2), {4, 8}, 1, 0, 2);
    check(parts::make<float>(8, 0, 3, 10), {4}, 2, 0, 2);
    check(parts::make<float>(8, 30, 0, 10), {4}, 2, 0, 2);
    check(parts::make<bfloat16>(8, 90, 3, 100), {4}, 2, 0, 2);
    check(parts::make<test::dual>(8, 40, 3, 100), {4}, 2, 0, 2);
}

TEST_CASE("a row that all ranks of a node look up travels to it once", "[distributed]") {
    constexpr std::int64_t rows = 64, width = 3;
    auto const sent = test::on_ranks(4, [&](auto const& comm) {
        std::size_t bytes = 0;
        ShardedTable<float, Cpu, test::Counting> table(test::Counting(comm, &bytes), {rows, 1, comm.size()}, width, first<float>);
        std::vector<std::int64_t> ids(rows);
        std::iota(ids.begin(), ids.end(), 0);
        typename ShardedTable<float, Cpu, test::Counting>::Lookup lookup;
        auto const out = table.gather(Cpu{1}, ids, lookup);
        bool const good = bits(out) == bits(whole<float>(rows, width));
        static_cast<void>(table.exchange(Cpu{1}, lookup, out));
        return good ? static_cast<std::int64_t>(bytes) : -1;
    }, 2);
    // The numbers of the 16 rows of one rank of the other node, as many rows for it, and their gradients.
    if (sent.size() == 4) {
        for (auto const s : sent) CHECK(s == 16 * (8 + 2 * width * 4));
    }
}

TEST_CASE("shards without rows, rows without elements, and other element types", "[distributed]") {
    check(parts::make<float>(2, 9, 3, 2), {1, 4});
    check(parts::make<float>(4, 50, 0, 10), {1, 3});
    check(parts::make<float>(4, 50, 1, 10), {2, 3});
    check(parts::make<float>(4, 0, 3, 10), {1, 2});
    check(parts::make<double>(5, 90, 3, 100), {1, 3});
    check(parts::make<bfloat16>(5, 90, 3, 100), {1, 3});
    auto own = parts::make<test::dual>(5, 40, 3, 100);
    for (auto& p : own) first<test::dual>(7, std::span(p.value().data(), p.value().size()));
    check(own, {1, 3});
}

TEST_CASE("ids of any shape", "[distributed]") {
    auto const right = test::on_ranks(2, [&](auto const& comm) {
        Table<float> t(comm, {9, 2, comm.size()}, 3, first<float>);
        Tensor<std::int32_t> const ids{{8, 0}, {3, 8}};
        Table<float>::Lookup lookup;
        return t.gather(Cpu{1}, ids, lookup) == gather(whole<float>(9, 3), ids) ? 1 : 0;
    });
    for (int const r : right) CHECK(r == 1);
}

/// Some steps on shards, and on the whole table: of parts, and of a lookup on each rank.
template <class Step>
int same_steps(test::Ranks const& comm, Step const& step) {
    Partition const p{40, 4, comm.size()};
    auto const zeros = [](Tensor<float> const& like) { return Tensor<float>::zeros(like.shape()); };
    Table<float> t(comm, p, 3, first<float>);
    Table<float>::Lookup lookup;
    auto table = whole<float>(40, 3), a = zeros(table), b = zeros(table), x = zeros(t.local()), y = x;
    for (std::uint64_t s = 1; s <= 6; ++s) {
        auto all = parts::make<float>(s <= 3 ? 4 : static_cast<std::size_t>(comm.size()), 30, 3, 40, s);
        for (auto& g : all) g = scale(g, 1e-3F);
        step(s, table, a, b, sum_of_parts(all));
        if (s <= 3) {
            step(s, t.local(), x, y, t.exchange(Cpu{1}, of_rank(all, comm.rank(), comm.size())));
        } else {
            auto const& mine = all[static_cast<std::size_t>(comm.rank())];
            static_cast<void>(t.gather(Cpu{1}, mine.rows(), lookup));
            step(s, t.local(), x, y, t.gradient(Cpu{1}, lookup, mine.value()));
        }
    }
    return bits(t.local()) == bits(shard(table, p, comm.rank())) && bits(x) == bits(shard(a, p, comm.rank())) ? 1 : 0;
}

TEST_CASE("all optimizers and an own rule on shards", "[distributed]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        using T = Tensor<float>;
        auto const run = [&](auto const& step) { return same_steps(comm, step); };
        int good = 0;
        good += run([](auto, T& p, T&, T&, auto const& g) { sgd(p, g, 0.1); });
        good += run([](auto, T& p, T& a, T&, auto const& g) { momentum(p, a, g); });
        good += run([](auto, T& p, T& a, T&, auto const& g) { adagrad(p, a, g); });
        good += run(
            [](auto s, T& p, T& a, T& b, auto const& g) { adam(p, a, b, g, {.step = static_cast<std::int64_t>(s)}); });
        good += run([](auto s, T& p, T& a, T& b, auto const& g) { adamax(p, a, b, g, {.step = static_cast<std::int64_t>(s)}); });
        good += run([](auto, T& p, T& a, T& b, auto const& g) { adadelta(p, a, b, g); });
        good += run([](auto, T& p, T& a, T& b, auto const& g) { rmsprop(p, a, b, g); });
        good += run([](auto, T& p, T& a, T& b, auto const& g) { ftrl(p, a, b, g); });
        good += run([](auto, T& p, T& a, T&, auto const& g) {
            auto sums = T::zeros({p.shape(0)});
            rowwise_adagrad(p, sums, g);
            for (std::size_t i = 0; i < sums.size(); ++i) a(i, 0) = sums(i);
        });
        good += run([](auto s, T& p, T& a, T&, auto const& g) {
            auto squares = T::zeros({p.shape(0)});
            auto last = Tensor<std::int64_t>::zeros({p.shape(0)});
            rowwise_rmsprop(p, squares, last, g, {.step = static_cast<std::int64_t>(s)});
            for (std::size_t i = 0; i < squares.size(); ++i) a(i, 0) = squares(i);
        });
        good += run([](auto, T& p, T&, T&, auto const& g) { sgd(p, g, {.learning_rate = 0.1, .weight_decay = 0.01}); });
        good += run([](auto, T& p, T&, T&, auto const& g) {
            update_rows(g, LaneRule{[](auto sum, auto& x) { x -= sum * sum; }}, p);
        });
        return good;
    });
    for (int const r : right) CHECK(r == 12);
}

TEST_CASE("what is wrong on one rank is an error on all, and nothing has changed", "[distributed][errors]") {
    auto const refused = [&](std::string const& text, auto const& call) {
        auto const right = test::on_ranks(3, [&](auto const& comm) {
            Table<float> t(comm, {9, 2, comm.size()}, 2, first<float>);
            Table<float>::Lookup lookup, other;
            Tensor<std::int64_t> const ids{1, comm.rank()};
            auto const rows = t.gather(Cpu{1}, ids, lookup);
            int thrown = 0;
            try {
                call(t, lookup, other, comm.rank() == comm.size() - 1, rows);
            } catch (Error const& e) {
                thrown = std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
            bool const same = bits(t.local()) == bits(shard(whole<float>(9, 2), t.partition(), comm.rank()));
            return thrown +
                   (same && t.exchange(Cpu{1}, lookup, rows).height() == t.partition().rows_of(comm.rank()) ? 2 : 0);
        });
        CAPTURE(text);
        for (int const r : right) CHECK(r == 3);
    };
    using Ids64 = std::vector<std::int64_t>;
    using Rows = SelectedRows<float>;
    refused("ids[1] = 9 is not in [0, 9)", [](auto& t, auto& lookup, auto&, bool last, auto&) {
        static_cast<void>(t.gather(Cpu{1}, last ? Ids64{0, 9} : Ids64{0}, lookup));
    });
    refused("parts height is 8, expected 9", [](auto& t, auto&, auto&, bool last, auto&) {
        t.exchange(Cpu{1}, Rows(last ? 8 : 9, {1}, {{1, 2}}));
    });
    refused("parts row shape is [1, 3], expected [rows, 2]", [](auto& t, auto&, auto&, bool last, auto&) {
        t.exchange(Cpu{1}, Rows(9, {1}, last ? Tensor<float>{{1, 2, 3}} : Tensor<float>{{1, 2}}));
    });
    refused("options", [](auto& t, auto&, auto&, bool last, auto&) {
        t.exchange(Cpu{1}, Rows(9, {1}, {{1, 2}}), last ? SumOrder::parts : SumOrder::contributions);
    });
    refused("lookup is not of this table", [](auto& t, auto& lookup, auto& other, bool last, auto& rows) {
        t.exchange(Cpu{1}, last ? other : lookup, rows);
    });
    refused("out_grad.shape() is [1, 2], expected [2, 2]", [](auto& t, auto& lookup, auto&, bool last, auto& rows) {
        t.exchange(Cpu{1}, lookup, last ? Tensor<float>{{1, 2}} : rows);
    });
    refused("the number of the lookup on rank", [](auto& t, auto& lookup, auto& other, bool last, auto& rows) {
        static_cast<void>(t.gather(Cpu{1}, Ids64{1, 2}, other));
        t.exchange(Cpu{1}, last ? other : lookup, rows);
    });
    auto const bad = test::on_ranks(3, [&](auto const& comm) {
        int thrown = 0;
        for (Partition const p : {Partition{9, 2, comm.size() + 1}, Partition{9, comm.rank() == 0 ? 2 : 4, comm.size()},
                                  Partition{9, 0, comm.size()}, Partition{9, 2, comm.size(), comm.size()},
                                  Partition{9, 2, comm.size(), comm.rank() == 0 ? 0 : comm.size() - 1}}) {
            try {
                Table<float> const t(comm, p, 2, first<float>);
            } catch (Error const&) {
                ++thrown;
            }
        }
        return thrown;
    });
    for (int const r : bad) CHECK(r == 5);
}

TEST_CASE("tables that one rank uses in another order are an error on all", "[distributed][errors]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        auto const make = [&] { return Table<float>(comm, {9, 2, comm.size()}, 2, first<float>); };
        Table<float> a = make(), b = make();
        bool const last = comm.rank() == comm.size() - 1;
        Table<float>& mine = last && comm.size() > 1 ? b : a;
        SelectedRows<float> const grad(9, {1}, {{1, 2}});
        Table<float>::Lookup lookup, of_a, of_b;
        auto const rows = a.gather(Cpu{1}, {1, 2}, of_a);
        static_cast<void>(b.gather(Cpu{1}, {1, 2}, of_b));
        int thrown = 0;
        auto const refused = [&](std::string const& text, auto const& call) {
            try {
                call();
                thrown += comm.size() == 1 ? 1 : 0;
            } catch (ShapeError const& e) {
                thrown += std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
        };
        std::string const number = "the number of the sharded table on rank";
        refused(number, [&] { static_cast<void>(mine.gather(Cpu{1}, {1, 2}, lookup)); });
        refused(number, [&] { mine.exchange(Cpu{1}, grad); });
        refused(number, [&] { mine.exchange(Cpu{1}, grad, SumOrder::contributions); });
        refused(number, [&] { mine.exchange(Cpu{1}, &mine == &a ? of_a : of_b, rows); });
        if (comm.size() > 1) refused("lookup is not of this table", [&] { b.exchange(Cpu{1}, of_a, rows); });
        bool const same = a.exchange(Cpu{1}, of_a, rows) == b.exchange(Cpu{1}, of_b, rows);
        return thrown + (comm.size() == 1 ? 1 : 0) + (same ? 5 : 0);
    });
    for (int const r : right) CHECK(r == 10);
}

}  // namespace test_sharded_table
