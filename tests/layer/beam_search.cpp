// tests/layer/beam_search.cpp: beam search of a small model against the search of all its sequences.
#include <rowan/layer/beam_search.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/while_loop.hpp>
#include <rowan/op/sequence/beam_search.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace test_beam_search {

namespace {

using namespace rowan;
using Ids64 = LoDTensor<std::int64_t>;
using Sentence = std::vector<std::int64_t>;
using Hypothesis = std::pair<double, Sentence>;

constexpr std::int64_t end = 1;
constexpr std::size_t tokens = 4, steps = 4;

/// All sequences that begin with `prefix`, with their scores: up to `steps` tokens more, none after the end.
void all(Tensor<double> const& table, Hypothesis const& prefix, std::size_t left, std::vector<Hypothesis>& to) {
    if (left == 0 || prefix.second.back() == end) return to.push_back(prefix);
    for (std::size_t k = 0; k < tokens; ++k) {
        auto next = prefix;
        next.first += table(static_cast<std::size_t>(prefix.second.back()), k);
        next.second.push_back(static_cast<std::int64_t>(k));
        all(table, next, left - 1, to);
    }
}

}  // namespace

TEST_CASE("a beam search that is wide enough finds the most probable sequences, in a loop of a net", "[layer]") {
    test::DefaultScope scope;
    auto const table = layer::data<double>("table", {UNK, tokens}), total = layer::data<double>("total", {UNK}, 1);
    auto const first = layer::data<std::int64_t>("first", {UNK}, 1), token = layer::data<std::int64_t>("token", {UNK}, 1);
    auto const [i, prefixes, last, scores] = layer::while_loop(
        std::tuple(layer::full<std::int64_t>({1}, 0), first, token, total),
        [](auto k, auto, auto ids, auto) { return layer::logical_and(layer::less(k, steps), layer::any(layer::logical_not(layer::equal(ids, end)))); },
        [&](auto k, auto words, auto ids, auto sum) {
            auto const rows = layer::lod_reset(layer::pick_sequences(table, layer::drop_levels(ids)), ids);
            auto const beam = layer::beam_search(words, rows, sum, {.beam_size = 60, .end_id = end});
            return std::tuple(layer::scale(k, 1, 1), beam.prefixes, beam.last, beam.scores);
        });
    auto const decoded = layer::beam_search_decode(prefixes, scores);
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
        Tensor<double> const model = test::values({tokens, tokens}, seed);
        Feeds const feeds{{"table", model}, {"first", Ids64({0, 2}, Lod{{0, 1, 2}})}, {"token", Ids64({0, 2}, Lod{{0, 1, 2}})}, {"total", LoDTensor<double>({0, 0}, Lod{{0, 1, 2}})}};
        auto const sentences = test::run(decoded.sentences, feeds);
        auto const found = test::run(decoded.scores, feeds);
        REQUIRE(sentences.lod().levels() == 2);
        for (std::size_t s = 0; s < 2; ++s) {
            std::vector<Hypothesis> want;
            all(model, {0, {s == 0 ? 0 : 2}}, steps, want);
            std::ranges::stable_sort(want, [](auto const& a, auto const& b) { return a.first > b.first; });
            for (std::size_t k = 0; k < 3; ++k) {  // 60 hypotheses are all that do not end early, so the best are exact
                auto const h = static_cast<std::size_t>(sentences.lod()[0][s]) + k;
                auto const from = sentences.lod()[1][h], to = sentences.lod()[1][h + 1];
                Sentence const sentence(sentences.value().data() + from, sentences.value().data() + to);
                auto const same = std::ranges::find(want, sentence, &Hypothesis::second);  // others may have the same score
                REQUIRE(same != want.end());
                CHECK(std::abs(found.value()(h) - same->first) < 1e-14);
                CHECK(std::abs(found.value()(h) - want[k].first) < 1e-14);
            }
        }
    }
}

TEST_CASE("a step of a beam search keeps the best extensions of each source, and hypotheses that have ended", "[layer]") {
    Ids64 const prefixes({0, 5, 0, end, 0, 3}, Lod{{0, 2, 4, 6}});
    LoDTensor<double> const rows({{-1, -9, -2}, {9, 9, 9}, {-4, -4, -3}}, Lod{{0, 2, 2, 3}});
    Tensor<double> const scores{-1, -2.5, -10};
    auto const [words, last, totals, parents] = beam_search(Cpu{}, prefixes, rows, scores, {.beam_size = 2, .end_id = end});
    CHECK((words == Ids64({0, 5, 0, 0, end, 0, 3, 2, 0, 3, 0}, Lod{{0, 3, 5, 8, 11}})));
    CHECK((last == Ids64({0, end, 2, 0}, Lod{{0, 2, 2, 4}})));
    CHECK((totals == LoDTensor<double>({-2, -2.5, -13, -14}, Lod{{0, 2, 2, 4}})));
    CHECK(parents == Tensor<std::int64_t>{0, 1, 2, 2});
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const bad = beam_search(Cpu{}, Ids64({0}, Lod{{0, 1}}), LoDTensor<double>({{nan, 1, 2}}, Lod{{0, 1}}), Tensor<double>{0}, {.beam_size = 2});
    CHECK(std::get<1>(bad).value() == Tensor<std::int64_t>{2, 1});
    auto const [sorted, sorted_scores] = beam_search_decode(Cpu{}, Ids64({7, 8, 8, 9}, Lod{{0, 1, 3, 4}}), LoDTensor<double>({-2, -1, -3}, Lod{{0, 2, 3}}));
    CHECK((sorted == Ids64({8, 8, 7, 9}, Lod{{0, 2, 3}, {0, 2, 3, 4}})));
    CHECK(sorted_scores.value() == Tensor<double>{-1, -2, -3});

    CHECK_THROWS_WITH(beam_search(Cpu{}, prefixes, rows, scores, {.beam_size = 0}), "beam_size is 0, expected 1 or more");
    CHECK_THROWS_WITH(beam_search(Cpu{}, prefixes, rows, Tensor<double>{1}), "scores.shape(0) is 1, expected 3");
    CHECK_THROWS_WITH(beam_search(Cpu{}, Ids64({0}, Lod{{0, 1}}), rows, scores), "log_probability.shape(0) is 3, expected 1");
    CHECK_THROWS_WITH(beam_search(Cpu{}, Ids64({0, 1, 2}), rows, scores), "prefixes.lod().levels() is 0, expected 1");
    CHECK_THROWS_WITH(beam_search_decode(Cpu{}, prefixes, rows), "scores rank is 2, expected 1");
}

}  // namespace test_beam_search
