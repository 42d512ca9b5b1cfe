// tests/train/prefetch.cpp
#include <rowan/train/prefetch.hpp>

#include "forked.hpp"
#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/train.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace test_prefetch {

namespace {

using namespace rowan;

Feeds batch(std::int64_t i) {
    auto const x = static_cast<float>(i % 7);
    return {{"x", Tensor<float>{{x, 1}, {2, x}}}, {"y", Tensor<float>{{x}, {1}}}};
}

/// Makes the batches of an epoch one by one, and fails at one of them.
struct Made {
    std::int64_t first, count, fails = -1;
    std::atomic<std::int64_t>* made = nullptr;

    struct iterator {
        using value_type = Feeds;
        using difference_type = std::ptrdiff_t;
        Made const* of;
        std::int64_t i;
        Feeds operator*() const {
            if (i == of->fails) throw std::runtime_error("no batch " + std::to_string(i));
            if (of->made != nullptr) ++*of->made;
            return batch(of->first + i);
        }
        iterator& operator++() {
            ++i;
            return *this;
        }
        bool operator==(iterator const& other) const { return i == other.i; }
    };
    iterator begin() const { return {this, 0}; }
    iterator end() const { return {this, count}; }
};

layer::Var<float> cost_of() {
    return layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 1}), layer::data("y", {UNK, 1}));
}

}  // namespace

TEST_CASE("prefetched batches are those of the reader, in their order, from another thread", "[layer]") {
    auto const reader = [](std::int64_t epoch) { return Made{10 * epoch, 5 + epoch}; };
    for (std::int64_t const n : {1, 2, 100}) {
        for (std::int64_t const parts : {1, 3}) {
            auto const run = [&](auto const& from) {
                test::DefaultScope scope;
                return train(cost_of(), from, {.parts = parts, .epochs = 3}).template get<float>("fc_0.w_0");
            };
            CHECK(run(prefetch(reader, n)) == run(reader));
        }
    }
    std::thread::id made_by;
    auto const asks = prefetch([&](std::int64_t) {
        made_by = std::this_thread::get_id();
        return std::vector{batch(1)};
    });
    std::int64_t seen = 0;
    for (Feeds const& feeds : asks(0)) seen += static_cast<std::int64_t>(feeds.size());
    CHECK(seen == 2);
    CHECK(made_by != std::this_thread::get_id());
    for (Feeds const& feeds : prefetch([](std::int64_t) { return std::vector<Feeds>(); })(0)) CHECK(feeds.empty());
    CHECK_THROWS_WITH(prefetch(reader, 0), "prefetch: batches is 0, expected 1 or more");
    CHECK_THROWS_AS(prefetch(reader, -1), ValueError);
}

TEST_CASE("what a prefetched reader throws arrives after the batches before", "[layer]") {
    for (std::int64_t const fails : {0, 2, 4}) {
        test::DefaultScope scope;
        std::int64_t steps = 0;
        auto const reader = prefetch([=](std::int64_t) { return Made{0, 5, fails}; }, 3);
        CHECK_THROWS_WITH(train(cost_of(), reader, {.on_batch = [&](BatchReport const&) { ++steps; }}),
                          "no batch " + std::to_string(fails));
        CHECK(steps == fails);
    }
    auto const refuses = prefetch([](std::int64_t) -> std::vector<Feeds> { throw std::runtime_error("no epoch"); });
    test::DefaultScope scope;
    CHECK_THROWS_WITH(train(cost_of(), refuses), "no epoch");
}

TEST_CASE("a training that ends early ends a prefetched reader, which is at most n batches ahead", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of();
    std::atomic<std::int64_t> made = 0;
    auto const reader = prefetch([&](std::int64_t) { return Made{0, 1'000'000, -1, &made}; }, 2);
    CHECK(train(cost, reader, {.on_batch = [](BatchReport const& r) { return r.batch < 3; }}).steps == 4);
    CHECK(made <= 7);  // four steps, two ahead, one being made
    made = 0;
    CHECK_THROWS_WITH(train(cost, reader, {.on_batch = [](BatchReport const&) { throw std::runtime_error("enough"); }}),
                      "enough");
    CHECK(made <= 4);
    static_cast<void>(reader(0));  // never iterated
}

TEST_CASE("a process that is forked while batches are made refuses the next one, and makes its own", "[layer]") {
    auto const reader = prefetch([](std::int64_t) { return Made{0, 4}; }, 2);
    for (std::int64_t const taken : {0, 1, 4}) {
        auto batches = std::make_unique<decltype(reader(0))>(reader(0));
        auto at = batches->begin();
        for (std::int64_t i = 1; i < taken; ++i) ++at;
        CHECK(forked::succeeds_beside_threads([&] {
            try {
                ++at;
                return false;
            } catch (Error const& e) {
                if (std::string(e.what()).find("is not in this process") == std::string::npos) return false;
            }
            batches.reset();
            std::int64_t count = 0;
            for (Feeds const& feeds : reader(0)) count += static_cast<std::int64_t>(feeds.size());
            return count == 8;
        }));
    }
}

}  // namespace test_prefetch
