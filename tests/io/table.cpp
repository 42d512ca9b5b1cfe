// tests/io/table.cpp: every kind of table with every optimizer has the bits of tensors, step by step.
#include <rowan/sparse/table.hpp>

#include "inputs.hpp"
#include "optimizers.hpp"
#include "reference.hpp"

#include <rowan/io/keyed_file.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/sparse/deferred_table.hpp>
#include <rowan/sparse/keyed_table.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "checkpoint_files.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test_table {

namespace {

using namespace rowan;
using reference::same;

static_assert(row_table<TableFile<float>> && row_table<KeyedTable<double>> && row_table<KeyedTable<float, std::string>> && row_table<KeyedFile<float>>);
static_assert(!row_table<Tensor<float>> && row_view<decltype(std::declval<KeyedTable<float>&>().view({1}))>);

constexpr std::size_t height = 20, width = 5;
KeyedTableOptions const options{.width = width, .seed = 7, .keys = {.record_uses = true}};

/// The states of an optimizer, beside rows [height, width].
template <class O>
struct States {
    static constexpr bool per_row = requires { requires O::one_state_per_row; };
    static constexpr bool steps = requires { typename O::options; } && std::same_as<O, optim::rowwise_rmsprop>;
    using Second = std::conditional_t<steps, std::int64_t, float>;

    Tensor<float> first = Tensor<float>::zeros(per_row ? Tensor<float>::shape_type{height} : Tensor<float>::shape_type{height, width});
    Tensor<Second> second = Tensor<Second>::zeros(first.shape());
    Tensor<float> third = Tensor<float>::zeros(first.shape());

    template <class F>
    void with(F const& f) {
        if constexpr (O::states::size == 0) f();
        if constexpr (O::states::size == 1) f(first);
        if constexpr (O::states::size == 2) f(first, second);
        if constexpr (O::states::size == 3) f(first, second, third);
    }
};

std::string name_of(std::int64_t k, std::string const*) { return "key " + std::to_string(k); }
std::int64_t name_of(std::int64_t k, std::int64_t const*) { return k * 1'000'000'007; }

/// A table by keys, with rows of Tensor's numbers.
template <class Key>
struct Keyed {
    static constexpr bool by_keys = true;
    KeyedTable<float, Key> table{options};

    auto& of() { return table; }
    template <class O, class... State>
    void add(state_list<State...>) {
        auto const shape = States<O>::per_row ? Tensor<float>::shape_type{} : Tensor<float>::shape_type{width};
        (table.template add_state<detail::state_type<State, float>>(std::string(State::name), shape), ...);
    }
    static std::vector<Key> keys(std::vector<std::int64_t> const& numbers) {
        std::vector<Key> all;
        for (auto const k : numbers) all.push_back(name_of(k, static_cast<Key const*>(nullptr)));
        return all;
    }
    auto view(std::vector<std::int64_t> const& numbers) { return table.view(Cpu{2}, keys(numbers)); }
    std::int64_t row(std::int64_t k) const { return table.index().find({name_of(k, static_cast<Key const*>(nullptr))})(0); }
    void first(std::int64_t k, std::span<float> to) const { table.first_values(name_of(k, static_cast<Key const*>(nullptr)), to); }
    Tensor<float> const& rows() const { return table.value(); }
};

/// The same with rows in a file.
template <class Key>
struct KeyedInFile {
    static constexpr bool by_keys = true;
    test::Folder folder{};
    std::unique_ptr<KeyedFile<float, Key>> table{};

    auto& of() { return *table; }
    template <class O, class... State>
    void add(state_list<State...>) {
        [[maybe_unused]] std::optional<std::size_t> const each = States<O>::per_row ? std::nullopt : std::optional(width);
        std::vector<TableState> const states{TableState::of<detail::state_type<State, float>>(std::string(State::name), each)...};
        table = std::make_unique<KeyedFile<float, Key>>(options, RowsInFile(TableFile<float>::create(folder / "t", {.width = width, .states = states, .grows = true})));
    }
    static auto keys(std::vector<std::int64_t> const& numbers) { return Keyed<Key>::keys(numbers); }
    auto view(std::vector<std::int64_t> const& numbers) { return table->view(Cpu{2}, keys(numbers)); }
    std::int64_t row(std::int64_t k) const { return table->index().find({name_of(k, static_cast<Key const*>(nullptr))})(0); }
    void first(std::int64_t k, std::span<float> to) const { Keyed<Key>().first(k, to); }
    Tensor<float> const& rows() const { return table->value(); }
};

struct InFile {
    static constexpr bool by_keys = false;
    test::Folder folder{};
    std::unique_ptr<TableFile<float>> table{};
    Keyed<std::int64_t> firsts{};

    auto& of() { return *table; }
    template <class O, class... State>
    void add(state_list<State...>) {
        [[maybe_unused]] std::optional<std::size_t> const each = States<O>::per_row ? std::nullopt : std::optional(width);
        std::vector<TableState> const states{TableState::of<detail::state_type<State, float>>(std::string(State::name), each)...};
        table = std::make_unique<TableFile<float>>(
            TableFile<float>::create(folder / "t", {.height = height, .width = width, .states = states}, [&](auto row, auto to) { first(row, to); }));
    }
    static std::vector<std::int64_t> keys(std::vector<std::int64_t> const& numbers) { return numbers; }
    auto view(std::vector<std::int64_t> const& numbers) { return table->view(Cpu{2}, numbers); }
    static std::int64_t row(std::int64_t k) { return k; }
    void first(std::int64_t k, std::span<float> to) const { firsts.first(k, to); }
    Tensor<float> const& rows() const { return table->rows(); }
};

/// Steps on a table, of which every third is given up, and on tensors.
template <class Kind, class O>
void steps(O, std::string const& name, typename O::options settings) {
    INFO(name);
    Kind kind;
    kind.template add<O>(typename O::states{});
    auto want = Tensor<float>::from_shape({height, width});
    for (std::size_t k = 0; k < height; ++k) kind.first(static_cast<std::int64_t>(k), std::span(want.row(k).data(), width));
    States<O> states;
    inputs::Random random(11);
    std::vector<bool> known(height);
    for (int step = 1; step <= 9; ++step) {
        std::vector<std::int64_t> numbers(7);
        for (auto& k : numbers) k = random.below(height);
        if constexpr (requires { settings.step = 1; }) settings.step = step;
        {
            auto view = kind.view(numbers);
            auto const x = gather(view.rows(), view.at());
            REQUIRE(same(x, gather(want, numbers)));
            if (step % 3 == 0) continue;
            Optimizer<O>{}(view, x, settings);
        }
        states.with([&](auto&... state) { Optimizer<O>{}(want, state..., lookup_table_grad(numbers, gather(want, numbers), Height(height)), settings); });
        for (auto const k : numbers) known[static_cast<std::size_t>(k)] = true;
        for (std::size_t k = 0; k < height; ++k) {
            auto const row = kind.row(static_cast<std::int64_t>(k));
            if constexpr (Kind::by_keys) REQUIRE((row >= 0) == known[k]);
            if (row >= 0) REQUIRE(same(gather(kind.rows(), {row}), gather(want, {static_cast<std::int64_t>(k)})));
        }
    }
}

/// Steps of a deferred optimizer, and dense ones on tensors, in whose rows there is nothing before their key comes.
template <class Kind, class O>
void deferred_steps(O, std::string const& name, typename O::options settings) {
    INFO("deferred " << name);
    Kind kind;
    kind.template add<O>(typename O::states{});
    auto& of = kind.of();
    DeferredTable<O, std::remove_reference_t<decltype(of)>> deferred(of);
    auto want = Tensor<float>::from_shape({height, width});
    States<O> states;
    std::vector<bool> known(height, !Kind::by_keys);
    auto const begin = [&] {
        for (std::size_t k = 0; k < height; ++k) {
            if (known[k] && Kind::by_keys) continue;
            kind.first(static_cast<std::int64_t>(k), std::span(want.row(k).data(), width));
            states.with([&](auto&... state) { (std::ranges::fill(state.row(k), 0), ...); });
        }
    };
    begin();
    inputs::Random random(13);
    for (int step = 1; step <= 12; ++step) {
        std::vector<std::int64_t> numbers(4);
        for (auto& k : numbers) k = random.below(height);
        if constexpr (requires { settings.step = 1; }) settings.step = step;
        auto view = deferred.view(Cpu{2}, kind.keys(numbers));
        auto const x = gather(view.rows(), view.at());
        REQUIRE(same(x, gather(want, numbers)));
        if (step % 3 == 0) continue;
        if constexpr (std::same_as<O, optim::centered_rmsprop>) {
            rmsprop(view, x, settings);
        } else {
            Optimizer<O>{}(view, x, settings);
        }
        auto const grad = to_dense(lookup_table_grad(numbers, gather(want, numbers), Height(height)));
        states.with([&](auto&... state) { Optimizer<O>{}(want, state..., grad, settings); });
        for (auto const k : numbers) known[static_cast<std::size_t>(k)] = true;
        if constexpr (Kind::by_keys) begin();
    }
    deferred.flush();
    for (std::size_t k = 0; k < height; ++k) {
        auto const row = kind.row(static_cast<std::int64_t>(k));
        if (row >= 0) REQUIRE(same(gather(kind.rows(), {row}), gather(want, {static_cast<std::int64_t>(k)})));
    }
}

template <class Kind>
void all_deferred() {
    deferred_steps<Kind>(optim::sgd{}, "sgd", {.learning_rate = 0.1, .weight_decay = 0.01});
    deferred_steps<Kind>(optim::momentum{}, "momentum", {.learning_rate = 0.1});
    deferred_steps<Kind>(optim::adam{}, "adam", {.learning_rate = 0.1});
    deferred_steps<Kind>(optim::adam{}, "adamw", {.learning_rate = 0.1, .weight_decay = 0.01, .decoupled = true});
    deferred_steps<Kind>(optim::rmsprop{}, "rmsprop", {.learning_rate = 0.1, .momentum = 0.5});
    deferred_steps<Kind>(optim::centered_rmsprop{}, "centered rmsprop", {.learning_rate = 0.1});
    deferred_steps<Kind>(optim::adagrad{}, "adagrad", {.learning_rate = 0.1, .weight_decay = 0.01});
}

template <class Kind>
void all() {
    test::each_optimizer([]<class O>(O o, std::string const& name, typename O::options const& settings) {
        if constexpr (!requires { O::changes_all_rows; }) steps<Kind>(o, name, settings);
    });
    steps<Kind>(optim::rowwise_rmsprop{}, "rowwise_rmsprop", {.decay = 0.1});
}

}  // namespace

TEST_CASE("every optimizer on a table by integers has the bits of tensors; a step that is given up leaves nothing", "[table]") { all<Keyed<std::int64_t>>(); }
TEST_CASE("every optimizer on a table by strings has the bits of tensors; a step that is given up leaves nothing", "[table]") { all<Keyed<std::string>>(); }
TEST_CASE("every optimizer on a table in a file has the bits of tensors", "[table]") { all<InFile>(); }
TEST_CASE("every optimizer on a table by keys in a file has the bits of tensors", "[table]") { all<KeyedInFile<std::int64_t>>(); }

TEST_CASE("deferred optimizers on every kind of table have the bits of dense steps; a new key has missed nothing", "[table]") {
    all_deferred<Keyed<std::int64_t>>();
    all_deferred<Keyed<std::string>>();
    all_deferred<InFile>();
    all_deferred<KeyedInFile<std::string>>();
}

TEST_CASE("a step by a view refuses its arguments before a key has a row", "[table][bad_input]") {
    KeyedTable<float> table(options);
    table.add_state<float>("moment", {width});
    auto const values = Tensor<float>::zeros({2, width});
    {
        auto view = table.view({3, 4});
        CHECK_THROWS_AS(adagrad(view, values, {.epsilon = -1}), ValueError);
        CHECK_THROWS_WITH(adagrad(view, Tensor<float>::zeros({3, width})), "grad.shape() is [3, 5], expected to begin with [2], the shape of the names");
        CHECK_THROWS_WITH(adam(view, values), "the table has no state \"moment2\"");
        CHECK(table.height() == 2);
    }
    CHECK((table.size() == 0 && table.height() == 0));
    table.add_state<bfloat16>("velocity", {width});
    {
        auto view = table.view({3, 4});
        CHECK_THROWS_WITH(momentum(view, values), "the state \"velocity\" is bf16, expected f32");
    }
    CHECK_THROWS_WITH(table.add_state<float>("moment", {}), "two states are named \"moment\"");
}

TEST_CASE("a view is for one step, its names may have any shape, and centered RMSProp is found by its state", "[table]") {
    KeyedTable<float> table(options);
    table.add_state<float>("moment", {width});
    auto view = table.view({3, 4});
    sgd(view, Tensor<float>::zeros({2, width}), 1);
    CHECK_THROWS_WITH(sgd(view, Tensor<float>::zeros({2, width}), 1), "the view is no longer open: a step has kept its keys, or an older view is gone");
    auto older = table.view({5}), younger = table.view({6});
    CHECK_THROWS_WITH(adagrad(younger, Tensor<float>::zeros({1, width})), "commit: an older insertion is open");
    adagrad(older, Tensor<float>::zeros({1, width}));
    adagrad(younger, Tensor<float>::zeros({1, width}));
    CHECK(table.size() == 4);

    InFile kind;
    kind.add<optim::centered_rmsprop>(optim::centered_rmsprop::states{});
    auto const ids = Tensor<std::int32_t>::from_values({2, 2}, std::vector<std::int32_t>{3, 1, 1, 0});
    auto const x_grad = inputs::wild<float>({2, 2, width}, 3);
    rmsprop(kind.table->view(ids), x_grad);
    auto param = Tensor<float>::from_shape({height, width}), moment = Tensor<float>::zeros({height, width}), mean = moment, velocity = moment;
    for (std::size_t k = 0; k < height; ++k) kind.first(static_cast<std::int64_t>(k), std::span(param.row(k).data(), width));
    rmsprop(param, moment, mean, velocity, lookup_table_grad(ids, x_grad.share(), Height(height)));
    CHECK((same(kind.rows(), param) && same(kind.table->state<float>("mean_grad"), mean)));
}

TEST_CASE("names without a row take no part in a step", "[table]") {
    KeyedTable<float> table({.width = 1, .low = 0, .high = 0, .keys = {.sightings = 2}});
    table.find_or_insert({5});
    table.find_or_insert({5});
    auto view = table.view({5, 6, 5});
    CHECK(view.at()(1) == -1);
    sgd(view, Tensor<float>::from_values({3, 1}, std::vector<float>{1, 2, 4}), 1.0);
    CHECK((table.height() == 1 && table.value()(0, 0) == -5));
    CHECK(table.view({6}).at()(0) == 1);  // its second sighting: the first was counted by the step
}

}  // namespace test_table
