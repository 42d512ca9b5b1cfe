// tests/train/entity_f1.cpp: precision, recall and F1 of entities, against the values of seqeval and by hand.
#include <rowan/train/entity_f1.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace test_entity_f1 {

using namespace rowan;
using Tags = Tensor<std::int64_t>;

TEST_CASE("EntityF1 has the values of seqeval's documentation", "[layer][golden]") {
    // MISC PER; O O O B-MISC I-MISC I-MISC O | B-PER I-PER O against O O B-MISC I-MISC I-MISC I-MISC O | B-PER I-PER O
    EntityF1 metric(TagScheme::iob, 2);
    CHECK((metric.f1() == 0 && metric.precision(1) == 0));
    Lod const lod{{0, 7, 10}};
    LoDTensor<std::int64_t> const label(Tags{4, 4, 4, 0, 1, 1, 4, 2, 3, 4}, lod);
    metric.update(LoDTensor<std::int64_t>(Tags{{4}, {4}, {0}, {1}, {1}, {1}, {4}, {2}, {3}, {4}}, lod), label);
    CHECK((metric.precision() == 0.5 && metric.recall() == 0.5 && metric.f1() == 0.5));
    CHECK((metric.f1(0) == 0 && metric.precision(1) == 1 && metric.recall(1) == 1 && metric.f1(1) == 1));
    metric.update(Tensor<std::int32_t>{0, 0, 2}, Tags{0, 0, 4});
    CHECK((metric.right() == 3 && metric.predicted() == 5 && metric.labelled() == 4));
    CHECK((metric.precision() == 0.6 && metric.recall() == 0.75 && metric.f1() == 6.0 / 9));
    metric.reset();
    CHECK(metric.labelled() == 0);
}

TEST_CASE("an entity ends where the sequence, its type or its place says so, in each scheme", "[layer]") {
    struct Case {
        TagScheme scheme;
        std::vector<std::int64_t> tags;
        std::vector<std::pair<std::size_t, std::size_t>> entities;  // [begin, end)
    };
    auto const plain = TagScheme::plain, iob = TagScheme::iob, ioe = TagScheme::ioe, iobes = TagScheme::iobes;
    for (Case const& c : {Case{plain, {}, {}}, Case{plain, {2, 0, 0, 1, 2, 1}, {{1, 3}, {3, 4}, {5, 6}}},
                          Case{iob, {4, 4}, {}}, Case{iob, {1, 1, 0, 0, 1}, {{0, 2}, {2, 3}, {3, 5}}},  // I I B B I
                          Case{iob, {0, 3, 3, 1}, {{0, 1}, {1, 3}, {3, 4}}},                            // other types
                          Case{ioe, {0, 1, 1, 0, 0}, {{0, 2}, {2, 3}, {3, 5}}},                         // I E E I I
                          Case{iobes, {0, 1, 2, 3, 3, 0, 2}, {{0, 3}, {3, 4}, {4, 5}, {5, 7}}},         // B I E S S B E
                          Case{iobes, {1, 2, 2, 1, 0, 3, 1, 8, 2}, {{0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {8, 9}}},
                          Case{iobes, {0, 5, 6, 2}, {{0, 1}, {1, 3}, {3, 4}}}}) {
        CAPTURE(static_cast<int>(c.scheme), c.tags);
        std::int64_t const places = c.scheme == plain ? 1 : c.scheme == iobes ? 4 : 2;
        auto const begin = c.scheme == ioe ? 0 : c.scheme == iobes ? 3 : 0;  // S, or a tag that is an entity alone
        Tags const tags(c.tags);
        EntityF1 metric(c.scheme, 2);
        metric.update(tags, tags);
        CHECK(metric.labelled() == static_cast<std::int64_t>(c.entities.size()));
        CHECK(metric.right() == metric.predicted());
        for (auto const& [first, last] : c.entities) {  // each is found alone, and is wrong if it is shorter
            std::vector<std::int64_t> one(c.tags.size(), 2 * places);
            for (std::size_t i = first; i < last; ++i) one[i] = c.tags[i];
            metric.reset();
            metric.update(tags, Tags(one));
            CHECK((metric.right() == 1 && metric.labelled() == 1));
            one[first] = last - first > 1 ? 2 * places : begin + (c.tags[first] < places ? places : 0);
            metric.reset();
            metric.update(tags, Tags(one));
            CHECK(metric.right() == 0);
        }
    }
}

TEST_CASE("EntityF1 throws for bad inputs and adds nothing", "[layer][bad]") {
    EntityF1 metric(TagScheme::iobes, 3);
    CHECK_THROWS_WITH(metric.update(Tags{0, 1}, Tags{0}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(metric.update(Tags{0, 13}, Tags{0, 1}), "predicted[1] = 13 is not in [0, 13)");
    CHECK_THROWS_WITH(metric.update(Tags{0, 1}, Tags{0, -1}), "label[1] = -1 is not in [0, 13)");
    CHECK_THROWS_AS(metric.update(Tags{0}, Tags{std::numeric_limits<std::int64_t>::min()}), IndexError);
    using T = LoDTensor<std::int64_t>;
    CHECK_THROWS_WITH(metric.update(T(Tags{3, 3}, Lod{{0, 2}}), T(Tags{3, 3}, Lod{{0, 1, 2}})),
                      "label.lod() is other levels, expected those of predicted");
    CHECK_THROWS_WITH(metric.f1(3), "type = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(EntityF1(TagScheme::iob, 0), "types is 0, expected at least 1");
    CHECK_THROWS_AS(EntityF1(static_cast<TagScheme>(4), 1), ValueError);
    CHECK(metric.predicted() + metric.labelled() == 0);
}

}  // namespace test_entity_f1
