// tests/sequence/step_map.cpp: the positions of sequences in the steps of a batch.
#include <rowan/sequence/reorder.hpp>
#include <rowan/sequence/shrink.hpp>
#include <rowan/sequence/step_map.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include "sanitizers.hpp"
#include "sequence/batches.hpp"

namespace test_step_map {

namespace {

using batches::List, batches::list, batches::Lists, batches::order, batches::order_of, batches::refusal, batches::steps_of;
using rowan::Cpu, rowan::IndexError, rowan::Lod, rowan::ShapeError, rowan::StepMap, rowan::Tensor;

Lists steps(StepMap<> const& map) {
    Lists all;
    for (std::size_t t = 0; t < map.steps(); ++t) all.push_back(list(map.step(t)));
    return all;
}

List lengths(StepMap<> const& map) {
    List all;
    for (std::size_t j = 0; j < map.sequences(); ++j) all.push_back(map.length(j));
    return all;
}

// Compares all members of a map with steps built sequence by sequence.
bool is_map_of(StepMap<> const& map, Lod const& lod, std::size_t level, List const& expected) {
    auto const wanted = steps_of(lod, level, expected);
    List starts{0}, elements, all_lengths;
    for (List const& step : wanted) {
        elements.insert(elements.end(), step.begin(), step.end());
        starts.push_back(static_cast<std::int64_t>(elements.size()));
    }
    for (std::int64_t const s : expected) all_lengths.push_back(lod.lengths(level)[static_cast<std::size_t>(s)]);
    bool good = map.lod() == lod && map.level() == level && order(map) == expected && map.sequences() == expected.size();
    good = good && map.steps() == wanted.size() && steps(map) == wanted && lengths(map) == all_lengths;
    for (std::size_t t = 0; t < wanted.size(); ++t) good = good && map.step_size(t) == wanted[t].size();
    good = good && map.step_size(wanted.size()) == 0 && map.step(wanted.size()).empty() && map.step_size(wanted.size() + 9) == 0;
    good = good && map.sorted() == std::ranges::is_sorted(all_lengths, std::greater());
    return good && list(map.starts()) == starts && list(map.elements()) == elements;
}

}  // namespace

TEST_CASE("the longest sequence comes first", "[step_map]") {
    StepMap<> const map(Lod::from_lengths({{3, 6, 1}}), 0);
    CHECK(order(map) == List{1, 0, 2});
    CHECK(lengths(map) == List{6, 3, 1});
    CHECK(steps(map) == Lists{{3, 0, 9}, {4, 1}, {5, 2}, {6}, {7}, {8}});
    CHECK(list(map.starts()) == List{0, 3, 5, 7, 8, 9, 10});
    CHECK(list(map.elements()) == List{3, 0, 9, 4, 1, 5, 2, 6, 7, 8});
    CHECK(map.steps() == 6);
    CHECK(map.step_size(1) == 2);
    CHECK(map.sorted());

    StepMap<> const with_empty(Lod::from_lengths({{3, 6, 0, 1}}), 0);
    CHECK(order(with_empty) == List{1, 0, 3, 2});
    CHECK(lengths(with_empty) == List{6, 3, 1, 0});
    CHECK(steps(with_empty) == steps(map));
    CHECK(with_empty.sequences() == 4);
}

TEST_CASE("writing to an alias of the order does not change the map", "[step_map]") {
    auto const x = batches::batch(Lod::from_lengths({{3, 6, 1}}));
    for (bool const sorted : {true, false}) {
        StepMap<> const map(x.lod(), 0, sorted);
        auto const before = steps(map);
        auto const positions = order(map);
        map.order().share().fill(1'000'000'000);
        map.order().slice(0, 1).fill(-7);
        CHECK((steps(map) == before && lengths(map) == (sorted ? List{6, 3, 1} : List{3, 6, 1})));
        for (std::size_t j = 0; j < 3; ++j) CHECK(map.sequence(j) == positions[j]);
        auto const rows = rowan::TensorArray<float>::unpack(x, map);
        CHECK((rows.pack(0, map) == x));
        auto const numbers = batches::counted({3});
        CHECK(reorder(numbers, map) == (sorted ? Tensor<float>{1, 0, 2} : numbers));
        CHECK(reorder_grad(reorder(numbers, map), map) == numbers);
        CHECK(shrink(numbers, map, 1).shape()[0] == 2);
        CHECK(shrink_grad(batches::counted({2}), map, 1, 3).shape()[0] == 3);
        StepMap<> const copy = map;
        CHECK((rowan::TensorArray<float>::unpack(x, copy).pack(0, map) == x));
    }
}

TEST_CASE("maps are copied, assigned and moved", "[step_map]") {
    StepMap<> const long_map(Lod::from_lengths({{3, 6, 1}}), 0);
    StepMap<> map(Lod::from_lengths({{2}, {1, 2}}), 1, false);
    CHECK(!map.sorted());
    map = long_map;
    CHECK(is_map_of(map, long_map.lod(), 0, {1, 0, 2}));
    auto& self = map;
    map = self;
    CHECK(is_map_of(map, long_map.lod(), 0, {1, 0, 2}));
    StepMap<> const taken = std::move(map);
    CHECK((is_map_of(taken, long_map.lod(), 0, {1, 0, 2}) && map.sequences() == 0 && map.steps() == 0 && map.elements().empty()));
    map = StepMap<>(Lod{{0, 2}}, 0);
    CHECK(is_map_of(map, Lod{{0, 2}}, 0, {0}));
}

TEST_CASE("L19: an order is a list, not a matrix", "[step_map][bad_input]") {
    CHECK(refusal<ShapeError>([] { StepMap<>(Lod{{0, 1, 2}}, 0, Tensor<std::int64_t>{{0, 1}}); }) == "order rank is 2, expected 1");
}

TEST_CASE("sequences of equal length keep their order", "[step_map]") {
    StepMap<> const map(Lod::from_lengths({{2, 3, 2, 3}}), 0);
    CHECK(order(map) == List{1, 3, 0, 2});
    CHECK(lengths(map) == List{3, 3, 2, 2});
    CHECK(steps(map) == Lists{{2, 7, 0, 5}, {3, 8, 1, 6}, {4, 9}});
}

TEST_CASE("elements of an upper level are the sequences below it", "[step_map]") {
    auto const lod = Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}});
    StepMap<> const above(lod, 0);
    CHECK(order(above) == List{1, 0});
    CHECK(lengths(above) == List{3, 2});
    CHECK(steps(above) == Lists{{2, 0}, {3, 1}, {4}});
    StepMap<> const below(lod, 1);
    CHECK(order(below) == List{1, 3, 0, 4, 2});
    CHECK(lengths(below) == List{6, 6, 3, 3, 2});
    CHECK(steps(below) == Lists{{3, 11, 0, 17, 9}, {4, 12, 1, 18, 10}, {5, 13, 2, 19}, {6, 14}, {7, 15}, {8, 16}});
    CHECK(order(StepMap<>(Lod::from_lengths({{2, 1}, {0, 0, 3}}), 0)) == List{0, 1});
    CHECK(order(StepMap<>(Lod::from_lengths({{0, 2}, {2, 3}}), 0)) == List{1, 0});
}

TEST_CASE("sequences can keep the input order", "[step_map]") {
    StepMap<> const map(Lod::from_lengths({{1, 3, 0, 2}}), 0, false);
    CHECK(order(map) == List{0, 1, 2, 3});
    CHECK(lengths(map) == List{1, 3, 0, 2});
    CHECK(steps(map) == Lists{{0, 1, 4}, {2, 5}, {3}});
    CHECK(!map.sorted());
    CHECK(StepMap<>(Lod::from_lengths({{3, 2, 2, 0}}), 0, false).sorted());
    CHECK(!StepMap<>(Lod::from_lengths({{3, 2, 3}}), 0, false).sorted());
}

TEST_CASE("sequences can have the caller's order", "[step_map]") {
    auto const lod = Lod::from_lengths({{1, 3, 0, 2}});
    StepMap<> const map(lod, 0, {3, 2, 0, 1});
    CHECK(is_map_of(map, lod, 0, {3, 2, 0, 1}));
    CHECK(steps(map) == Lists{{4, 0, 1}, {5, 2}, {3}});
    CHECK(!map.sorted());
    CHECK(is_map_of(StepMap<>(Cpu{2}, lod, 0, Tensor<std::int32_t>{1, 3, 0, 2}), lod, 0, {1, 3, 0, 2}));
    CHECK(StepMap<>(lod, 0, {1, 3, 0, 2}).sorted());
    CHECK(is_map_of(StepMap<>(Lod{{0}}, 0, rowan::Ids<>()), Lod{{0}}, 0, {}));
}

TEST_CASE("an order names every sequence once", "[step_map][bad_input]") {
    auto const lod = Lod::from_lengths({{1, 3, 0, 2}});
    auto const refuse = [&](List const& wrong) { return [&lod, wrong](Cpu exec) { StepMap<>(exec, lod, 0, wrong); }; };
    CHECK(refusal<ShapeError>(refuse({0, 1, 2})) == "order.size() is 3, expected 4, the number of sequences");
    CHECK(refusal<ShapeError>(refuse({0, 1, 2, 3, 0})) == "order.size() is 5, expected 4, the number of sequences");
    CHECK(refusal<ShapeError>(refuse({})) == "order.size() is 0, expected 4, the number of sequences");
    CHECK(refusal<IndexError>(refuse({0, 1, 2, 4})) == "order[3] = 4 is not in [0, 4)");
    CHECK(refusal<IndexError>(refuse({0, -1, 2, 9})) == "order[1] = -1 is not in [0, 4)");
    CHECK(refusal<IndexError>(refuse({2, 1, 3, 1})) == "order[3] = 1 is a repeated value");
    CHECK(refusal<IndexError>(refuse({0, 0, 0, 0})) == "order[1] = 0 is a repeated value");
    CHECK_NOTHROW(refuse({2, 1, 3, 0})(Cpu{}));
}

TEST_CASE("a level that the Lod does not have throws", "[step_map][bad_input]") {
    Lod const lod{{0, 1}, {0, 2}};
    CHECK(refusal<IndexError>([&](Cpu exec) { StepMap<>(exec, lod, 2); }) == "level = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([&](Cpu exec) { StepMap<>(exec, lod, 3, List{0}); }) == "level = 3 is not in [0, 2)");
    CHECK(refusal<IndexError>([&](Cpu exec) { StepMap<>(exec, Lod(), 0); }) == "level = 0 is not in [0, 0)");
}

TEST_CASE("no sequences, or only empty ones, give no steps", "[step_map]") {
    for (bool const sorted : {true, false}) {
        for (Lod const& lod : {Lod{{0}}, Lod{{0, 0}}, Lod{{0, 0, 0, 0}}, Lod{{0, 0}, {0}}}) {
            CAPTURE(lod, sorted);
            CHECK(is_map_of(StepMap<>(lod, 0, sorted), lod, 0, order_of(lod, 0, false)));
            CHECK(StepMap<>(lod, 0, sorted).steps() == 0);
        }
    }
    StepMap<> const none;
    CHECK((none.sequences() == 0 && none.steps() == 0 && none.step_size(0) == 0 && none.step(0).empty()));
    CHECK((none.elements().empty() && none.lod().empty() && none.sorted()));
    CHECK(list(none.starts()) == List{0});
}

TEST_CASE("a copy of a map is independent, a moved-from map is empty", "[step_map]") {
    auto const lod = Lod::from_lengths({{1, 3, 0, 2}});
    StepMap<> map(lod, 0);
    StepMap<> copy = map;
    CHECK(copy.order().data() != map.order().data());
    {
        StepMap<> const moved = std::move(map);
        CHECK(is_map_of(moved, lod, 0, {1, 3, 0, 2}));
    }
    CHECK((map.sequences() == 0 && map.steps() == 0 && map.step_size(0) == 0 && map.elements().empty() && map.lod().empty()));
    CHECK(is_map_of(copy, lod, 0, {1, 3, 0, 2}));
    map = copy;
    copy = StepMap<>();
    CHECK(is_map_of(map, lod, 0, {1, 3, 0, 2}));
}

TEST_CASE("maps of random Lods, at every level, in every order", "[step_map][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        for (std::size_t level = 0; level < lod.levels(); ++level) {
            for (bool const sorted : {true, false}) {
                StepMap<> const map(lod, level, sorted);
                RC_ASSERT(is_map_of(map, lod, level, order_of(lod, level, sorted)));
                for (std::size_t t = 0; t < map.steps(); ++t) RC_ASSERT(map.step_size(t) >= map.step_size(t + 1));
            }
            List shuffled = order_of(lod, level, false);
            for (std::size_t i = 1; i < shuffled.size(); ++i) {
                std::swap(shuffled[i], shuffled[*rc::gen::inRange<std::size_t>(0, i + 1)]);
            }
            RC_ASSERT(is_map_of(StepMap<>(lod, level, shuffled), lod, level, shuffled));
        }
    }));
}

TEST_CASE("the same map on any number of threads", "[step_map]") {
    inputs::Random random(3);
    List many(60'000);
    for (auto& length : many) length = random.below(12);
    many[41'000] = 120'000;  // longer than all others
    List equal(1000, 400);
    List one{500'000};
    for (List const& lengths : {many, equal, one}) {
        auto const lod = Lod::from_lengths({lengths});
        CAPTURE(lod.rows());
        REQUIRE(lod.rows() > 1 << 18);
        auto backwards = order_of(lod, 0, false);
        std::ranges::reverse(backwards);
        for (int const threads : sanitizers::any ? std::vector{8} : std::vector{1, 2, 3, 8}) {
            CAPTURE(threads);
            auto const is_good = [&](StepMap<> const& map, List const& expected) {
                auto const wanted = steps_of(lod, 0, expected);
                return order(map) == expected && steps(map) == wanted;
            };
            CHECK(is_good(StepMap<>(Cpu{threads}, lod, 0), order_of(lod, 0, true)));
            CHECK(is_good(StepMap<>(Cpu{threads}, lod, 0, false), order_of(lod, 0, false)));
            CHECK(is_good(StepMap<>(Cpu{threads}, lod, 0, backwards), backwards));
        }
    }
}

TEST_CASE("an order in braces is an order also if it is one number", "[step_map]") {
    CHECK(StepMap<>(Lod{{0, 2}}, 0, {0}).order()(0) == 0);
    CHECK_THROWS_AS(StepMap<>(Lod{{0, 2, 3}}, 0, {0}), rowan::ShapeError);
    CHECK_THROWS_AS(StepMap<>(Lod{{0, 2}}, 0, {1}), rowan::IndexError);
}

}  // namespace test_step_map
