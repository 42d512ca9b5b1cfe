// tests/sequence/tensor_array_unpack.cpp: sequences cut into steps.
#include <rowan/sequence/tensor_array.hpp>

#include "sanitizers.hpp"
#include "sequence/batches.hpp"

#include "dtypes/own_types.hpp"

namespace test_tensor_array_unpack {

namespace {

using batches::batch, batches::counted, batches::List, batches::order, batches::order_of, batches::refusal, batches::same, batches::Shape,
    batches::wild_batch;
using rowan::Cpu, rowan::IndexError, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::StepMap, rowan::Tensor,
    rowan::TensorArray;
using Values = std::vector<float>;

// The rows of each step, and their sequences.
struct Step {
    Values rows;
    Lod lod;
    friend bool operator==(Step const&, Step const&) = default;
};
using Steps = std::vector<Step>;

Steps steps(TensorArray<float> const& array) {
    Steps all;
    for (std::size_t t = 0; t < array.size(); ++t) all.push_back({batches::numbers(array.read(t).value()), array.read(t).lod()});
    return all;
}

Steps unpacked(std::vector<List> const& lengths, std::size_t level, bool sorted = true) {
    return steps(TensorArray<float>::unpack(batch(Lod::from_lengths(lengths)), {.level = level, .sort_by_length = sorted}).steps);
}

// Compares the result of unpack with steps built row by row.
template <class T>
bool are_steps_of(TensorArray<T> const& array, LoDTensor<T> const& x, std::size_t level, List const& order) {
    auto const wanted = batches::steps_of(x.lod(), level, order);
    if (array.size() != wanted.size()) return false;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
        if (!same(array.read(t), batches::rows_of(x, batches::sub_batch(x.lod(), level + 1, wanted[t])))) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("sequences of rows become steps", "[unpack]") {
    Steps const expected{{{3, 0, 9}, {}}, {{4, 1}, {}}, {{5, 2}, {}}, {{6}, {}}, {{7}, {}}, {{8}, {}}};
    CHECK(unpacked({{3, 6, 1}}, 0) == expected);
    CHECK(unpacked({{3, 6, 0, 1}}, 0) == expected);
    CHECK(unpacked({{2, 3, 2, 3}}, 0) == Steps{{{2, 7, 0, 5}, {}}, {{3, 8, 1, 6}, {}}, {{4, 9}, {}}});
}

TEST_CASE("steps keep the levels below", "[unpack]") {
    CHECK(unpacked({{2, 3}, {3, 6, 2, 6, 3}}, 0) == Steps{{{9, 10, 0, 1, 2}, {{0, 2, 5}}},
                                                          {{11, 12, 13, 14, 15, 16, 3, 4, 5, 6, 7, 8}, {{0, 6, 12}}},
                                                          {{17, 18, 19}, {{0, 3}}}});
    CHECK(unpacked({{2, 3}, {3, 6, 2, 6, 3}}, 1) == Steps{{{3, 11, 0, 17, 9}, {}},
                                                          {{4, 12, 1, 18, 10}, {}},
                                                          {{5, 13, 2, 19}, {}},
                                                          {{6, 14}, {}},
                                                          {{7, 15}, {}},
                                                          {{8, 16}, {}}});
    CHECK(unpacked({{1, 2}, {2, 1, 0}, {1, 2, 3}}, 0) == Steps{{{3, 4, 5, 0, 1, 2}, {{0, 1, 3}, {0, 3, 4, 6}}}, {{}, {{0, 0}, {0}}}});
}

TEST_CASE("a step may have no rows, a sequence no steps", "[unpack]") {
    CHECK(unpacked({{2, 1}, {0, 0, 3}}, 0) == Steps{{{0, 1, 2}, {{0, 0, 3}}}, {{}, {{0, 0}}}});
    CHECK(unpacked({{0, 2}, {2, 3}}, 0) == Steps{{{0, 1}, {{0, 2}}}, {{2, 3, 4}, {{0, 3}}}});
    auto const [array, map] = TensorArray<float>::unpack(batch(Lod::from_lengths({{2, 1}, {0, 0, 3}})));
    CHECK(array.read(1).shape() == Shape{0});
    CHECK(order(map) == List{0, 1});
}

TEST_CASE("without sorting, sequences stay in input order", "[unpack]") {
    CHECK(unpacked({{1, 3, 0, 2}}, 0, false) == Steps{{{0, 1, 4}, {}}, {{2, 5}, {}}, {{3}, {}}});
    CHECK(unpacked({{2, 3}, {1, 0, 2, 1, 1}}, 0, false) == Steps{{{0, 1, 2}, {{0, 1, 3}}}, {{3}, {{0, 0, 1}}}, {{4}, {{0, 1}}}});
}

TEST_CASE("rows may be numbers", "[unpack]") {
    CHECK(unpacked({{2, 3}}, 0) == Steps{{{2, 0}, {}}, {{3, 1}, {}}, {{4}, {}}});
}

TEST_CASE("L18: no sequences, or only empty ones, make no steps", "[unpack][bad_input]") {
    for (bool const sorted : {true, false}) {
        for (Lod const& lod : {Lod{{0}}, Lod{{0, 0}}, Lod{{0, 0, 0}}, Lod{{0, 0}, {0}}}) {
            CAPTURE(lod, sorted);
            auto const [array, map] = TensorArray<float>::unpack(LoDTensor<float>(counted({0, 3}), lod), {.sort_by_length = sorted});
            CHECK(array.size() == 0);
            CHECK(map.steps() == 0);
            CHECK(map.sequences() == lod.sequences(0));
        }
    }
    auto const [array, map] = TensorArray<float>::unpack(LoDTensor<float>(counted({0, 3}), Lod{{0, 2}, {0, 0, 0}}));
    CHECK((array.size() == 2 && array.read(1).shape() == Shape{0, 3} && array.read(1).lod() == Lod{{0, 0}}));
    CHECK(array.concat().shape() == Shape{0, 3});
}

TEST_CASE("unpack uses level 0 and sorts by length by default", "[unpack]") {
    auto const x = batch(Lod::from_lengths({{1, 2}, {1, 0, 2}}));
    auto const [array, map] = TensorArray<float>::unpack(x);
    CHECK((map.level() == 0 && map.sorted() && order(map) == List{1, 0} && map.lod() == x.lod()));
    CHECK(steps(array) == unpacked({{1, 2}, {1, 0, 2}}, 0, true));
}

TEST_CASE("the design document's form fills two pointers", "[unpack]") {
    auto const x = batch(Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}}));
    for (std::size_t level = 0; level < 2; ++level) {
        for (bool const sorted : {true, false}) {
            TensorArray<float> array = TensorArray<float>::unstack(counted({9, 2}));  // old slots must be removed
            StepMap<> map;
            TensorArray<float>::unpack(x, level, sorted, &array, &map);
            CHECK(are_steps_of(array, x, level, order_of(x.lod(), level, sorted)));
            CHECK((map.level() == level && order(map) == order_of(x.lod(), level, sorted)));
            CHECK((array.pack(level, map) == x));
        }
    }
}

TEST_CASE("an unpack that throws writes to neither pointer", "[unpack][bad_input]") {
    auto array = TensorArray<float>::unstack(counted({2, 2}));
    StepMap<> map(Lod{{0, 1, 3}}, 0);
    auto const x = batch(Lod{{0, 2}});
    CHECK(refusal<IndexError>([&] { TensorArray<float>::unpack(x, 1, true, &array, &map); }, x, array, map) ==
          "level = 1 is not in [0, 1)");
    CHECK(refusal<rowan::Error>([&] { TensorArray<float>::unpack(x, 0, true, nullptr, &map); }, x, map) == "steps is null");
    CHECK(refusal<rowan::Error>([&] { TensorArray<float>::unpack(x, 0, true, &array, nullptr); }, x, array) == "map is null");
}

TEST_CASE("steps of random batches at every level, sorted or not", "[unpack][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        auto const x = wild_batch<double>(lod, Shape{*rc::gen::inRange<std::size_t>(0, 4)}, *rc::gen::arbitrary<std::uint64_t>());
        for (std::size_t level = 0; level < lod.levels(); ++level) {
            for (bool const sorted : {true, false}) {
                auto const [array, map] = TensorArray<double>::unpack(x, {.level = level, .sort_by_length = sorted});
                RC_ASSERT(are_steps_of(array, x, level, order_of(lod, level, sorted)));
                std::size_t rows = 0;
                for (std::size_t t = 0; t < array.size(); ++t) {
                    auto const step = array.read(t);
                    rows += step.shape()[0];
                    RC_ASSERT(step.lod().levels() == lod.levels() - level - 1);
                    RC_ASSERT(step.size() == map.step_size(t));
                    RC_ASSERT((t == 0 || step.size() <= array.read(t - 1).size()));
                    for (std::size_t l = 0; l < step.lod().levels(); ++l) RC_ASSERT(step.lod()[l][0] == 0);
                }
                RC_ASSERT(rows == x.shape()[0]);
            }
        }
    }));
}

TEST_CASE("every row is in the steps once", "[unpack][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        auto const level = *rc::gen::inRange<std::size_t>(0, lod.levels());
        auto rows = batches::numbers(TensorArray<float>::unpack(batch(lod), {.level = level, .sort_by_length = *rc::gen::arbitrary<bool>()})
                                         .steps.concat());
        std::ranges::sort(rows);
        RC_ASSERT(rows == batches::numbers(batch(lod).value()));
    }));
}

TEST_CASE("rows of any rank", "[unpack]") {
    auto const lod = Lod::from_lengths({{2, 0, 3}, {1, 2, 0, 3, 1}});
    for (Shape const& row : {Shape{}, Shape{1}, Shape{5}, Shape{2, 3}, Shape{2, 1, 3}, Shape{0}, Shape{3, 0, 2}}) {
        CAPTURE(row);
        auto const x = wild_batch<float>(lod, row, 1);
        for (std::size_t level = 0; level < 2; ++level) {
            CHECK(are_steps_of(TensorArray<float>::unpack(x, {.level = level}).steps, x, level, order_of(lod, level, true)));
        }
    }
}

TEST_CASE("each unpack returns separate steps", "[unpack]") {
    auto const [longer, map] = TensorArray<float>::unpack(batch(Lod{{0, 4}}));
    auto steps_now = longer;
    steps_now = TensorArray<float>::unpack(batch(Lod{{0, 2}})).steps;
    CHECK((steps_now.size() == 2 && longer.size() == 4));
    CHECK(map.steps() == 4);
}

TEST_CASE("unpack by a map that exists", "[unpack]") {
    auto const lod = Lod::from_lengths({{2, 0, 3}, {1, 2, 0, 3, 1}});
    auto const x = wild_batch<float>(lod, {2}, 1);
    StepMap<> const map(lod, 0, {2, 0, 1});
    CHECK(are_steps_of(TensorArray<float>::unpack(x, map), x, 0, {2, 0, 1}));
    // Only the levels above the elements must equal the map's.
    auto const other_rows = wild_batch<float>(Lod::from_lengths({{2, 0, 3}, {0, 0, 5, 1, 1}}), {2}, 2);
    CHECK(are_steps_of(TensorArray<float>::unpack(other_rows, map), other_rows, 0, {2, 0, 1}));
    auto const no_levels_below = wild_batch<float>(Lod::from_lengths({{2, 0, 3}}), {2}, 3);
    CHECK(are_steps_of(TensorArray<float>::unpack(no_levels_below, map), no_levels_below, 0, {2, 0, 1}));
}

TEST_CASE("a map of other sequences throws", "[unpack][bad_input]") {
    auto const x = batch(Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}}));
    auto const text = [&](StepMap<> const& map) {
        return refusal<ShapeError>([&](Cpu exec) { TensorArray<float>::unpack(exec, x, map); }, x, map);
    };
    CHECK(text({Lod::from_lengths({{3, 2}}), 0}) == "input.lod()[0][1] is 2, expected 3, the map's");
    CHECK(text({Lod::from_lengths({{2, 3, 0}}), 0}) == "input.lod().sequences(0) is 2, expected 3, the map's");
    CHECK(text({Lod::from_lengths({{3, 2}, {3, 6, 2, 6, 3}}), 1}) == "input.lod()[0][1] is 2, expected 3, the map's");
    CHECK(text({Lod::from_lengths({{2, 3}, {3, 6, 2, 3, 6}}), 1}) == "input.lod()[1][4] is 17, expected 14, the map's");
    CHECK(text({Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}, List(20, 1)}), 2}) ==
          "input.lod().levels() is 2, expected at least 3, for the level of the map");
    std::string const none = "map.lod().levels() is 0, expected at least 1";
    CHECK(text({}) == none);
    StepMap<> const good(Lod::from_lengths({{2, 3}}), 0);
    CHECK_NOTHROW(TensorArray<float>::unpack(x, good));
    LoDTensor<float> const no_levels = counted({5});
    CHECK(refusal<ShapeError>([&](Cpu exec) { TensorArray<float>::unpack(exec, no_levels, good); }, no_levels) ==
          "input.lod().levels() is 0, expected at least 1, for the level of the map");
    StepMap<> moved = good;
    StepMap<> const taken = std::move(moved);
    CHECK(refusal<ShapeError>([&](Cpu exec) { TensorArray<float>::unpack(exec, x, moved); }, x) == none);
}

TEST_CASE("a level that a batch does not have throws", "[unpack][bad_input]") {
    auto const x = batch(Lod{{0, 2}, {0, 1, 3}});
    LoDTensor<float> const no_levels = counted({3});
    auto const refuse = [](LoDTensor<float> const& input, std::size_t level) {
        return refusal<IndexError>([&](Cpu exec) { TensorArray<float>::unpack(exec, input, {.level = level}); }, input);
    };
    CHECK(refuse(x, 2) == "level = 2 is not in [0, 2)");
    CHECK(refuse(x, static_cast<std::size_t>(-1)) == "level = 18446744073709551615 is not in [0, 2)");
    CHECK(refuse(no_levels, 0) == "level = 0 is not in [0, 0)");
}

TEST_CASE("L5: rows removed after the check of the Lod throw", "[unpack][bad_input]") {
    auto x = batch(Lod{{0, 2, 5}});
    StepMap<> const map(x.lod(), 0);
    x.value().resize(Shape{1});
    std::string const text = "lod[0][2] = 5 is not 1, the number of rows";
    CHECK(refusal<LodError>([&](Cpu exec) { TensorArray<float>::unpack(exec, x); }) == text);
    CHECK(refusal<LodError>([&](Cpu exec) { TensorArray<float>::unpack(exec, x, map); }) == text);
}

TEST_CASE("the same steps on any number of threads", "[unpack]") {
    inputs::Random random(5);
    List many(30'000);
    for (auto& length : many) length = random.below(6);
    many[17'000] = 50'000;
    List upper;  // paragraphs of these sentences
    for (std::size_t left = many.size(); left > 0;) {
        auto const n = std::min(left, static_cast<std::size_t>(random.below(900)));
        upper.push_back(static_cast<std::int64_t>(n));
        left -= n;
    }
    auto const lod = Lod::from_lengths({upper, many});
    for (Shape const& row : {Shape{}, Shape{5}, Shape{3, 7}}) {
        auto const x = wild_batch<float>(lod, row, 1);
        for (std::size_t level = 0; level < 2; ++level) {
            for (bool const sorted : {true, false}) {
                CAPTURE(row, level, sorted);
                auto const one = TensorArray<float>::unpack(Cpu{1}, x, {.level = level, .sort_by_length = sorted});
                auto const rows = one.steps.concat();
                for (int const threads : sanitizers::any ? std::vector{8} : std::vector{2, 3, 8}) {
                    CAPTURE(threads);
                    auto const [array, map] = TensorArray<float>::unpack(Cpu{threads}, x, {.level = level, .sort_by_length = sorted});
                    CHECK(same(array.concat(), rows));
                    CHECK((array.size() == one.steps.size() && order(map) == order(one.map)));
                    CHECK(same(array.pack(Cpu{threads}, level, map), x));
                }
            }
        }
        CHECK(are_steps_of(TensorArray<float>::unpack(Cpu{3}, x).steps, x, 0, order_of(lod, 0, true)));
    }
}

}  // namespace test_tensor_array_unpack
