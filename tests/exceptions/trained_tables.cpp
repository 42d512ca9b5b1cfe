// tests/exceptions/trained_tables.cpp: the n-th allocation of a step fails: tables by keys have the keys from before.
#include <rowan/train/keyed.hpp>
#include <rowan/own_operator.hpp>

#include "catch.hpp"
#include "failing_new.hpp"
#include "layer/check_net.hpp"

#include <rowan/core/kept_memory.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace test_trained_tables_exceptions {

using namespace rowan;

namespace {

/// The parts of all tables, but for their rows.
std::map<std::string, std::vector<std::byte>> keys_of(Trainer<> const& trainer) {
    std::map<std::string, std::vector<std::byte>> all;
    for (auto const& [name, value] : trainer.parameters()) {
        if (name.find('#') == std::string::npos) continue;
        auto const bytes = Value(value.share()).elements().bytes;
        all[name].assign(bytes.begin(), bytes.end());
    }
    return all;
}

}  // namespace

TEST_CASE("out of memory: a step leaves the keys of its tables", "[exceptions][train][keyed]") {
    bool const deferred = GENERATE(false, true);
    limit_kept_memory(0);
    test::DefaultScope const scope;
    auto const users = layer::data<std::string>("users", {UNK});
    auto const items = layer::data<std::int64_t>("items", {UNK});
    layer::Keyed const kind{.sightings = 2, .eviction = {.idle = 2, .most = 3}};
    auto const cost = layer::mean(layer::mul(layer::embedding(users, {.width = 2, .name = "u", .kind = kind}),
                                             layer::embedding(items, {.width = 2, .name = "i", .kind = kind})));
    TrainOptions options{.optimizer = layer::AdaGrad{}};
    if (deferred) options.optimizer = layer::Deferred{layer::Adam{}};
    Trainer<> trainer(cost, options);
    using Texts = std::vector<std::string>;
    auto const batch = [](std::int64_t k) {
        std::string const name = "a long name, which is not stored in the string itself " + std::to_string(k);
        return Feeds{{"users", Texts{name, "b", name, "b"}}, {"items", Tensor<std::int64_t>{k, k, k + 1, 7}}};
    };
    for (std::int64_t k = 0; k < 4; ++k) trainer.step(batch(k));
    auto const next = batch(9);
    auto const before = keys_of(trainer);
    std::size_t n = 0;
    for (bool fails = true; fails;) {
        test::fail_allocation(++n);
        try {
            trainer.step(next);
            fails = false;
        } catch (std::bad_alloc const&) {
        }
        test::fail_allocation(0);
        if (!fails) break;
        INFO("allocation " << n);
        CHECK(trainer.steps() == 4);
        CHECK(keys_of(trainer) == before);
    }
    CHECK(n > 30);
    CHECK(trainer.steps() == 5);
    CHECK(keys_of(trainer) != before);
}

}  // namespace test_trained_tables_exceptions
