// tests/sequence/tensor_array_pack.cpp: steps packed to sequences.
#include <rowan/sequence/reorder.hpp>
#include <rowan/sequence/shrink.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include "sequence/batches.hpp"

#include "dtypes/own_types.hpp"

namespace test_tensor_array_pack {

namespace {

using batches::batch, batches::counted, batches::dot, batches::eighths, batches::List, batches::refusal, batches::refused, batches::same,
    batches::Shape, batches::wild_batch;
using rowan::Cpu, rowan::IndexError, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::StepMap, rowan::Tensor,
    rowan::TensorArray;

// Unpacks and packs at every level, sorted and unsorted, with steps from unpack and steps written one by one.
template <class T>
bool comes_back(LoDTensor<T> const& x) {
    for (std::size_t level = 0; level < x.lod().levels(); ++level) {
        for (bool const sorted : {true, false}) {
            auto const [steps, map] = TensorArray<T>::unpack(x, {.level = level, .sort_by_length = sorted});
            if (!same(steps.pack(level, map), x)) return false;
            TensorArray<T> slots;
            for (std::size_t t = steps.size(); t-- > 0;) slots.write(t, steps.read(t), t % 2 == 0);
            auto const packed = slots.pack(level, map);
            if (steps.size() != 0 && !same(packed, x)) return false;
        }
    }
    return true;
}

// 0.5 h + x, element by element, rounded twice.
Tensor<float> half_and_add(Tensor<float> const& x, Tensor<float> const& state) {
    REQUIRE(x.shape() == state.shape());
    auto next = Tensor<float>::from_shape(x.shape());
    for (std::size_t i = 0; i < x.size(); ++i) next.data()[i] = reference::product(0.5F, state.data()[i]) + x.data()[i];
    return next;
}

}  // namespace

TEST_CASE("the golden batches survive unpack and pack", "[pack]") {
    for (batches::Lists const& lengths : {batches::Lists{{3, 6, 1}}, batches::Lists{{3, 6, 0, 1}}, batches::Lists{{2, 3, 2, 3}},
                                          batches::Lists{{2, 3}, {3, 6, 2, 6, 3}}, batches::Lists{{2, 1}, {0, 0, 3}},
                                          batches::Lists{{0, 2}, {2, 3}}, batches::Lists{{2, 3}}}) {
        CAPTURE(lengths);
        CHECK(comes_back(batch(Lod::from_lengths(lengths))));
    }
}

TEST_CASE("L18: empty batches survive with their width", "[pack][bad_input]") {
    for (Lod const& lod : {Lod{{0}}, Lod{{0, 0}}, Lod{{0, 0, 0}}, Lod{{0}, {0}}, Lod{{0, 0}, {0}}, Lod{{0, 2}, {0, 0, 0}},
                           Lod{{0, 1, 1}, {0, 2}, {0, 0, 0}}}) {
        CAPTURE(lod);
        CHECK(comes_back(LoDTensor<float>(Tensor<float>::from_shape({0, 3, 2}), lod)));
    }
    // An array without steps is packed to no rows.
    auto const nothing = TensorArray<float>().pack(0, StepMap<>(Lod{{0, 0, 0}}, 0));
    CHECK((nothing.lod() == Lod{{0, 0, 0}} && nothing.shape() == Shape{0}));
}

TEST_CASE("random batches survive with the same bits, at every level", "[pack][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        Shape row(*rc::gen::inRange<std::size_t>(0, 4));
        for (auto& n : row) n = *rc::gen::inRange<std::size_t>(1, 4);
        RC_ASSERT(comes_back(wild_batch<float>(lod, row, *rc::gen::arbitrary<std::uint64_t>())));
    }));
}

TEMPLATE_TEST_CASE("batches of every element type survive", "[pack]", float, double, rowan::bfloat16, rowan::float16, bool, std::int32_t,
                   std::int64_t, std::uint8_t) {
    for (batches::Lists const& lengths :
         {batches::Lists{{3, 6, 0, 1}}, batches::Lists{{2, 0, 3}, {3, 0, 2, 6, 3}}, batches::Lists{{1, 2}, {2, 0, 1}, {4, 0, 3}}}) {
        for (Shape const& row : {Shape{}, Shape{1}, Shape{17}, Shape{2, 3}, Shape{1, 2, 2}}) {
            CAPTURE(lengths, row);
            CHECK(comes_back(wild_batch<TestType>(Lod::from_lengths(lengths), row, 7)));
        }
    }
}

TEST_CASE("batches of a custom element type survive", "[pack]") {
    auto const lod = Lod::from_lengths({{2, 0, 3}, {3, 0, 2, 6, 3}});
    auto value = Tensor<test::fixed>::from_shape({14, 3});
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = test::fixed{static_cast<std::int32_t>(i * 977)};
    CHECK(comes_back(LoDTensor<test::fixed>(value, lod)));
    auto duals = Tensor<test::dual>::from_shape({14});
    for (std::size_t i = 0; i < duals.size(); ++i) duals(i) = test::dual(static_cast<double>(i), 0.5);
    CHECK(comes_back(LoDTensor<test::dual>(duals, lod)));
}

TEST_CASE("rows keep every bit, of NaN too", "[pack]") {
    auto value = Tensor<float>::from_shape({4});
    std::uint32_t const bits[]{0x7FC12345, 0xFF800001, 0x80000000, 0x00000001};
    std::memcpy(value.data(), bits, sizeof bits);
    CHECK(comes_back(LoDTensor<float>(value, Lod{{0, 1, 4}})));
}

TEST_CASE("a custom order survives", "[pack][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        auto const level = *rc::gen::inRange<std::size_t>(0, lod.levels());
        List order = batches::order_of(lod, level, false);
        for (std::size_t i = 1; i < order.size(); ++i) std::swap(order[i], order[*rc::gen::inRange<std::size_t>(0, i + 1)]);
        auto const x = wild_batch<double>(lod, {2}, 3);
        StepMap<> const map(lod, level, order);
        RC_ASSERT(same(TensorArray<double>::unpack(x, map).pack(level, map), x));
    }));
}

TEST_CASE("slots of one row for each live sequence pack to the levels of the sequences", "[pack]") {
    auto const lod = Lod::from_lengths({{2, 3}, {3, 6, 2, 0, 3}});
    for (std::size_t level = 0; level < 2; ++level) {
        for (bool const sorted : {true, false}) {
            CAPTURE(level, sorted);
            StepMap<> const map(lod, level, sorted);
            TensorArray<float> slots;
            for (std::size_t t = 0; t < map.steps(); ++t) {
                auto rows = Tensor<float>::from_shape({map.step_size(t), 2});
                for (std::size_t j = 0; j < map.step_size(t); ++j) {
                    rows(j, 0) = static_cast<float>(map.step(t)[j]);
                    rows(j, 1) = -rows(j, 0);
                }
                slots.write(t, rows);
            }
            auto const packed = slots.pack(level, map);
            CHECK(packed.lod() == lod.slice_levels(0, level + 1));
            auto const elements = static_cast<std::size_t>(packed.lod().rows());
            REQUIRE(packed.shape() == Shape{elements, 2});
            bool good = true;
            for (std::size_t e = 0; e < elements; ++e) good = good && packed.value()(e, 0) == static_cast<float>(e);
            for (std::size_t e = 0; e < elements; ++e) good = good && packed.value()(e, 1) == -static_cast<float>(e);
            CHECK(good);
        }
    }
}

TEST_CASE("the lower levels come from the slots", "[pack]") {
    auto const x = batch(Lod::from_lengths({{2, 1}, {1, 2, 1}}));
    auto const [steps, map] = TensorArray<float>::unpack(x);
    // Every element of the steps becomes two rows, or none.
    TensorArray<float> slots;
    slots.write(0, LoDTensor<float>({10, 11, 30, 31}, {{0, 2, 4}}));
    slots.write(1, LoDTensor<float>(counted({0}), {{0, 0}}));
    CHECK((slots.pack(0, map) == LoDTensor<float>({10, 11, 30, 31}, {{0, 2, 3}, {0, 2, 2, 4}})));
    TensorArray<float> deeper;
    deeper.write(0, LoDTensor<float>({10, 11, 30}, {{0, 1, 3}, {0, 2, 2, 3}}));
    deeper.write(1, LoDTensor<float>({20}, {{0, 2}, {0, 1, 1}}));
    CHECK((deeper.pack(0, map) == LoDTensor<float>({10, 11, 20, 30}, {{0, 2, 3}, {0, 1, 3, 5}, {0, 2, 3, 3, 3, 4}})));
    CHECK(steps.size() == 2);
}

TEST_CASE("unpack by the map is the adjoint of pack, and pack of unpack", "[pack][adjoint]") {
    for (batches::Lists const& lengths :
         {batches::Lists{{3, 6, 0, 1}}, batches::Lists{{2, 0, 3}, {3, 0, 2, 6, 3}}, batches::Lists{{1, 2}, {2, 0, 1}, {4, 0, 3}}}) {
        auto const lod = Lod::from_lengths(lengths);
        for (std::size_t level = 0; level < lod.levels(); ++level) {
            for (bool const sorted : {true, false}) {
                CAPTURE(lod, level, sorted);
                LoDTensor<double> const x(eighths({static_cast<std::size_t>(lod.rows()), 3}, 1), lod);
                StepMap<> const map(lod, level, sorted);
                auto const steps = TensorArray<double>::unpack(x, map);
                TensorArray<double> y;
                for (std::size_t t = 0; t < steps.size(); ++t) {
                    y.write(t, LoDTensor<double>(eighths(steps.read(t).shape(), 10 + t), steps.read(t).lod()));
                }
                double sum = 0;
                for (std::size_t t = 0; t < steps.size(); ++t) sum += dot(y.read(t).value(), steps.read(t).value());
                CHECK(sum == dot(y.pack(level, map).value(), x.value()));
            }
        }
    }
}

TEST_CASE("pack throws for a level other than the map's", "[pack][bad_input]") {
    auto const x = batch(Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}}));
    auto const steps = TensorArray<float>::unpack(x).steps;
    StepMap<> const map(x.lod(), 0), lower(x.lod(), 1);
    auto const error = refused<ShapeError>([&](Cpu exec) { steps.pack(exec, 1, map); }, steps, map);
    CHECK(error.what() == std::string("level is 1, expected 0, the map's"));
    CHECK((error.field() == "level" && error.actual() == "1"));
    CHECK(refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 0, lower); }, steps) == "level is 0, expected 1, the map's");
    CHECK(refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 7, map); }, steps) == "level is 7, expected 0, the map's");
    CHECK_NOTHROW(steps.pack(0, map));
}

TEST_CASE("L16: a map of another batch throws", "[pack][bad_input]") {
    auto const steps = TensorArray<float>::unpack(batch(Lod::from_lengths({{3, 1, 2}}))).steps;
    auto const refuse = [&](List const& lengths) {
        StepMap<> const map(Lod::from_lengths({lengths}), 0);
        return refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 0, map); }, steps, map);
    };
    CHECK(refuse({3, 1, 2, 1}) == "slots[0].size() is 3, expected 4, the map's");
    CHECK(refuse({3, 1, 1}) == "slots[1].size() is 2, expected 1, the map's");
    CHECK(refuse({3, 2, 3}) == "slots[1].size() is 2, expected 3, the map's");
    CHECK(refuse({2, 2, 2}) == "steps is 3, expected 2, the map's");
    CHECK(refuse({4, 1, 2}) == "steps is 3, expected 4, the map's");
    CHECK(refuse({}) == "steps is 3, expected 0, the map's");
    CHECK(refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 0, StepMap<>()); }, steps) == "steps is 3, expected 0, the map's");
    // The same number of sequences in each step, but other sequences.
    std::string const other = "map is made from other sequences or in another order, expected the map of the unpack that made the steps";
    CHECK(refuse({1, 2, 3}) == other);
    CHECK(refuse({3, 2, 1}) == other);
    CHECK(refuse({3, 1, 2, 0}) == other);
    CHECK(refuse({0, 3, 1, 2}) == other);
    CHECK_THROWS_AS(TensorArray<float>().pack(0, StepMap<>()), rowan::Error);  // without level 0
}

TEST_CASE("L16: a map with another order or other upper levels throws", "[pack][bad_input]") {
    std::string const other = "map is made from other sequences or in another order, expected the map of the unpack that made the steps";
    auto const lod = Lod::from_lengths({{2, 1}, {2, 1, 2}, {1, 0, 2, 1, 1}});
    auto const x = batch(lod);
    for (std::size_t level = 0; level < 3; ++level) {
        CAPTURE(level);
        auto const sorted = TensorArray<float>::unpack(x, {.level = level, .sort_by_length = true}).steps;
        StepMap<> const same_order(lod, level, batches::order_of(lod, level, true));
        CHECK((sorted.pack(level, same_order) == x));
        auto turned = batches::order_of(lod, level, true);
        std::ranges::reverse(turned);
        StepMap<> const another(lod, level, turned);
        CHECK(refusal<ShapeError>([&](Cpu exec) { sorted.pack(exec, level, another); }, sorted, another).size() > 0);
    }
    auto const steps = TensorArray<float>::unpack(x, {.level = 1}).steps;
    StepMap<> const above(Lod::from_lengths({{1, 2}, {2, 1, 2}}), 1), swapped(lod, 1, {2, 0, 1});
    CHECK(refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 1, above); }, steps, above) == other);
    CHECK(refusal<ShapeError>([&](Cpu exec) { steps.pack(exec, 1, swapped); }, steps, swapped) == other);
    StepMap<> const no_levels_below(Lod::from_lengths({{2, 1}, {2, 1, 2}}), 1);
    CHECK((steps.pack(1, no_levels_below) == x));
    auto const copy = steps;
    CHECK(refusal<ShapeError>([&](Cpu exec) { copy.pack(exec, 1, swapped); }, copy) == other);
}

TEST_CASE("rows without elements are packed; too many to count throw", "[pack]") {
    for (Shape const& row : {Shape{0}, Shape{2, 0}}) {
        for (batches::Lists const& lengths : {batches::Lists{{3, 6, 0, 1}}, batches::Lists{{2, 0, 3}, {3, 0, 2, 6, 3}}})
            CHECK(comes_back(wild_batch<float>(Lod::from_lengths(lengths), row, 3)));
    }
    std::int64_t const half = std::int64_t{1} << 62;
    LoDTensor<std::uint8_t> const slot(Tensor<std::uint8_t>::from_shape({std::size_t{1} << 62, 0}), Lod::from_lengths({{half}}));
    TensorArray<std::uint8_t> slots;
    slots.write(0, slot);
    StepMap<> const one(Lod{{0, 1}}, 0), two(Lod{{0, 2}}, 0);
    CHECK((slots.pack(0, one).lod() == Lod::from_lengths({{1}, {half}})));
    slots.write(1, slot);
    CHECK(refusal<ShapeError>([&](Cpu exec) { slots.pack(exec, 0, two); }) ==
          "rows of the steps is 4611686018427387904 + 4611686018427387904, expected at most 2^63 - 1");
}

TEST_CASE("L9: a step of another size throws", "[pack][bad_input]") {
    StepMap<> const map(Lod::from_lengths({{3, 1, 2}}), 0);
    TensorArray<float> slots;
    slots.write(0, counted({3, 2}));
    slots.write(1, counted({2, 2}));
    slots.write(2, counted({2, 2}));
    auto const refuse = [&] { return refusal<ShapeError>([&](Cpu exec) { slots.pack(exec, 0, map); }, slots, map); };
    CHECK(refuse() == "slots[2].size() is 2, expected 1, the map's");
    slots.write(2, counted({0, 2}));
    CHECK(refuse() == "slots[2].size() is 0, expected 1, the map's");
    slots.write(2, counted({1, 2}));
    CHECK(slots.pack(0, map).shape() == Shape{6, 2});
    slots.write(3, counted({0, 2}));
    CHECK(refuse() == "steps is 4, expected 3, the map's");

    TensorArray<float> batches;
    batches.write(0, LoDTensor<float>(counted({3}), {{0, 1, 3}}));
    StepMap<> const three(Lod::from_lengths({{1, 1, 1}}), 0);
    CHECK(refusal<ShapeError>([&](Cpu exec) { batches.pack(exec, 0, three); }, batches) == "slots[0].size() is 2, expected 3, the map's");
    auto const numbers = TensorArray<float>::unstack({1, 2});
    StepMap<> const two(Lod{{0, 2}}, 0);
    CHECK(refusal<ShapeError>([&](Cpu exec) { numbers.pack(exec, 0, two); }, numbers) == "value rank is 0, expected at least 1");
}

TEST_CASE("L12: an unwritten step throws", "[pack][bad_input]") {
    StepMap<> const map(Lod::from_lengths({{3, 1, 2}}), 0);
    TensorArray<float> slots;
    slots.write(2, counted({1, 2}));
    slots.write(0, counted({3, 2}));
    CHECK(refusal<IndexError>([&](Cpu exec) { slots.pack(exec, 0, map); }, slots, map) == "slots[1] was never written");
    slots.write(1, counted({2, 2}));
    CHECK_NOTHROW(slots.pack(0, map));
    slots.resize(2);
    slots.resize(3);
    CHECK(refusal<IndexError>([&](Cpu exec) { slots.pack(exec, 0, map); }, slots, map) == "slots[2] was never written");
}

TEST_CASE("more levels than a Lod can have throw", "[pack][bad_input]") {
    StepMap<> const map(Lod(batches::Lists(16, List{0, 1})), 15);
    TensorArray<float> slots;
    slots.write(0, LoDTensor<float>(counted({1}), {{0, 1}}));
    CHECK(refusal<LodError>([&](Cpu exec) { slots.pack(exec, 15, map); }, slots) == "lod[16][0] = 17 levels are more than 16");
    CHECK(comes_back(batch(Lod(batches::Lists(16, List{0, 1})))));
}

TEST_CASE("the packed batch does not share memory with the steps", "[pack]") {
    auto const x = batch(Lod::from_lengths({{2, 1}}));
    auto const [steps, map] = TensorArray<float>::unpack(x);
    auto packed = steps.pack(0, map);
    packed.value().fill(9);
    CHECK((steps.read(0).value() == Tensor<float>{0, 2} && x.value() == counted({3})));
    steps.read(1).value().fill(7);
    CHECK((steps.pack(0, map) == LoDTensor<float>({0, 7, 2}, {{0, 2, 3}})));
}

TEST_CASE("the same bits on any number of threads, one sequence being very long", "[pack]") {
    inputs::Random random(6);
    List many(20'000);
    for (auto& length : many) length = random.below(5);
    many[11'111] = 40'000;
    auto const lod = Lod::from_lengths({{12'000, 0, 8'000}, many});
    auto const x = wild_batch<float>(lod, {5}, 1);
    REQUIRE(x.value().size() > 1 << 18);
    for (std::size_t level = 0; level < 2; ++level) {
        for (bool const sorted : {true, false}) {
            auto const [steps, map] = TensorArray<float>::unpack(x, {.level = level, .sort_by_length = sorted});
            TensorArray<float> slots;
            for (std::size_t t = 0; t < steps.size(); ++t) slots.write(t, steps.read(t), false);
            for (int const threads : {1, 2, 3, 8}) {
                CAPTURE(level, sorted, threads);
                CHECK(same(steps.pack(Cpu{threads}, level, map), x));
                CHECK(same(slots.pack(Cpu{threads}, level, map), x));
            }
        }
    }
}

TEST_CASE("a recurrent loop over steps is, bit for bit, the loop sentence by sentence", "[pack][recurrent]") {
    auto const lods = {Lod::from_lengths({{3, 6, 0, 1}}), Lod::from_lengths({{1, 1, 4, 0, 4, 2, 9}}), Lod::from_lengths({{0, 0}}),
                       Lod::from_lengths({{2, 0, 2}, {3, 0, 2, 6}})};
    for (Lod const& lod : lods) {
        for (bool const sorted : {true, false}) {
            CAPTURE(lod, sorted);
            std::size_t const level = lod.levels() - 1;
            auto const sentences = wild_batch<float>(lod, {3}, 1);
            auto const boot = inputs::wild<float>({lod.sequences(level), 3}, 2);

            auto const [steps, map] = TensorArray<float>::unpack(sentences, {.level = level, .sort_by_length = sorted});
            TensorArray<float> outputs;
            Tensor<float> state = reorder(boot, map);
            for (std::size_t t = 0; t < steps.size(); ++t) {
                state = half_and_add(steps.read(t), shrink(state, map, t));
                outputs.write(t, state);
            }
            LoDTensor<float> const result = outputs.pack(level, map);

            auto expected = Tensor<float>::from_shape(sentences.shape());
            for (std::size_t s = 0; s < lod.sequences(level); ++s) {
                Tensor<float> h = boot.slice(s, s + 1);
                for (auto r = static_cast<std::size_t>(lod[level][s]); r < static_cast<std::size_t>(lod[level][s + 1]); ++r) {
                    h = half_and_add(sentences.value().slice(r, r + 1), h);
                    std::ranges::copy(h.row(0), expected.row(r).begin());
                }
            }
            CHECK(result.lod() == lod);
            if (steps.size() != 0) CHECK(same(result.value(), expected));
        }
    }
}

}  // namespace test_tensor_array_pack
