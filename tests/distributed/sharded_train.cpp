// tests/distributed/sharded_train.cpp
#include <rowan/distributed/infer.hpp>
#include <rowan/distributed/plan.hpp>
#include <rowan/distributed/train.hpp>

#include "on_ranks.hpp"
#include "sample.hpp"
#include "sharded_nets.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/cond.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/map_fn.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/static_input.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/deferred.hpp>

#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace test_sharded_train {

using namespace rowan;
using namespace sharded;

TrainOptions options_for(std::int64_t parts, layer::Comm const& comm = {}) {
    return {.optimizer = layer::Adam{.learning_rate = 0.05}, .comm = comm, .parts = parts, .epochs = 2, .exec = {1}};
}

/// Trains a net on batches [begin, end): the hash of the rows of this rank, and of all else.
Hash trained(bool shards, TrainOptions const& options, std::int64_t end = 7, Placement const& placement = {}) {
    Net1 const net(shards, placement);
    auto const learned = train(
        net.cost, [&](std::int64_t) { return batches(0, end); }, options);
    return hash_of(learned);
}

/// Whether the ranks together have the rows of a whole table, for some numbers of them.
template <class F>
void same_bits(F const& run, std::vector<int> const& sizes = {1, 2, 3, 4}, int per_node = 0) {
    Hash const want = run(false, layer::Comm());
    CHECK(run(true, layer::Comm()) == want);
    for (int const n : test::group_sizes(sizes)) {
        auto const all = test::on_ranks(
            n, [&](auto const& comm) { return run(true, comm); }, per_node);
        CAPTURE(n);
        CHECK(together(all) == want);
    }
}

TEST_CASE("a net with a sharded table has the bits of one with a whole one, for any number of ranks", "[distributed]") {
    for (std::int64_t const parts : {2, 3, 5}) {  // 7 batches: steps of 2 and 1, of 3, 3 and 1, and of 5 and 2
        for (bool const overlap : {false, true}) {
            same_bits([&](bool shards, layer::Comm const& comm) {
                auto options = options_for(parts, comm);
                options.overlap = overlap;
                return trained(shards, options);
            });
        }
    }
}

TEST_CASE("wherever the rows of a table are, they have the same bits", "[distributed]") {
    for (Placement const& placement : placements()) {
        for (bool const clipped : {false, true}) {
            CAPTURE(placement.block, placement.first, clipped);
            same_bits([&](bool shards, layer::Comm const& comm) {
                auto options = options_for(3, comm);
                if (clipped) options.clip = layer::ClipByGlobalNorm{.max_norm = 0.05};
                options.overlap = true;
                return trained(shards, options, 9, placement);
            }, {2, 3});
        }
    }
    auto const placed = test::on_ranks(4, [&](auto const& comm) {  // piece 0 of block 300 is on rank 3
        Net1 const net(true, {.block = height, .first = 3 + 4 * 5});
        auto const learned = train(net.cost, [&](std::int64_t) { return batches(0, 4); }, options_for(3, comm));
        return static_cast<std::int64_t>(learned.find("table").row_numbers().size());
    });
    for (std::size_t r = 0; r < placed.size(); ++r) CHECK(placed[r] == (r == 23 % placed.size() ? height : 0));
}

TEST_CASE("ranks that ask one of them for many rows have the same bits", "[distributed]") {
    same_bits([](bool shards, layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        auto const rows = layer::embedding(ids, {.height = 700, .width = 2, .name = "table", .sharded = shards, .placement = {.block = 700, .first = 1}});
        std::vector<Feeds> data;
        for (std::int64_t part = 0; part < 4; ++part) {
            std::vector<std::int64_t> named;
            for (std::int64_t i = 0; i < 600; ++i) named.push_back(i + 9 * part);
            data.push_back({{"ids", named}});
        }
        return hash_of(train(layer::reduce_mean(layer::tanh(rows)), [&](std::int64_t) { return data; }, options_for(4, comm)));
    }, {2, 4});
}

TEST_CASE("the steps of a recurrent layer look up a sharded table, with the bits of a whole one", "[distributed]") {
    auto const run = [](bool deferred) {
        return [deferred](bool shards, layer::Comm const& comm) {
            Scope scope;
            ScopeGuard const guard(scope);
            auto const table = layer::embedding_table({.height = height, .width = width, .name = "table", .sharded = shards});
            auto const ids = layer::data<std::int64_t>("ids", {UNK});
            auto const words = layer::data<std::int32_t>("bags", {UNK}, 1), others = layer::data<std::int32_t>("texts", {UNK}, 2);
            auto const last = layer::rnn_with_last<float>(words, width, [&](auto const& word, auto const& before) {
                auto const now = layer::tanh(layer::embedding(word, table, {.unknown = 8}) + before + layer::embedding(layer::static_input(ids), table));
                return layer::Step{now, now};
            }).last;
            auto const texts = layer::sequence_pool(layer::map_fn(others, [&](auto const& text) {
                auto const inner = layer::rnn<float>(text, width, [&](auto const& word, auto const& before) {
                    auto const now = layer::tanh(layer::embedding(word, table) - before);
                    return layer::Step{now, now};
                });
                return layer::sequence_pool(inner) + layer::embedding_bag(text, table, {});
            }, {.level = 0}));
            auto const cost = Net1::cost_of(layer::fc(layer::concat({layer::drop_levels(last), texts}, {.axis = 1}), {.output_size = 2, .name = "fc"}));
            std::vector<Feeds> data;
            inputs::Random random(3);
            for (std::int64_t i = 0; i < 5; ++i) {
                auto const n = static_cast<std::size_t>(random.below(4) + 2);
                std::vector<std::int64_t> id;
                std::vector<std::int32_t> word, text;
                std::vector<std::int64_t> word_ends{0}, sentence_ends{0}, text_ends{0};
                for (std::size_t k = 0; k < n; ++k) {
                    id.push_back(random.below(height));
                    for (std::int64_t w = random.below(4); w >= 0; --w) word.push_back(static_cast<std::int32_t>(random.below(height + 90)));
                    word_ends.push_back(std::ssize(word));
                    for (std::int64_t sentence = random.below(3); sentence >= 0; --sentence) {
                        for (std::int64_t w = random.below(4); w >= 0; --w) text.push_back(static_cast<std::int32_t>(random.below(9)));
                        sentence_ends.push_back(std::ssize(text));
                    }
                    text_ends.push_back(std::ssize(sentence_ends) - 1);
                }
                data.push_back({{"ids", id},
                                {"bags", LoDTensor<std::int32_t>(Tensor<std::int32_t>(word), Lod{word_ends})},
                                {"texts", LoDTensor<std::int32_t>(Tensor<std::int32_t>(text), Lod{text_ends, sentence_ends})},
                                {"y", Tensor<float>::full({n, 2}, 0.5F)}});
            }
            auto options = options_for(3, comm);
            if (deferred) options.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.05}};
            return hash_of(train(cost, [&](std::int64_t) { return data; }, options));
        };
    };
    same_bits(run(false), {1, 2, 3});
    same_bits(run(true), {2});
}

TEST_CASE("a net that is placed by a plan has the bits of a whole one", "[distributed]") {
    Hash const want = trained(false, options_for(3), 4);
    int replicated = 0, whole = 0, dealt = 0;
    for (PlanOptions const& options : {PlanOptions{}, PlanOptions{.replicated_bytes = 0, .busiest = 9}, PlanOptions{.replicated_bytes = 0}}) {
        for (int const n : test::group_sizes({1, 2, 3, 4})) {
            auto const p = plan(std::vector<TableToPlace>{{.name = "table", .height = height, .width = width, .lookups = 40}}, n, options);
            auto const& t = p["table"];
            ++(!t.sharded ? replicated : t.placement.block >= height ? whole : dealt);
            CAPTURE(n, t.text());
            auto const all = test::on_ranks(n, [&](auto const& comm) { return trained(t.sharded, options_for(3, comm), 4, t.placement); });
            if (t.sharded) CHECK(together(all) == want);
            for (Hash const& h : all) CHECK((h == want || t.sharded));
        }
    }
    CHECK((replicated > 0 && whole > 0 && dealt > 0));
}

/// Two tables cut by columns, one of them without a name: what is computed of all rows when they are trained.
std::uint64_t cut(bool shards, int columns, layer::Optimizer const& optimizer, layer::Comm const& comm, auto const& infer_on) {
    Scope scope;
    ScopeGuard const guard(scope);
    Placement const placement{.block = height, .first = 1, .columns = columns};
    auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = height, .width = 6, .padding_id = 5, .table = layer::XavierNormal{}, .name = "table", .sharded = shards, .placement = placement});
    auto const bags = layer::embedding_bag(layer::data<std::int32_t>("bags", {UNK}, 1), {.height = height, .width = 6, .unknown = 8, .sharded = shards, .placement = placement}, {.pool = Pooling::mean});
    auto const predict = layer::fc(layer::concat({rows, bags}, {.axis = 1}), {.output_size = 2, .name = "fc"});
    auto data = batches(0, 4);
    for (auto& feeds : data) feeds.erase("weights");
    auto options = options_for(3, comm);
    options.optimizer = optimizer;
    auto const learned = train(Net1::cost_of(predict), [&](std::int64_t) { return data; }, options);
    std::vector<std::int64_t> ids;
    std::vector<std::int32_t> words;
    std::vector<std::int64_t> ends{0};
    for (std::int64_t i = 0; i < height; ++i) {
        ids.push_back(i);
        words.push_back(static_cast<std::int32_t>(i));
        ends.push_back(i + 1);
    }
    auto const all = infer_on(predict, Feeds{{"ids", ids}, {"bags", LoDTensor<std::int32_t>(Tensor<std::int32_t>(words), Lod{ends})}}, learned);
    return parts::bits(std::as_bytes(std::span(all.value().data(), all.value().size())), 1);
}

TEST_CASE("a table that is cut by columns has the bits of a whole one, but for row-wise optimizers", "[distributed]") {
    auto const alone = [](auto const& predict, Feeds const& feeds, Parameters const& p) { return infer(predict, feeds, p); };
    for (bool const row_wise : {false, true}) {
        auto const optimizer = row_wise ? layer::Optimizer(layer::RowwiseAdaGrad{}) : layer::Optimizer(layer::Adam{.learning_rate = 0.05});
        auto const want = cut(false, 1, optimizer, {}, alone);
        for (int const columns : {1, 2, 3}) {
            CAPTURE(columns, row_wise);
            auto const here = cut(true, columns, optimizer, {}, alone);
            CHECK((here == want) == (columns == 1 || !row_wise));
            for (int const per_node : {0, 2}) {
                auto const all = test::on_ranks(3 + per_node / 2, [&](auto const& comm) {
                    return cut(true, columns, optimizer, comm, [&](auto const& predict, Feeds const& feeds, Parameters const& p) { return infer(comm, predict, feeds, p); });
                }, per_node);
                for (auto const h : all) CHECK(h == here);
            }
        }
    }
    Scope scope;
    ScopeGuard const guard(scope);
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const make = [&](Placement const& placement) { layer::embedding(ids, {.height = 4, .width = 6, .sharded = true, .placement = placement}); };
    CHECK_THROWS_WITH(make({.columns = 4}), "placement.columns is 4, expected a divisor of the width, 6");
    CHECK_THROWS_WITH(make({.columns = 0}), "placement.columns is 0, expected in [1, 10^9]");
    CHECK_THROWS_WITH(make({.block = 0}), "placement.block is 0, expected at least 1");
    CHECK_THROWS_WITH(make({.first = -1}), "placement.first is -1, expected in [0, 10^9]");
    CHECK_THROWS_AS(layer::embedding_table({.height = 4, .width = 6, .sharded = true, .placement = {.columns = 2}}), GraphError);
}

TEST_CASE("ranks that place a table in different ways get an error on all", "[distributed][errors]") {
    auto const said = test::on_ranks(3, [&](auto const& comm) {
        try {
            trained(true, options_for(3, comm), 4, {.block = comm.rank() == comm.size() - 1 ? 2 : 1});
        } catch (Error const& e) {
            return std::string(e.what()).find("train: the placement of table is {.block = 2, .first = 0} on rank 2") != std::string::npos ? 1 : 0;
        }
        return 0;
    });
    for (int const s : said) CHECK(s == 1);
}

TEST_CASE("a deferred optimizer has the bits of a dense one on tables, sharded or whole, of any ranks", "[distributed]") {
    auto options = options_for(5);
    layer::Adam const dense{.learning_rate = 0.05, .lazy = false};
    options.optimizer = dense;
    Hash const want = trained(false, options);
    CHECK(want != trained(false, options_for(5)));
    options.optimizer = {layer::Deferred{dense}, dtypes<float>{}};
    for (bool const shards : {false, true}) {
        CHECK(trained(shards, options) == want);
        for (int const n : test::group_sizes({2, 3})) {
            auto const all = test::on_ranks(n, [&](auto const& comm) {
                auto here = options;
                here.comm = comm;
                here.overlap = n == 3;
                here.check_every = 1;  // leaves out tables that are behind, or some of whose rows are elsewhere
                return trained(shards, here);
            });
            if (shards) {
                CHECK(together(all) == want);
            } else {
                for (Hash const& h : all) CHECK(h == want);
            }
        }
    }
}

TEST_CASE("what changes all rows in each step is refused for a sharded table, on all ranks", "[distributed][errors]") {
    auto const refused = [](layer::Comm const& comm, auto const& change) -> std::string {
        auto options = options_for(3, comm);
        change(options);
        try {
            trained(true, options);
        } catch (TypeError const& e) {
            return e.what();
        }
        return "none";
    };
    auto const on_all = [&](std::string const& text, auto const& change) {
        CHECK(refused({}, change) == text);
        for (int const right : test::on_ranks(3, [&](auto const& comm) { return refused(comm, change) == text ? 1 : 0; })) CHECK(right == 1);
    };
    std::string const all_rows = "an optimizer that updates all rows: table is SelectedRows<f32>, expected a LoDTensor";
    on_all(all_rows, [](TrainOptions& o) { o.optimizer = layer::Adam{.lazy = false}; });
    on_all(all_rows, [](TrainOptions& o) { o.optimizer = layer::Momentum{.lazy = false}; });
    on_all(all_rows, [](TrainOptions& o) { o.optimizer = layer::Lamb{}; });
    on_all("the moving average of table is SelectedRows<f32>, expected a LoDTensor", [](TrainOptions& o) { o.average = layer::MovingAverage{}; });
}

TEST_CASE("nets on several nodes have the bits of one process", "[distributed]") {
    for (bool const clipped : {false, true}) {  // then all ranks get the gradients of all rows
        auto const run = [&](bool shards, layer::Comm const& comm) {
            auto options = options_for(5, comm);
            if (clipped) options.clip = layer::ClipByGlobalNorm{.max_norm = 0.05};
            options.overlap = !clipped;
            return trained(shards, options, 12);
        };
        same_bits(run, {4, 5}, 2);
    }
    // 7 batches: steps whose parts are one node of the tree on each rank and node, on each rank alone, or on none
    for (std::int64_t const parts : {2, 3, 4, 7, 8}) {
        same_bits([&](bool shards, layer::Comm const& comm) { return trained(shards, options_for(parts, comm)); }, {4, 6, 8}, 2);
    }
}

/// A training: so many batches, of which `parts` make a step.
struct Split {
    int ranks, per_node;
    std::int64_t parts, batches;
    bool overlap;
};

/// Checks that each has the bits of one process with the whole table.
void same_bits_of(std::vector<Split> const& all) {
    std::map<std::pair<std::int64_t, std::int64_t>, Hash> wanted;
    for (Split const& s : all) {
        auto const [at, added] = wanted.try_emplace({s.parts, s.batches});
        if (added) at->second = trained(false, options_for(s.parts), s.batches);
        CAPTURE(s.ranks, s.per_node, s.parts, s.batches, s.overlap);
        std::vector<Hash> hashes;
        CHECK_NOTHROW(hashes = test::on_ranks(s.ranks, [&](auto const& comm) {
            auto options = options_for(s.parts, comm);
            options.overlap = s.overlap;
            return trained(true, options, s.batches);
        }, s.per_node));
        if (!hashes.empty()) CHECK(together(hashes) == at->second);
    }
}

TEST_CASE("however the parts of a step are cut onto ranks, they have the same bits", "[distributed]") {
    // The parts of the last rank are one node of the tree, of which some parts are missing.
    std::vector<Split> incomplete;
    for (auto const& [ranks, parts] : std::vector<std::pair<int, std::int64_t>>{{3, 7}, {3, 8}, {3, 13}, {3, 25}, {5, 11}, {5, 21}, {7, 15}, {7, 29}})
        incomplete.push_back({ranks, 0, parts, 2 * parts, true});
    same_bits_of(incomplete);
    std::vector<Split> all;
    for (std::int64_t parts = 1; parts <= 30; ++parts) {
        for (std::int64_t const batches : {2 * parts, parts + parts / 2 + 1}) {
            for (int ranks = 1; ranks <= 8; ++ranks) {
                for (bool const overlap : {false, true}) all.push_back({ranks, static_cast<int>(parts + ranks) % 4, parts, batches, overlap});
            }
        }
    }
    same_bits_of(test::sample(all, 32));
}

/// Trains a net on these batches, of which those below 0 have no rows: the hash of the rows of this rank, and of all else.
Hash trained_on(std::vector<std::int64_t> const& numbers, bool shards, TrainOptions options) {
    Net1 const net(shards);
    std::vector<Feeds> data;
    for (std::int64_t const i : numbers) data.push_back(i < 0 ? no_rows() : batch(i));
    bool right = true;
    options.on_batch = [&](BatchReport const& r) { right = right && (r.rows == 0) == (r.cost == 0); };
    auto const learned = train(net.cost, [&](std::int64_t) { return data; }, options);
    return right ? hash_of(learned) : Hash{};
}

TEST_CASE("steps in which no loss has a row leave no trace on ranks, and parts without rows may be anywhere", "[distributed]") {
    // 3 parts make a step: those of all ranks, of some or of one lack rows; the last step is one that all ranks run.
    std::vector<std::int64_t> const with{-1, -1, -1, 0, 1, 2, -1, 3, -1, -1, -1, -1, 4, -1, 5, -1, -1, 6, -1, -1, -1, 7, -1, -1, -1},
        without{0, 1, 2, -1, 3, -1, 4, -1, 5, -1, -1, 6, 7, -1, -1};
    for (bool const deferred : {false, true}) {
        for (bool const overlap : {false, true}) {
            CAPTURE(deferred, overlap);
            auto const run = [&](std::vector<std::int64_t> const& numbers, bool shards, layer::Comm const& comm) {
                auto options = options_for(3, comm);
                options.overlap = overlap;
                options.check_every = 2;
                options.schedule = layer::CosineDecay{.steps = 20};
                if (deferred) options.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.05}};
                return trained_on(numbers, shards, options);
            };
            same_bits([&](bool shards, layer::Comm const& comm) { return run(with, shards, comm); });
            same_bits([&](bool shards, layer::Comm const& comm) { return run(with, shards, comm); }, {4}, 2);
            CHECK(run(with, false, {}) == run(without, false, {}));
        }
    }
    // whole steps alone, of one part and of several
    for (std::int64_t const parts : {1, 4}) {
        same_bits([&](bool shards, layer::Comm const& comm) {
            auto options = options_for(parts, comm);
            options.overlap = parts != 1;
            return trained_on({-1, -1, -1, -1, -1}, shards, options);
        });
    }
}

TEST_CASE("a sharded table of height 0 is trained beside others", "[distributed]") {
    for (std::int64_t const parts : {1, 2}) {
        same_bits([&](bool shards, layer::Comm const& comm) {
            Scope scope;
            ScopeGuard const guard(scope);
            auto const words = layer::data<std::int64_t>("bags", {UNK}, 1);
            auto const bags = layer::embedding_bag(words, {.height = 0, .width = 2, .name = "small", .sharded = shards}, {});
            auto const error = layer::fc(bags, {.output_size = 2, .name = "fc"}) - layer::data<float>("y", {UNK, 2});
            std::vector<Feeds> data;
            for (std::size_t n : {2U, 0U, 1U, 3U, 0U, 0U}) {
                data.push_back({{"bags", LoDTensor<std::int64_t>(Tensor<std::int64_t>::from_shape({0}), Lod{std::vector<std::int64_t>(n + 1)})},
                                {"y", Tensor<float>::full({n, 2}, 0.5F * static_cast<float>(n))}});
            }
            auto options = options_for(parts, comm);
            options.overlap = true;
            return hash_of(train(layer::reduce_mean(error * error), [&](std::int64_t) { return data; }, options));
        });
    }
}

TEST_CASE("every optimizer has the bits of a whole table on shards", "[distributed]") {
    for (layer::Optimizer const& optimizer :
         {layer::Optimizer(layer::Sgd{}), layer::Optimizer(layer::AdaGrad{}), layer::Optimizer(layer::RowwiseAdaGrad{}),
          layer::Optimizer(layer::Momentum{}), layer::Optimizer(layer::AdamW{}), layer::Optimizer(layer::RmsProp{}),
          layer::Optimizer(layer::Adamax{}), layer::Optimizer(layer::Adadelta{}), layer::Optimizer(layer::Ftrl{})}) {
        same_bits([&](bool shards, layer::Comm const& comm) {
            auto options = options_for(3, comm);
            options.optimizer = optimizer;
            return trained(shards, options, 4);
        });
    }
}

TEST_CASE("lamb has the same bits for any number of ranks, and refuses a table of which a rank has some rows", "[distributed]") {
    auto const run = [](bool shards, layer::Comm const& comm) {
        auto options = options_for(3, comm);
        options.optimizer = layer::Lamb{.learning_rate = 0.05};
        return trained(shards, options, 4);
    };
    Hash const want = run(false, layer::Comm());
    for (int const n : test::group_sizes({1, 3})) {
        for (Hash const& of_rank : test::on_ranks(n, [&](auto const& comm) { return run(false, comm); })) CHECK(of_rank == want);
    }
    CHECK_THROWS_WITH(run(true, layer::Comm()), "an optimizer that updates all rows: table is SelectedRows<f32>, expected a LoDTensor");
}

TEST_CASE("gradients of shards are clipped as those of a whole table", "[distributed]") {
    for (layer::GradientClip const& clip : {layer::GradientClip(layer::ClipByGlobalNorm{.max_norm = 0.05}),
                                            layer::GradientClip(layer::ClipByNorm{.max_norm = 0.02}),
                                            layer::GradientClip(layer::ClipByValue{-0.01, 0.01})}) {
        same_bits([&](bool shards, layer::Comm const& comm) {
            auto options = options_for(3, comm);
            options.clip = clip;
            return trained(shards, options, 4);
        });
    }
}

TEST_CASE("steps of one part have the bits of a training without parts, rows that repeat too", "[distributed]") {
    Net1 const net(false);
    auto options = options_for(1);
    options.optimizer = layer::Sgd{.learning_rate = 0.001};  // rows that repeat are subtracted in order
    options.parts = {};
    auto const want = hash_of(train(
        net.cost, [](std::int64_t) { return batches(0, 4); }, options));
    for (int const n : {1, 3}) {
        auto const all = test::on_ranks(n, [&](auto const& comm) {
            auto mine = options;
            mine.comm = comm;
            mine.parts = 1;
            return trained(true, mine, 4);
        });
        CHECK(together(all) == want);
    }
}

TEST_CASE("sharded tables of bfloat16 and double, next to each other, have the bits of whole ones", "[distributed]") {
    auto data = batches(0, 4);
    for (auto& feeds : data) {
        feeds.erase("bags");
        feeds.erase("weights");
        auto kinds = Tensor<std::int32_t>::zeros({feeds.at("ids").value().rows()});
        kinds(0) = 6;
        feeds.emplace("kinds", kinds);
    }
    // of 4 parts, two ranks have one sum of a gradient each, which goes back as it was fetched; one table has a row without a gradient
    for (std::int64_t const parts : {3, 4}) same_bits([&](bool shards, layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        auto const half =
            layer::embedding_table<bfloat16>({.height = height, .width = 2, .name = "table", .sharded = shards});
        auto const wide = layer::embedding_table<double>({.height = 7, .width = 2, .name = "small", .sharded = shards});
        auto const rows = layer::cast<float>(layer::embedding(ids, half)) +
                          layer::cast<float>(layer::embedding(layer::data<std::int32_t>("kinds", {UNK}), wide, {.padding_id = 6}));
        auto const error = rows - layer::data<float>("y", {UNK, 2});
        return hash_of(train(
            layer::reduce_mean(error * error), [&](std::int64_t) { return data; }, options_for(parts, comm)));
    });
}

TEST_CASE("forty sharded tables, of which some have rows without a gradient, have the bits of whole ones", "[distributed]") {
    for (bool const overlap : {false, true}) {
        same_bits([&](bool shards, layer::Comm const& comm) {
            Scope scope;
            ScopeGuard const guard(scope);
            auto const ids = layer::data<std::int64_t>("ids", {UNK});
            std::vector<layer::Var<float>> all;
            for (std::int64_t t = 0; t < 40; ++t)
                all.push_back(layer::embedding(ids, {.height = 70, .width = 1, .padding_id = t % 3 == 0 ? std::optional<std::int64_t>(2) : std::nullopt, .name = "tables_" + std::to_string(t), .sharded = shards, .placement = {.block = 3}}));
            std::vector<Feeds> batches;
            for (std::int64_t i = 0; i < 7; ++i) batches.push_back({{"ids", std::vector<std::int64_t>{i, 2, 9 * i + 5}}});
            auto options = options_for(3, comm);
            options.overlap = overlap;
            auto const error = layer::concat(all, {.axis = 1}) - 1.0F;
            return hash_of(train(layer::reduce_mean(error * error), [&](std::int64_t) { return std::span(batches); }, options));
        }, {3});
    }
}

TEST_CASE("rows without a gradient do not move on any rank", "[distributed]") {
    // Row 6 is fetched in every step, as padding, and has a gradient in the first batch alone: a gradient of 0 would move it later.
    std::vector<Feeds> data;
    for (std::int64_t i = 0; i < 6; ++i) {
        std::vector<std::int32_t> const padded{6, static_cast<std::int32_t>(i % 4)}, others{i == 0 ? 6 : 1, 2};
        data.push_back({{"padded", padded}, {"others", others}, {"y", Tensor<float>{{1, 2}, {3, static_cast<float>(i)}}}});
    }
    for (std::int64_t const parts : {2, 4}) same_bits([&](bool shards, layer::Comm const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const table = layer::embedding_table({.height = 7, .width = 2, .name = "small", .sharded = shards});
        auto const rows = layer::embedding(layer::data<std::int32_t>("padded", {UNK}), table, {.padding_id = 6}) +
                          layer::embedding(layer::data<std::int32_t>("others", {UNK}), table);
        auto const error = rows - layer::data<float>("y", {UNK, 2});
        return hash_of(train(
            layer::reduce_mean(error * error), [&](std::int64_t) { return data; }, options_for(parts, comm)));
    });
}

TEST_CASE("a rank fetches the rows of its own batches alone", "[distributed]") {
    auto const data = batches(0, 4);
    Net1 const alone(false);
    Trainer whole(alone.cost, options_for(4));
    whole.step(data);
    auto const all = test::on_ranks(2, [&](auto const& comm) {
        Net1 const net(true);
        Trainer trainer(net.cost, options_for(4, comm));
        auto mine = data;
        std::size_t const other = comm.rank() == 0 ? 2 : 0;
        if (comm.size() > 1) mine[other] = mine[other + 1] = Feeds{};
        trainer.step(mine);
        return hash_of(trainer.parameters());
    });
    CHECK(together(all) == hash_of(whole.parameters()));
}

/// Calls f(comm, trainer) on 3 ranks. It throws on all, on some with `text`. Then a step has the bits of one on one
/// process: nothing has changed.
template <class F>
void refused(std::string const& text, F const& f) {
    Net1 const alone(false);
    Trainer one(alone.cost, options_for(4));
    one.step(batches(0, 4));
    struct Result {
        Hash hash;
        int thrown = 0, said = 0;
    };
    auto const all = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net(true);
        Trainer trainer(net.cost, options_for(4, comm));
        Result r;
        try {
            f(comm, trainer);
        } catch (Error const& e) {
            r.thrown = 1;
            r.said = std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
        }
        trainer.step(batches(0, 4));
        r.hash = hash_of(trainer.parameters());
        return r;
    });
    CAPTURE(text);
    std::vector<Hash> hashes;
    for (Result const& r : all) {
        CHECK((r.thrown == 1 && r.said == 1));
        hashes.push_back(r.hash);
    }
    CHECK(together(hashes) == hash_of(one.parameters()));
}

TEST_CASE("a bad batch on one rank is an error on all, and nothing has changed", "[distributed][errors]") {
    auto const with = [](std::size_t i, auto const& change) {
        auto all = batches(0, 4);
        change(all[i]);
        return all;
    };
    refused("ids[0] = 300 is not in [0, 300)", [&](auto const&, auto& trainer) {
        trainer.step(with(2, [](Feeds& f) { f.insert_or_assign("ids", std::vector<std::int64_t>{300, 1, 1}); }));
    });
    refused("the batch has no \"bags\"; it has ",
            [&](auto const&, auto& trainer) { trainer.step(with(0, [](Feeds& f) { f.erase("bags"); })); });
    refused("y", [&](auto const&, auto& trainer) {  // found when the net runs, after rows have been fetched
        trainer.step(with(3, [](Feeds& f) { f.insert_or_assign("y", Tensor<float>::zeros({1, 2})); }));
    });
    refused("has another number of batches for a step than", [&](auto const& comm, auto& trainer) {
        trainer.step(batches(0, comm.rank() == 0 && comm.size() > 1 ? 1 : 4));
        if (comm.size() == 1) throw Error("has another number of batches for a step than");
    });
}

TEST_CASE("an epoch with fewer batches on one rank is an error on all, with a sharded table", "[distributed][errors]") {
    auto const said = test::on_ranks(2, [](auto const& comm) {
        Net1 const net(true);
        auto const reader = [&](std::int64_t) { return batches(0, comm.rank() == 0 ? 4 : 2); };
        try {
            train(net.cost, reader, {.comm = comm, .parts = 2});
        } catch (Error const& e) {
            return std::string(e.what()).find("another number of batches") != std::string::npos ? 1 : 0;
        }
        return 0;
    });
    for (int const right : said) CHECK(right == 1);
}

TEST_CASE("what is bad in the batches of the next step is an error of that step", "[distributed][errors]") {
    for (bool const overlap : {false, true}) {
        auto const steps = test::on_ranks(3, [&](auto const& comm) {
            Net1 const net(true);
            auto options = options_for(3, comm);
            options.overlap = overlap;
            int made = 0;
            options.on_batch = [&](BatchReport const&) { ++made; };
            auto all = batches(0, 9);
            all[7].insert_or_assign("ids", std::vector<std::int64_t>(all[7].find("ids")->second.value().rows(), 300));
            auto const says = [&](char const* text, auto const& reader) {
                made = 0;
                try {
                    train(net.cost, reader, options);
                } catch (std::exception const& e) {
                    if (std::string(e.what()).find(text) != std::string::npos) return made;
                }
                return -1;
            };
            int const of_id = says("ids[0] = 300 is not in [0, 300)", [&](std::int64_t) { return all; });
            return 10 * of_id + says("no more", [&](std::int64_t) {
                return std::views::iota(std::int64_t{0}, std::int64_t{9}) | std::views::transform([&](std::int64_t i) {
                           if (comm.rank() == 0 && i == 4) throw Error("no more");
                           return batch(i);
                       });
            });
        });
        for (int const made : steps) CHECK(made == 21);
    }
}

TEST_CASE("a sharded table that is not looked up by data is a GraphError", "[distributed][errors]") {
    auto const says = [](std::string const& text, auto const& make) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
        auto const table = layer::embedding_table({.height = 9, .width = 2, .name = "table", .sharded = true});
        CAPTURE(text);
        try {
            Trainer<float> const trainer(layer::reduce_mean(make(ids, table)));
            FAIL("no error");
        } catch (GraphError const& e) {
            CHECK(std::string(e.what()).find(text) != std::string::npos);
        }
    };
    says("the sharded table table is looked up with ids that are computed",
         [](auto const& ids, auto const& table) { return layer::embedding(ids + ids, table); });
    for (bool const computed : {false, true}) {
        says(computed ? "the sharded table table is looked up with ids that are computed" : "the sharded table table is read by scale", [=](auto const& ids, auto const& table) {
            return layer::rnn<float>(ids, 2, [&](auto id, auto state) {
                auto const next = (computed ? layer::embedding(id + id, table) : layer::embedding(id, layer::scale(table, 2))) + state;
                return layer::Step{next, next};
            });
        });
    }
    Scope scope;
    ScopeGuard const guard(scope);
    CHECK_THROWS_AS(
        layer::embedding_table({.height = 9, .width = 2, .rows = std::vector<std::int64_t>{1}, .sharded = true}),
        GraphError);
}

TEST_CASE("parameters of other ranks are refused", "[distributed][errors]") {
    Net1 const net(true);
    auto const whole = Trainer(net.cost, options_for(4)).parameters();
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const mine(true);
        auto options = options_for(4, comm);
        options.resume = &whole;
        try {
            Trainer const trainer(mine.cost, options);
        } catch (Error const& e) {
            return std::string(e.what()).find("as load_parameters(comm, …) gives them") != std::string::npos ? 1 : 0;
        }
        return comm.size() == 1 ? 1 : 0;
    });
    for (int const r : right) CHECK(r == 1);
}

TEST_CASE("sharded tables that differ between ranks are an error on all", "[distributed][errors]") {
    auto const right = test::on_ranks(3, [](auto const& comm) {
        Scope scope;
        ScopeGuard const guard(scope);
        std::int64_t const own = 9 + (comm.rank() == comm.size() - 1 ? comm.rank() : 0);
        auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}),
                                           {.height = own, .width = 2, .name = "table", .sharded = true});
        Feeds const feeds{{"ids", std::vector<std::int64_t>{1}}};
        int refusals = 0;
        auto const refuses = [&](char const* text, auto const& f) {
            try {
                f();
                if (comm.size() == 1) ++refusals;
            } catch (Error const& e) {
                refusals += std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
        };
        refuses("train: table is SelectedRows<f32>[11, 2] on rank 2, SelectedRows<f32>[9, 2] on rank 0",
                [&] { Trainer<float> const trainer(layer::reduce_mean(rows), options_for(4, comm)); });
        std::vector<std::int64_t> mine;  // as many as this rank has of a table of this height
        if (comm.rank() == 0) {
            for (std::int64_t i = 0; i < own; ++i) mine.push_back(i);
        }
        Value value;
        value.set(SelectedRows<float>(own, mine, Tensor<float>::zeros({mine.size(), 2})));
        Parameters parameters;
        parameters.set("table", std::move(value));
        refuses("infer: the sharded table table is f32[11, 2] on rank 2, f32[9, 2] on rank 0", [&] { infer(comm, rows, feeds, parameters); });
        return refusals;
    });
    for (int const r : right) CHECK(r == 2);
}

TEST_CASE("infer refuses a table of which ranks have other rows than the net says", "[distributed][errors]") {
    auto const said = test::on_ranks(2, [&](auto const& comm) {
        Net1 const net(true, {.block = 150}), other(true, {.block = 50});  // as many on each rank
        auto const learned = train(net.cost, [&](std::int64_t) { return batches(0, 3); }, options_for(3, comm));
        try {
            infer(comm, other.predict, batch(1), learned);
        } catch (Error const& e) {
            return std::string(e.what()).find("where the table is placed as in this net") != std::string::npos ? 1 : 0;
        }
        return comm.size() == 1 ? 1 : 0;
    });
    for (int const s : said) CHECK(s == 1);
}

TEST_CASE("infer on ranks, each with its batch, gives what one process gives", "[distributed]") {
    auto const options = options_for(3);
    Net1 const net(false);
    auto const whole = train(
        net.cost, [](std::int64_t) { return batches(0, 4); }, options);
    for (int const n : {1, 2, 4}) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            Net1 const mine(true);
            auto with = options;
            with.comm = comm;
            auto const learned = train(
                mine.cost, [](std::int64_t) { return batches(0, 4); }, with);
            auto const data = batch(20 + comm.rank());
            int right_ones = infer(comm, mine.predict, data, learned) == infer(net.predict, data, whole) ? 1 : 0;
            auto bad = data;
            if (comm.rank() == comm.size() - 1) bad.insert_or_assign("ids", std::vector<std::int64_t>{-1});
            try {
                infer(comm, mine.predict, bad, learned);
            } catch (Error const& e) {
                right_ones += std::string(e.what()).find("ids[0] = -1 is not in [0, 300)") != std::string::npos ? 2 : 0;
            }
            return right_ones;
        });
        CAPTURE(n);
        for (int const r : right) CHECK(r == 3);
    }
}

TEST_CASE("ranks infer together when an epoch has ended", "[distributed]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        Net1 const net(true);
        auto options = options_for(3, comm);
        LoDTensor<float> last;
        auto const data = batch(20 + comm.rank());
        options.on_epoch = [&](std::int64_t, Parameters const& now) { last = infer(comm, net.predict, data, now); };
        auto const learned = train(
            net.cost, [](std::int64_t) { return batches(0, 4); }, options);
        return infer(comm, net.predict, data, learned) == last ? 1 : 0;
    });
    for (int const r : right) CHECK(r == 1);
}

}  // namespace test_sharded_train
