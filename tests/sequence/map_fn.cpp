// tests/sequence/map_fn.cpp: a function applied to every slot.
#include <rowan/sequence/map_fn.hpp>

#include "sequence/batches.hpp"

#include <concepts>
#include <stdexcept>

namespace test_map_fn {

namespace {

using batches::counted, batches::refusal, batches::Shape;
using rowan::IndexError, rowan::Lod, rowan::LoDTensor, rowan::map_fn, rowan::ShapeError, rowan::Tensor, rowan::TensorArray;

TensorArray<float> two_slots() { return TensorArray<float>::split(Tensor<float>{{1, 2}, {3, 4}, {5, 6}}, {1, 2}); }

}  // namespace

TEST_CASE("slot i of the result is f of slot i", "[map_fn]") {
    auto const doubled = map_fn([](Tensor<float> const& x) { return Tensor<float>(x * 2); }, two_slots());
    STATIC_REQUIRE(std::same_as<decltype(doubled), TensorArray<float> const>);
    REQUIRE(doubled.size() == 2);
    CHECK(doubled.read(0).value() == Tensor<float>{{2, 4}});
    CHECK(doubled.read(1).value() == Tensor<float>{{6, 8}, {10, 12}});
}

TEST_CASE("results may be of another element type, rank and height", "[map_fn]") {
    auto const heights = map_fn([](Tensor<float> const& x) { return Tensor<std::int64_t>{static_cast<std::int64_t>(x.shape()[0])}; },
                                two_slots());
    STATIC_REQUIRE(std::same_as<decltype(heights), TensorArray<std::int64_t> const>);
    CHECK(heights.concat() == Tensor<std::int64_t>{1, 2});
    auto const sums = map_fn([](LoDTensor<float> const& x) { return Tensor<double>::full({}, xt::sum(x.value())()); }, two_slots());
    CHECK(sums.stack() == Tensor<double>{3, 18});
}

TEST_CASE("functions take and give batches with their levels", "[map_fn]") {
    auto const steps = TensorArray<float>::unpack(LoDTensor<float>(counted({4}), {{0, 1, 3}, {0, 2, 3, 4}})).steps;
    auto const negated = map_fn([](LoDTensor<float> const& x) { return LoDTensor<float>(Tensor<float>(-x.value()), x.lod()); }, steps);
    REQUIRE(negated.size() == 2);
    CHECK((negated.read(0) == LoDTensor<float>({-2, 0, -1}, {{0, 1, 3}})));
    CHECK((negated.read(1) == LoDTensor<float>({-3}, {{0, 1}})));
    auto const halves = map_fn([](LoDTensor<float> x) { return LoDTensor<double>(Tensor<double>(x.value() / 2), x.lod()); }, steps);
    STATIC_REQUIRE(std::same_as<decltype(halves), TensorArray<double> const>);
    CHECK((halves.read(0) == LoDTensor<double>({1, 0, 0.5}, {{0, 1, 3}})));
}

TEST_CASE("slots are visited in order, once each", "[map_fn]") {
    int calls = 0;
    auto const numbered = map_fn([&](Tensor<float> const&) { return Tensor<std::int32_t>{calls++}; },
                                 TensorArray<float>::unstack(counted({5, 2})));
    CHECK(calls == 5);
    CHECK(numbered.concat() == Tensor<std::int32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("results that f returns by reference are copied", "[map_fn]") {
    auto const array = two_slots();
    Tensor<float> state = Tensor<float>::zeros({1, 2});
    auto const sums = map_fn([&](Tensor<float> const& x) -> Tensor<float>& { return state = state + x.slice(0, 1); }, array);
    CHECK((sums.read(0).value() == Tensor<float>{{1, 2}} && sums.read(1).value() == Tensor<float>{{4, 6}}));
    auto const adding = map_fn([&](Tensor<float> const& x) -> Tensor<float> const& { return state += x.slice(0, 1); }, array);
    CHECK((adding.read(0).value() == Tensor<float>{{5, 8}} && adding.read(1).value() == Tensor<float>{{8, 12}}));
    LoDTensor<float> batch({1, 2}, {{0, 2}});
    auto const same = map_fn([&](Tensor<float> const&) -> LoDTensor<float>& { return batch; }, array);
    batch.value().fill(0);
    CHECK((same.read(0) == LoDTensor<float>({1, 2}, {{0, 2}}) && same.read(0).value().data() != same.read(1).value().data()));
    auto const own = map_fn([](Tensor<float> const& x) { return x.share(); }, array);  // a tensor that f returns is shared
    CHECK(own.read(1).value().data() == array.read(1).value().data());
}

TEST_CASE("a pointer to a function or a member is a function too", "[map_fn]") {
    auto const shared = map_fn(&LoDTensor<float>::share, two_slots());
    CHECK(shared.read(1).value() == Tensor<float>{{3, 4}, {5, 6}});
}

TEST_CASE("an empty array has no results", "[map_fn]") {
    auto const none = map_fn([](Tensor<float> const& x) { return Tensor<float>(x); }, TensorArray<float>());
    CHECK(none.size() == 0);
}

TEST_CASE("an unwritten slot throws", "[map_fn][bad_input]") {
    TensorArray<float> array;
    array.write(2, {1});
    array.write(0, {1});
    CHECK(refusal<IndexError>([&] { map_fn([](Tensor<float> const& x) { return Tensor<float>(x); }, array); }, array) ==
          "slots[1] was never written");
    int calls = 0;
    CHECK_THROWS_AS(map_fn([&](Tensor<float> const&) { return Tensor<float>{static_cast<float>(++calls)}; }, array), IndexError);
    CHECK(calls == 0);
}

TEST_CASE("an exception of f is passed on, and results must have one row shape", "[map_fn][bad_input]") {
    auto const array = two_slots();
    auto const throwing = [](Tensor<float> const& x) {
        if (x.shape()[0] == 2) throw std::domain_error("two rows");
        return Tensor<float>(x);
    };
    auto const before = batches::seen(array);
    CHECK_THROWS_AS(map_fn(throwing, array), std::domain_error);
    CHECK(batches::seen(array) == before);
    auto const flat = [](Tensor<float> const& x) { return Tensor<float>(x.reshaped({1, x.size()})); };
    CHECK(refusal<ShapeError>([&] { map_fn(flat, array); }, array) == "value.shape() is [1, 4], expected [1, 2]");
    auto const ranks = [](Tensor<float> const& x) { return x.shape()[0] == 2 ? counted({1}) : counted({1, 1}); };
    CHECK(refusal<ShapeError>([&] { map_fn(ranks, array); }, array) == "value.shape() is [1], expected [1, 1]");
}

}  // namespace test_map_fn
