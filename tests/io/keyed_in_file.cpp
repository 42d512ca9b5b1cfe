// tests/io/keyed_in_file.cpp: tables by keys in files in nets.
#include <rowan/io/keyed_in_file.hpp>
#include <rowan/own_operator.hpp>

#include "io/files.hpp"
#include "killed_at.hpp"
#include "layer/check_net.hpp"
#include "reference.hpp"

#include <rowan/io/keyed_file.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/train.hpp>
#include <rowan/train/trainer.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace test_io_keyed_in_file {

using namespace rowan;
using Catch::Matchers::Contains;
using reference::same;

namespace {

/// A table by keys in a file, or, without a path, in memory.
template <class Key>
struct Net {
    using Given = std::conditional_t<std::same_as<Key, std::string>, std::string, std::int64_t>;

    explicit Net(layer::InFile const& file, layer::Keyed const& keys = {}) : cost(made(file, keys)) {}

    layer::Var<float> made(layer::InFile const& file, layer::Keyed const& keys) {
        layer::EmbeddingOptions options{.width = 3, .table = layer::Normal{}, .name = "w", .kind = keys};
        if (!file.path.empty()) options.kind = layer::KeyedInFile{keys, file};
        predict = layer::fc(layer::embedding(layer::data<Given>("keys", {UNK}), options), {.output_size = 1, .name = "out"});
        return layer::mse(*predict, layer::data<float>("y", {UNK, 1}));
    }
    static auto fed(std::vector<std::int64_t> const& numbers) {
        if constexpr (std::same_as<Key, std::string>) {
            std::vector<std::string> names;
            for (auto const k : numbers) names.push_back("key " + std::to_string(k));
            return names;
        } else {
            return numbers;
        }
    }
    static std::vector<Feeds> batches(std::int64_t epoch) {
        inputs::Random random(static_cast<std::uint64_t>(epoch));
        std::vector<Feeds> all;
        for (int n = 0; n < 4; ++n) {
            std::vector<std::int64_t> keys;
            std::vector<float> y;
            for (int k = 0; k < 3; ++k) {
                keys.push_back(random.below(9 + 9 * epoch));
                y.push_back(static_cast<float>(random.below(7)) / 3);
            }
            all.push_back({{"keys", fed(keys)}, {"y", Tensor<float>::from_values({3, 1}, y)}});
        }
        return all;
    }
    Parameters trained(TrainOptions const& options) {
        ScopeGuard const guard(scope);
        return train(cost, batches, options);
    }

    test::DefaultScope scope;
    std::optional<layer::Var<float>> predict;
    layer::Var<float> cost;
};

std::vector<layer::Optimizer> optimizers() {
    return {layer::Sgd{.learning_rate = 0.1},
            layer::AdaGrad{.learning_rate = 0.1},
            layer::RowwiseAdaGrad{.learning_rate = 0.1},
            layer::Adam{.learning_rate = 0.1, .lazy = true},
            layer::Momentum{.learning_rate = 0.1, .lazy = true},
            layer::Ftrl{.learning_rate = 0.1},
            layer::Deferred{layer::Adam{.learning_rate = 0.1}},
            layer::Deferred{layer::AdaGrad{.learning_rate = 0.1, .weight_decay = 0.1}},
            layer::Deferred{layer::RmsProp{.learning_rate = 0.1}},
            layer::Deferred{layer::Momentum{.learning_rate = 0.1}}};
}

/// Keys and their rows are the same; free rows may differ.
void check_same(Parameters const& learned, Parameters const& want) {
    for (auto const& [name, value] : want) {
        INFO(name);
        auto mine = learned.find(name).share(), theirs = value.share();
        if (!name.starts_with("w") || name.starts_with("w#")) {
            CHECK(std::ranges::equal(mine.elements().bytes, theirs.elements().bytes));
        } else {
            auto const rows = want.get<std::int64_t>("w#rows");
            CHECK(same(gather(learned.get<float>(name), rows), gather(want.get<float>(name), rows)));
        }
    }
}

template <class Key>
void check_all(layer::Keyed const& keys) {
    auto const all = optimizers();
    for (std::size_t n = 0; n < all.size(); ++n) {
        INFO("optimizer " << n);
        test::Folder const dir;
        layer::InFile const in{dir / "rows.table"};
        TrainOptions options{.optimizer = all[n], .epochs = 2, .seed = 5};
        Net<Key> memory({}, keys), file(in, keys);
        auto const want = memory.trained(options);
        Feeds const asked{{"keys", Net<Key>::fed({3, 8, 1, 77})}};
        auto const answer = infer(*memory.predict, asked, want).value();
        std::string const saved = dir / "parameters.rowan";
        {
            auto const learned = file.trained(options);
            check_same(learned, want);
            CHECK(same(infer(*file.predict, asked, learned).value(), answer));
            save_parameters(learned, saved);
        }
        options.resume = &want;
        auto const want_more = memory.trained(options);
        {
            auto const loaded = load_parameters<>(saved);
            CHECK(!loaded.contains("w"));
            CHECK(same(infer(*file.predict, asked, loaded).value(), answer));
            {
                Predictor<float> const predictor(*file.predict, loaded);
                CHECK(same(predictor(asked).value(), answer));
            }
            options.resume = &loaded;
            auto const more = file.trained(options);
            check_same(more, want_more);
            options.resume = &want_more;
            auto const want_most = memory.trained(options);
            options.resume = &more;
            check_same(file.trained(options), want_most);
        }
        CHECK_THROWS_WITH(infer(*file.predict, asked, load_parameters<>(saved)), Contains("the generation"));
    }
}

}  // namespace

TEST_CASE("a table by integers in a file is trained, answers and goes on with the bits of one in memory", "[io][keyed_in_file]") { check_all<std::int64_t>({}); }

TEST_CASE("a table by strings in a file, with admission and eviction, has the bits of one in memory", "[io][keyed_in_file]") {
    check_all<std::string>({.sightings = 2, .eviction = {.idle = 5, .most = 6, .every = 2}});
}

TEST_CASE("a step that fails leaves a table by keys in a file as it was", "[io][keyed_in_file]") {
    test::Folder const dir;
    Net<std::int64_t> memory({}), file({dir / "rows.table"});
    TrainOptions const options{.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.1}}, .seed = 5};
    auto const run = [&](Net<std::int64_t>& net, bool fails) {
        ScopeGuard const guard(net.scope);
        Trainer<> trainer(net.cost, options);
        for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
            for (auto const& feeds : net.batches(epoch)) {
                trainer.step(feeds);
                if (!fails) continue;
                Feeds bad{{"keys", net.fed({70, 71, 72, 73})}, {"y", Tensor<float>::full({4, 1}, NAN)}};
                CHECK_THROWS_AS(trainer.step(bad), ValueError);
                bad.insert_or_assign("y", Tensor<float>::full({3, 1}, 1));
                CHECK_THROWS_AS(trainer.step(bad), ShapeError);
            }
        }
        return trainer.parameters();
    };
    check_same(run(file, true), run(memory, false));
}

TEST_CASE("a training with keys in a file goes on after a kill at any system call of its saves", "[io][keyed_in_file]") {
    std::size_t const every = std::getenv("ROWAN_NIGHTLY") == nullptr ? 23 : 1;
    layer::Keyed const keys{.eviction = {.most = 9, .every = 3}};
    std::vector<layer::Optimizer> const all{layer::Adam{.learning_rate = 0.1, .lazy = true}, layer::Deferred{layer::Momentum{.learning_rate = 0.1}}};
    for (std::size_t c = 0; c < all.size(); ++c) {
        TrainOptions options{.optimizer = all[c], .epochs = 3, .seed = 5};
        Net<std::string> memory({}, keys);
        auto const want = memory.trained(options);
        auto ended = test::Ended::killed;
        for (std::size_t n = 1 + c; ended == test::Ended::killed; n += every) {
            CAPTURE(c, n);
            test::Folder const dir;
            auto const run = [&] {
                Net<std::string> net({dir / "rows.table"}, keys);
                auto with = options;
                with.checkpoint = train_checkpoint({.folder = dir / "run", .every = 3});
                return net.trained(with);
            };
            ended = test::killed_at(n, run);
            REQUIRE(ended != test::Ended::failed);
            if (ended == test::Ended::untraced) return;
            check_same(run(), want);
            std::filesystem::remove_all(dir / "run");
            CHECK(dir.files() == 1);
        }
    }
}

TEST_CASE("what a table by keys in a file cannot do is refused with a sentence", "[io][keyed_in_file][bad_input]") {
    test::Folder const dir;
    layer::InFile const in{dir / "rows.table"};
    CHECK_THROWS_AS(layer::TableKind(layer::KeyedInFile{{.probability = 2}, in}), ValueError);
    Net<std::int64_t> net(in);
    ScopeGuard const guard(net.scope);
    save_parameters(train(net.cost, net.batches), dir / "p");
    CHECK_THROWS_AS(train(net.cost, net.batches), IoError);  // there is a file
    auto const loaded = load_parameters<>(dir / "p");
    auto const initial = loaded.only({"out.w_0"});
    CHECK_THROWS_WITH(Trainer<>(net.cost, {.average = layer::MovingAverage{}}), Contains("without averages"));
    Net<std::string> other(in);
    ScopeGuard const inner(other.scope);
    CHECK_THROWS_AS(Trainer<>(other.cost, {.resume = &loaded}), TypeError);
    TableFile<float> fixed = TableFile<float>::create(dir / "fixed", {.height = 3, .width = 3});
    CHECK_THROWS_WITH(RowsInFile(std::move(fixed)), Contains("has a fixed height"));
}

}  // namespace test_io_keyed_in_file
