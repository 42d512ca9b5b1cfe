// tests/sparse/keyed_table.cpp: a table that grows with its keys equals a dense one that has all rows.
#include <rowan/sparse/keyed_table.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "inputs.hpp"
#include "process_memory.hpp"

#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/gather_keys.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_keyed_table {

using rowan::bfloat16, rowan::Cpu, rowan::GrowingTensor, rowan::IndexError, rowan::KeyedTable, rowan::SelectedRows;
using rowan::ShapeError, rowan::Tensor, rowan::ValueError;
using Rows = std::vector<std::int64_t>;

namespace {

template <class T>
bool same(Tensor<T> const& a, Tensor<T> const& b) {
    return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
bool all(std::span<T> values, std::remove_const_t<T> x) {
    return std::ranges::all_of(values, [=](T const& y) { return y == x; });
}

template <class T, class Key, class K>
std::vector<T> first_values(KeyedTable<T, Key> const& table, K const& key, std::size_t width) {
    std::vector<T> values(width);
    table.first_values(key, values);
    return values;
}

template <class Key>
Key key_of(std::int64_t n) {
    if constexpr (std::same_as<Key, std::string>) {
        return std::string(static_cast<std::size_t>(n % 30), 'x') + std::to_string(n);
    } else {
        return static_cast<Key>(n * 7'919 - 100);
    }
}

/// Four states of the three optimizers.
struct Dense {
    Tensor<float> value, moment, row_moment, mean, square;

    void train(Cpu exec, int optimizer, Rows const& rows, Tensor<float> const& grad, std::int64_t step) {
        train(exec, optimizer, rows, grad, step, value, moment, row_moment, mean, square);
    }
    static void train(Cpu exec, int optimizer, Rows const& rows, Tensor<float> const& grad, std::int64_t step,
                      Tensor<float>& value, Tensor<float>& moment, Tensor<float>& row_moment, Tensor<float>& mean,
                      Tensor<float>& square) {
        auto const g = lookup_table_grad(exec, rows, grad.share(), static_cast<std::int64_t>(value.shape(0)));
        if (optimizer == 0) adagrad(exec, value, moment, g, {.learning_rate = 0.1});
        if (optimizer == 1) rowwise_adagrad(exec, value, row_moment, g, {.learning_rate = 0.1});
        if (optimizer == 2) adam(exec, value, mean, square, g, {.learning_rate = 0.1, .step = step});
    }
};

/// The same rows by std::map, copied to a new dense table when there are more.
template <class Key>
class Model {
public:
    explicit Model(std::size_t width) : width_(width) { resize(0); }

    /// The row of a key; `first` makes the values of a new one.
    template <class First>
    std::int64_t row(Key const& key, std::int64_t step, First const& first) {
        auto const [at, is_new] = rows_.try_emplace(key);
        at->second.second = step;
        if (!is_new) return at->second.first;
        if (free_.empty()) {
            free_.insert(static_cast<std::int64_t>(dense.value.shape(0)));
            resize(dense.value.shape(0) + 1);
        }
        std::int64_t const row = at->second.first = *free_.begin();
        free_.erase(free_.begin());
        auto const i = static_cast<std::size_t>(row);
        std::ranges::copy(first(key), dense.value.row(i).begin());
        std::ranges::fill(dense.moment.row(i), 0.5F);
        std::ranges::fill(dense.row_moment.row(i), 0.25F);
        std::ranges::fill(dense.mean.row(i), 0.F);
        std::ranges::fill(dense.square.row(i), 0.F);
        return row;
    }

    template <class Leaves>
    Rows remove(Leaves const& leaves) {
        Rows removed;
        std::erase_if(rows_, [&](auto const& entry) {
            if (!leaves(entry.first, entry.second.second)) return false;
            removed.push_back(entry.second.first);
            return true;
        });
        std::ranges::sort(removed);
        free_.insert(removed.begin(), removed.end());
        return removed;
    }

    std::size_t size() const { return rows_.size(); }

    Dense dense;

private:
    static void resize(Tensor<float>& t, Tensor<float>::shape_type const& shape) {
        auto more = Tensor<float>::zeros(shape);
        std::copy_n(t.data(), std::min(t.size(), more.size()), more.data());
        t = std::move(more);
    }
    void resize(std::size_t height) {
        for (auto* t : {&dense.value, &dense.moment, &dense.mean, &dense.square}) {
            if (height == 0) *t = Tensor<float>::zeros({0, width_});
            resize(*t, {height, width_});
        }
        if (height == 0) dense.row_moment = Tensor<float>::zeros({0});
        resize(dense.row_moment, {height});
    }

    std::size_t width_;
    std::map<Key, std::pair<std::int64_t, std::int64_t>> rows_;  // row, step
    std::set<std::int64_t> free_;
};

/// Trains a table and the model with batches of these sizes; keys leave now and then.
template <class Key>
void check_against_model(std::uint64_t seed, std::size_t width, std::vector<std::size_t> const& sizes, std::int64_t keys_at_most) {
    CAPTURE(seed);
    for (int const threads : {1, 2, 8}) {
        CAPTURE(threads);
        Cpu const exec{.threads = threads};
        inputs::Random random(seed);
        KeyedTable<float, Key> table({.width = width, .seed = seed, .keys = {.record_uses = true, .seed = seed + 1}});
        auto& moment = table.template add_state<float>({width}, 0.5F);
        auto& row_moment = table.template add_state<float>({}, 0.25F);
        auto& mean = table.template add_state<float>({width});
        auto& square = table.template add_state<float>({width});
        Model<Key> model(width);
        std::int64_t step = 0;
        for (std::size_t const n : sizes) {
            table.set_step(++step);
            std::vector<Key> keys;
            Rows want;
            for (std::size_t i = 0; i < n; ++i) {
                keys.push_back(key_of<Key>(random.below(keys_at_most)));
                want.push_back(model.row(keys[i], step, [&](Key const& key) { return first_values(table, key, width); }));
            }
            auto const rows = table.find_or_insert(exec, keys);
            REQUIRE(std::ranges::equal(rows, want));
            REQUIRE((table.size() == model.size() && table.height() == static_cast<std::int64_t>(model.dense.value.shape(0))));

            auto const grad = inputs::wild<float>({n, width}, random.bits());
            auto const optimizer = static_cast<int>(random.below(3));
            Dense::train(exec, optimizer, want, grad, step, table.value(), moment.tensor(), row_moment.tensor(),
                         mean.tensor(), square.tensor());
            model.dense.train(exec, optimizer, want, grad, step);
            REQUIRE(same(table.value(), model.dense.value));
            REQUIRE(same(moment.tensor(), model.dense.moment));
            REQUIRE(same(row_moment.tensor(), model.dense.row_moment));
            REQUIRE(same(mean.tensor(), model.dense.mean));
            REQUIRE(same(square.tensor(), model.dense.square));

            if (n > 0 && random.below(3) == 0) {
                std::vector<Key> const some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>((n + 2) / 3));
                std::set<Key> const gone(some.begin(), some.end());
                REQUIRE(table.erase(some) == model.remove([&](Key const& key, std::int64_t) { return gone.contains(key); }));
            } else if (random.below(4) == 0) {
                REQUIRE(table.evict_unused(step - 1) == model.remove([&](Key const&, std::int64_t s) { return s < step - 1; }));
            }
        }
    }
}

}  // namespace

TEST_CASE("KeyedTable equals a dense table with the same first values, trained by the same optimizer", "[keyed_table]") {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        inputs::Random random(seed + 100);
        std::vector<std::size_t> sizes(15);
        for (auto& n : sizes) n = static_cast<std::size_t>(random.below(40));
        check_against_model<std::int64_t>(seed, seed % 5 * 3, sizes, 60);
        if (seed < 4) check_against_model<std::string>(seed, seed % 5 * 3, sizes, 60);
    }
}

TEST_CASE("KeyedTable equals a dense table also where several threads insert and draw", "[keyed_table]") {
    KeyedTable<float> serial({.width = 20}), parallel({.width = 20});
    auto& a = serial.add_state<double>({2}, 3.5);
    auto& b = parallel.add_state<double>({2}, 3.5);
    Rows keys;
    for (std::int64_t i = 0; i < 60'000; ++i) keys.push_back(i * i % 40'009 - 20'000);
    std::span<std::int64_t const> const list(keys);
    for (int const threads : {2, 8}) {
        auto const part = list.subspan(threads == 2 ? 0 : 30'000, 30'000);
        auto const want = serial.find_or_insert(Cpu{.threads = 1}, part);
        CHECK(same(parallel.find_or_insert(Cpu{.threads = threads}, part), want));
    }
    CHECK(same(serial.value(), parallel.value()));
    CHECK(same(a.tensor(), b.tensor()));
    CHECK(all(std::span(b.tensor().data(), b.tensor().size()), 3.5));
    std::size_t wrong = 0;
    for (std::int64_t const key : keys) {
        auto const row = static_cast<std::size_t>(parallel.index().find({key})(0));
        wrong += !std::ranges::equal(parallel.value().row(row), first_values(parallel, key, 20));
    }
    CHECK(wrong == 0);
}

// The numbers are those of a program in Python: splitmix64's hash of the key, then its sequence.
TEST_CASE("the first values of a key depend on the seed and the key alone", "[keyed_table]") {
    rowan::KeyedTableOptions const options{.width = 4, .low = -0.25, .high = 0.5, .seed = 42};
    std::vector<double> const seven{0x1.f52adf31e201ap-2, -0x1.bc4491d8dbf7ap-3, 0x1.123c33f0fc9c8p-2, 0x1.33cde68289d04p-2};
    std::vector<double> const tree{0x1.045a1106f76c8p-2, 0x1.4bd5d6cdb26aep-2, -0x1.398ede5366d92p-4, 0x1.a46ee726be100p-7};
    KeyedTable<double> numbers(options);
    KeyedTable<double, std::uint64_t> natural(options);
    KeyedTable<double, std::string> names(options);
    CHECK(first_values(numbers, 7, 4) == seven);
    CHECK(first_values(natural, 7U, 4) == seven);
    CHECK(first_values(names, "rowan", 4) == tree);
    CHECK(std::ranges::equal(numbers.find_or_insert({-1, 7, 3}), Rows{0, 1, 2}));
    CHECK(std::ranges::equal(numbers.value().row(1), seven));
    names.find_or_insert({"birch", "rowan"});
    CHECK(std::ranges::equal(names.value().row(1), tree));

    KeyedTable<float> floats(options);
    KeyedTable<bfloat16> halves(options);
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(first_values(floats, 7, 4)[k] == static_cast<float>(seven[k]));
        CHECK(first_values(halves, 7, 4)[k] == bfloat16(static_cast<float>(seven[k])));
    }

    // In another order, beside other keys, with another seed of the index, and in a row that another key had.
    auto other = options;
    other.keys.seed = 5;
    other.keys.default_row = true;
    KeyedTable<double> again(other);
    again.find_or_insert({8, 9, 10, 3});
    again.erase({9});
    CHECK(std::ranges::equal(again.find_or_insert({7, 7}), Rows{2, 2}));
    CHECK(std::ranges::equal(again.value().row(2), seven));
    CHECK(std::ranges::equal(again.value().row(4), numbers.value().row(2)));
    other.seed = 43;
    CHECK(first_values(KeyedTable<double>(other), 7, 4) != seven);
}

TEST_CASE("the first values of a row are uniform", "[keyed_table]") {
    KeyedTable<double> table({.width = 10, .low = -3, .high = 5});
    Rows keys;
    for (std::int64_t i = 0; i < 2000; ++i) keys.push_back(i);
    table.find_or_insert(keys);
    double sum = 0, least = 9, most = -9;
    for (double const x : table.value()) {
        sum += x;
        least = std::min(least, x);
        most = std::max(most, x);
    }
    CHECK(sum / 20'000 == Approx(1).margin(0.1));  // six standard deviations
    CHECK((least >= -3 && least < -2.99 && most < 5 && most > 4.99));

    KeyedTable<float> constant({.width = 3, .low = 0.75, .high = 0.75});
    constant.find_or_insert({5, 6});
    CHECK(all(std::span(constant.value().data(), 6), 0.75F));
}

TEST_CASE("the first values of keys that are admitted by probability are uniform", "[keyed_table]") {
    KeyedTable<double> table({.width = 4, .low = 0, .high = 1, .keys = {.sightings = 0, .probability = 0.25}});
    Rows keys;
    for (std::int64_t i = 0; i < 4000; ++i) keys.push_back(i);
    table.find_or_insert(keys);
    CHECK((table.size() > 800 && table.size() < 1200));
    for (std::size_t k = 0; k < 4; ++k) {
        double most = 0;
        for (std::size_t row = 0; row < table.size(); ++row) most = std::max(most, table.value()(row, k));
        CHECK(most > 0.98);
    }
}

TEST_CASE("a row that a key had begins anew for the next, in all states", "[keyed_table]") {
    KeyedTable<float, std::string> table({.width = 2, .keys = {.record_uses = true}});
    auto& moment = table.add_state<double>({2}, 0.5);
    auto& count = table.add_state<std::int64_t>({}, 4);
    table.find_or_insert({"a", "b", "c"});
    auto const spoil = [&] {
        table.value().fill(77);
        moment.tensor().fill(88);
        count.tensor().fill(99);
    };
    auto const is_new = [&](std::size_t row, char const* key) {
        return std::ranges::equal(table.value().row(row), first_values(table, key, 2)) &&
               all(moment.tensor().row(row), 0.5) && count.tensor()(row) == 4;
    };
    auto const is_spoilt = [&](std::size_t row) {
        return all(table.value().row(row), 77.F) && all(moment.tensor().row(row), 88.0) && count.tensor()(row) == 99;
    };
    spoil();
    CHECK(table.erase({"b"}) == Rows{1});
    CHECK(is_spoilt(1));  // until another key gets it
    CHECK(std::ranges::equal(table.find_or_insert({"c", "d", "e"}), Rows{2, 1, 3}));
    CHECK((is_spoilt(0) && is_new(1, "d") && is_spoilt(2) && is_new(3, "e")));

    spoil();
    CHECK(table.evict_rare(2) == Rows{0, 1, 3});
    table.set_step(5);
    CHECK(std::ranges::equal(table.find_or_insert({"b", "b", "a"}), Rows{0, 0, 1}));
    CHECK((is_new(0, "b") && is_new(1, "a") && is_spoilt(2) && is_spoilt(3)));
    CHECK(table.evict_unused(5) == Rows{2});
    CHECK((table.size() == 2 && table.height() == 4));
}

TEST_CASE("the default row is zeros, and that of all keys without one", "[keyed_table]") {
    KeyedTable<float> table({.width = 3, .keys = {.default_row = true, .sightings = 2}});
    auto& early = table.add_state<float>({3}, 0.5F);
    CHECK((table.height() == 1 && table.size() == 0 && all(table.value().row(0), 0.F) && all(early.tensor().row(0), 0.5F)));
    CHECK(std::ranges::equal(table.find_or_insert({7, 8, 8}), Rows{0, 1, 1}));  // 7 was seen once
    CHECK(std::ranges::equal(table.find_or_insert({6, 7}), Rows{0, 2}));
    CHECK((table.height() == 3 && table.size() == 2));
    CHECK(all(table.value().row(0), 0.F));
    CHECK(std::ranges::equal(table.value().row(1), first_values(table, 8, 3)));
    CHECK(std::ranges::equal(table.value().row(2), first_values(table, 7, 3)));
    CHECK(all(std::span(early.tensor().data(), 9), 0.5F));
    auto const x = gather(table.value(), table.index(), {7, 1, 8});
    CHECK(std::ranges::equal(x.row(0), table.value().row(2)));
    CHECK(all(x.row(1), 0.F));
    CHECK(std::ranges::equal(x.row(2), table.value().row(1)));
}

TEST_CASE("keys that are seen too rarely get no row", "[keyed_table]") {
    KeyedTable<float> table({.width = 2, .keys = {.sightings = 3}});
    auto& state = table.add_state<float>({}, 6);
    CHECK(std::ranges::equal(table.find_or_insert({1, 2, 1}), Rows{-1, -1, -1}));
    CHECK((table.height() == 0 && table.value().size() == 0 && state.height() == 0));
    CHECK(std::ranges::equal(table.find_or_insert({3, 1, 2}), Rows{-1, 0, -1}));
    CHECK((table.height() == 1 && state.tensor()(0) == 6));
    CHECK(std::ranges::equal(table.value().row(0), first_values(table, 1, 2)));
    auto const x = gather(table.value(), table.index(), {2, 1});
    CHECK(all(x.row(0), 0.F));
    CHECK(std::ranges::equal(x.row(1), table.value().row(0)));
    KeyedTable<float> never({.width = 2, .keys = {.sightings = 0}});
    CHECK(std::ranges::equal(never.find_or_insert({1, 1, 1}), Rows{-1, -1, -1}));
}

TEST_CASE("a call that throws leaves the table, its states and its index unchanged", "[keyed_table]") {
    KeyedTable<float> table({.width = 2, .keys = {.capacity = 3, .default_row = true}});
    auto& state = table.add_state<float>({}, 7);
    table.find_or_insert({10, 20});
    table.value().fill(2);
    state.tensor().fill(3);
    auto const value = table.value().share(), old_state = state.tensor().share();
    auto const unchanged = [&] {
        return table.size() == 2 && table.height() == 3 && state.height() == 3 && table.index().height() == 3 &&
               std::ranges::equal(table.index().find({30, 40, 10, 20}), Rows{0, 0, 1, 2}) &&
               all(std::span(value.data(), 6), 2.F) && all(std::span(old_state.data(), 3), 3.F) &&
               table.value().data() == value.data() && state.tensor().data() == old_state.data();
    };
    CHECK_THROWS_WITH(table.find_or_insert({10, 30, 20, 40}), "keys[3] = 40 is new, and there are 3 keys, the most");
    CHECK(unchanged());
    CHECK_THROWS_AS(table.find_or_insert({50, 60, 70, 80, 90}), IndexError);
    CHECK(unchanged());
    CHECK_THROWS_AS(table.find_or_insert(Cpu{.threads = -1}, {30}), ValueError);
    CHECK(unchanged());
    std::vector<float> wrong(3);
    CHECK_THROWS_WITH(table.first_values(10, wrong), "to.size() is 3, expected 2");
    CHECK_THROWS_AS(table.first_values(10, wrong), ShapeError);

    CHECK(std::ranges::equal(table.find_or_insert({30, 30, 10}), Rows{3, 3, 1}));
    CHECK(std::ranges::equal(table.value().row(3), first_values(table, 30, 2)));
    CHECK((all(table.value().row(2), 2.F) && state.tensor()(3) == 7 && state.tensor()(2) == 3));
    CHECK_THROWS_AS(table.find_or_insert({10, 40}), IndexError);
    table.erase({10});
    CHECK(std::ranges::equal(table.find_or_insert({40}), Rows{1}));

    KeyedTable<float, std::string> names({.width = 1});
    CHECK_THROWS_AS(names.find_or_insert({"a", std::string(70'000, 'x')}), IndexError);
    CHECK((names.size() == 0 && names.height() == 0));
}

TEST_CASE("KeyedTable names options that are not in their range", "[keyed_table]") {
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH(KeyedTable<float>({.width = 1, .low = nan}), "low is nan, expected a finite number");
    CHECK_THROWS_WITH(KeyedTable<float>({.width = 1, .high = inf}), "high is inf, expected a finite number");
    CHECK_THROWS_WITH(KeyedTable<float>({.keys = {.capacity = -1}}), "capacity is -1, expected 0 or more");
    CHECK_THROWS_AS(KeyedTable<float>({.keys = {.sightings = -1}}), ValueError);
    CHECK_THROWS_AS(KeyedTable<float>({.keys = {.probability = 2}}), ValueError);
    KeyedTable<float> none({.width = 1, .keys = {.capacity = 0}});
    CHECK_THROWS_AS(none.find_or_insert({1}), IndexError);
    CHECK(none.find_or_insert(Rows{}).size() == 0);
}

TEST_CASE("a state that is added late has first values in the rows that exist", "[keyed_table]") {
    KeyedTable<bfloat16> table({.width = 4, .seed = 9});
    auto const& empty = table.add_state<float>({4}, 1);
    table.find_or_insert({1, 2, 3});
    auto& moment = table.add_state<float>({4}, 0.5F);
    CHECK((moment.height() == 3 && all(std::span(moment.tensor().data(), 12), 0.5F)));
    for (int i = 0; i < 20; ++i) table.add_state<double>({}, i);  // references stay
    CHECK((empty.height() == 3 && moment.most_rows() >= table.height()));

    auto dense = table.value();
    auto dense_moment = moment.tensor();
    SelectedRows<bfloat16> const grad(3, {2, 0, 2}, Tensor<bfloat16>::full({3, 4}, bfloat16(0.5F)));
    adagrad(table.value(), moment.tensor(), grad);
    adagrad(dense, dense_moment, grad);
    CHECK((same(table.value(), dense) && same(moment.tensor(), dense_moment)));
    CHECK(table.value()(1, 0) == first_values(table, 2, 4)[0]);
    CHECK(table.value()(2, 0) != first_values(table, 3, 4)[0]);
    table.find_or_insert({4});
    CHECK(all(moment.tensor().row(3), 0.5F));
}

TEST_CASE("without a capacity, a table has as many rows as all of its tensors have addresses for", "[keyed_table]") {
    KeyedTable<bfloat16> table({.width = 0});
    auto& state = table.add_state<double>({1 << 10});
    auto const most = state.most_rows();
    CHECK((most < 1 << 27 && table.index().options().capacity == most));
    table.find_or_insert({1});
    CHECK(state.height() == 1);
#ifdef __linux__
    if (!process_memory::measurable) return;
    CHECK(forked::succeeds([] {
        if (!process_memory::limit(RLIMIT_AS, process_memory::Memory().addresses + (256 << 20))) return false;
        KeyedTable<float> limited({.width = 64, .keys = {.default_row = true}});
        auto& wide = limited.add_state<double>({64}, 1);
        auto& small = limited.add_state<float>({}, 2);
        Rows keys;
        for (std::int64_t i = 1; i < wide.most_rows(); ++i) keys.push_back(i);
        limited.find_or_insert({keys.front()});
        keys.push_back(-1);
        try {
            limited.find_or_insert(keys);
            return false;
        } catch (IndexError const&) {
        }
        if (limited.size() != 1 || limited.height() != 2 || wide.height() != 2 || small.height() != 2) return false;
        if (!process_memory::out_of_memory([&] { limited.add_state<float>({256 << 20}); })) return false;
        keys.pop_back();
        limited.find_or_insert(keys);
        if (!process_memory::out_of_memory([&] { limited.add_state<float>({1 << 16}); })) return false;  // for fewer rows
        return limited.height() == wide.most_rows() && wide.tensor()(keys.size(), 63) == 1 && small.tensor()(keys.size()) == 2;
    }));
#endif
}

#ifdef __linux__
TEST_CASE("a KeyedTable without memory for its rows is unchanged", "[keyed_table]") {
    if (!process_memory::measurable) return;
    for (std::size_t const width : {std::size_t{1024}, std::size_t{1}}) {  // no memory for the value, or for the state
        CHECK(forked::succeeds([=] {
            KeyedTable<float> table({.width = width});
            auto& state = table.add_state<float>({1024 / width}, 3);
            table.find_or_insert({-1});
            if (!process_memory::limit(RLIMIT_DATA, process_memory::Memory().writable + (32 << 20))) return false;
            Rows keys;
            for (std::int64_t i = 0; i < 20'000; ++i) keys.push_back(i);
            for (int i = 0; i < 2; ++i) {
                if (!process_memory::out_of_memory([&] { table.find_or_insert(keys); })) return false;
                if (table.size() != 1 || table.index().height() != 1 || table.height() != 1 || state.height() != 1) return false;
            }
            keys.resize(1000);
            table.find_or_insert(keys);
            return state.tensor()(1000, 0) == 3 && std::ranges::equal(table.value().row(1000), first_values(table, 999, width));
        }));
    }
}
#endif

TEST_CASE("tensors that the table returned see later updates of their rows", "[keyed_table]") {
    KeyedTable<float> table({.width = 2});
    auto& moment = table.add_state<float>({2});
    table.find_or_insert({1, 2});
    auto const value = table.value().share(), state = moment.tensor().share();
    Rows keys;
    for (std::int64_t i = 1; i < 9000; ++i) keys.push_back(i);
    auto const rows = table.find_or_insert(keys);
    adagrad(table.value(), moment.tensor(), lookup_table_grad(rows, Tensor<float>::full({8999, 2}, 3), table.height()));
    CHECK((value.shape(0) == 2 && table.value().shape(0) == 8999 && value.data() == table.value().data()));
    CHECK(all(std::span(state.data(), 4), 9.F));
    CHECK(value(1, 1) != first_values(table, 2, 2)[1]);
    CHECK(value(1, 1) == table.value()(1, 1));
}

TEST_CASE("find_or_insert of a KeyedTable keeps the shape of the keys", "[keyed_table]") {
    KeyedTable<float> table({.width = 2, .keys = {.default_row = true}});
    auto const rows = table.find_or_insert(Tensor<std::int64_t>{{5, 6}, {5, 7}});
    CHECK((rows == Tensor<std::int64_t>{{1, 2}, {1, 3}}));
    CHECK(gather(table.value(), table.index(), Tensor<std::int64_t>{{5}, {8}}).shape() ==
          Tensor<float>::shape_type{2, 1, 2});
    CHECK(table.find_or_insert(Tensor<std::int64_t>::from_shape({0, 3})).shape() == Tensor<float>::shape_type{0, 3});
    CHECK(table.height() == 4);
}

}  // namespace test_keyed_table
