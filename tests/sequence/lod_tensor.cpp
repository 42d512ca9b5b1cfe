// tests/sequence/lod_tensor.cpp: rows and their Lod: construction, sharing, copies and errors.
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include "sequence/batches.hpp"

#include <concepts>
#include <list>

namespace test_lod_tensor {

namespace {

using batches::counted, batches::List, batches::refusal, batches::refused, batches::same, batches::Shape;
using rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::Tensor;

}  // namespace

TEST_CASE("rows and the Lod that covers them", "[lod_tensor]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}}, {{0, 2, 2, 3}});
    CHECK(x.value() == Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    CHECK(x.lod() == Lod{{0, 2, 2, 3}});
    CHECK(x.shape() == Shape{3, 2});
    CHECK(x.size() == 3);
    CHECK_NOTHROW(x.check());
    CHECK(LoDTensor<float>(counted({5, 2}), {{0, 2}, {0, 1, 5}}).size() == 1);
    CHECK(LoDTensor<float>(counted({2, 1, 3, 2}), {{0, 1, 2}}).shape() == Shape{2, 1, 3, 2});
}

TEST_CASE("the last level must end with the rows", "[lod_tensor][bad_input]") {
    auto const value = counted({6, 2});
    auto const error = refused<LodError>([&] { LoDTensor<float>(value.share(), {{0, 1, 3}, {0, 2, 4, 5}}); }, value);
    CHECK(error.what() == std::string("lod[1][3] = 5 is not 6, the number of rows"));
    CHECK((error.level() == 1 && error.position() == 3 && error.value() == 5));
    CHECK(refusal<LodError>([&] { LoDTensor<float>(value, {{0, 7}}); }) == "lod[0][1] = 7 is not 6, the number of rows");
    CHECK(refusal<LodError>([&] { LoDTensor<float>(value, {{0}}); }) == "lod[0][0] = 0 is not 6, the number of rows");
    CHECK_NOTHROW(LoDTensor<float>(value, {{0, 6}}));
}

TEST_CASE("L2 L5 L15: a batch without rows is checked, too", "[lod_tensor][bad_input]") {
    auto const none = Tensor<float>::from_shape({0, 3});
    CHECK(refusal<LodError>([&] { LoDTensor<float>(none, {{0, 100}}); }) == "lod[0][1] = 100 is not 0, the number of rows");
    CHECK(refusal<LodError>([&] { LoDTensor<float>(Tensor<float>{42}, {{0, 100}}); }) == "lod[0][1] = 100 is not 1, the number of rows");
    CHECK(LoDTensor<float>(none, {{0}}).size() == 0);
    CHECK(LoDTensor<float>(none, {{0, 0, 0}}).size() == 2);
    CHECK(LoDTensor<float>(none, {{0}, {0}}).shape() == Shape{0, 3});
    CHECK(LoDTensor<float>(none, {{0, 2}, {0, 0, 0}}).size() == 1);
}

TEST_CASE("a tensor of rank 0 throws: it has no rows", "[lod_tensor][bad_input]") {
    auto const number = Tensor<float>::full({}, 7);
    CHECK(refusal<ShapeError>([&] { LoDTensor<float>(number, {{0, 1}}); }) == "value rank is 0, expected at least 1");
    LoDTensor<float> const no_levels(number);
    CHECK(no_levels.value()() == 7);
    CHECK_NOTHROW(no_levels.check());
    CHECK(refusal<ShapeError>([&] { static_cast<void>(no_levels.size()); }) == "value rank is 0, expected at least 1");
}

TEST_CASE("without levels, rows are counted", "[lod_tensor]") {
    LoDTensor<float> const empty;
    CHECK((empty.lod().empty() && empty.size() == 0 && empty.shape() == Shape{0}));
    LoDTensor<float> const rows = counted({3, 2});
    CHECK((rows.lod().empty() && rows.size() == 3));
    CHECK((LoDTensor<float>(counted({3}), {}) == LoDTensor<float>(counted({3}))));
}

TEST_CASE("sequences are concatenated", "[lod_tensor]") {
    auto const x = LoDTensor<float>::from_sequences({Tensor<float>{{1, 2}, {3, 4}}, Tensor<float>::from_shape({0, 2}), Tensor<float>{{5, 6}}});
    CHECK((x == LoDTensor<float>({{1, 2}, {3, 4}, {5, 6}}, {{0, 2, 2, 3}})));
    CHECK((LoDTensor<float>::from_sequences({{1, 2, 3}, {4}}) == LoDTensor<float>({1, 2, 3, 4}, {{0, 3, 4}})));
    std::list<Tensor<float>> const two{counted({1, 2, 3}), counted({2, 2, 3})};
    auto const deep = LoDTensor<float>::from_sequences(two);
    CHECK((deep.shape() == Shape{3, 2, 3} && deep.lod() == Lod{{0, 1, 3}}));
    CHECK(deep.value()(2, 1, 2) == 11);
    auto const none = LoDTensor<float>::from_sequences({});
    CHECK((none.shape() == Shape{0} && none.lod() == Lod{{0}}));
    auto const all_empty = LoDTensor<float>::from_sequences({Tensor<float>::from_shape({0, 4}), Tensor<float>::from_shape({0, 4})});
    CHECK((all_empty.shape() == Shape{0, 4} && all_empty.lod() == Lod{{0, 0, 0}}));
}

TEST_CASE("L9: sequences of different widths or ranks throw", "[lod_tensor][bad_input]") {
    auto const a = counted({2, 2});
    CHECK(refusal<ShapeError>([&] { LoDTensor<float>::from_sequences({a, counted({1, 3})}); }, a) ==
          "sequences[1].shape() is [1, 3], expected [1, 2]");
    CHECK(refusal<ShapeError>([&] { LoDTensor<float>::from_sequences({a, counted({2})}); }, a) ==
          "sequences[1].shape() is [2], expected [2, 2]");
    CHECK(refusal<ShapeError>([&] { LoDTensor<float>::from_sequences({Tensor<float>::full({}, 1)}); }) ==
          "sequences[0] rank is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&] { LoDTensor<float>::from_sequences({a, a, counted({2, 1, 2})}); }, a) ==
          "sequences[2].shape() is [2, 1, 2], expected [2, 2]");
}

TEST_CASE("too many rows to count throw", "[lod_tensor][bad_input]") {
    auto const half = Tensor<std::uint8_t>::from_shape({std::size_t{1} << 62, 0});
    CHECK(refusal<LodError>([&] { LoDTensor<std::uint8_t>::from_sequences({half, half}); }) ==
          "lod[0][1] = 4611686018427387904 is a length that makes the sum overflow");
    CHECK_THROWS_AS(LoDTensor<std::uint8_t>::from_sequences({half, half, half, half}), LodError);
    CHECK(LoDTensor<std::uint8_t>::from_sequences({half, Tensor<std::uint8_t>::from_shape({3, 0})}).lod().rows() == (std::int64_t{1} << 62) + 3);
}

TEST_CASE("lists of lists become levels", "[lod_tensor]") {
    auto const one = LoDTensor<float>::from_nested({{1, 2, 3}, {}, {4, 5}});
    CHECK((one == LoDTensor<float>({1, 2, 3, 4, 5}, {{0, 3, 3, 5}})));

    using One = std::vector<std::vector<float>>;
    using Two = std::vector<One>;
    using Three = std::vector<Two>;
    CHECK((LoDTensor<float>::from_nested(One{{1, 2, 3}, {}, {4, 5}}) == one));
    auto const two = LoDTensor<float>::from_nested(Two{{{1, 2}, {}}, {}, {{3}}});
    CHECK((two == LoDTensor<float>({1, 2, 3}, {{0, 2, 2, 3}, {0, 2, 2, 3}})));
    auto const three = LoDTensor<float>::from_nested(Three{{{{1}, {2, 3}}, {}}, {}, {{{4}}, {{}}}});
    CHECK((three == LoDTensor<float>({1, 2, 3, 4}, {{0, 2, 2, 4}, {0, 2, 2, 3, 4}, {0, 1, 3, 4, 4}})));

    std::list<std::vector<float>> const linked{{1, 2, 3}, {}, {4, 5}};
    CHECK((LoDTensor<float>::from_nested(linked) == one));
    CHECK((LoDTensor<bool>::from_nested({{true, false}, {true}}) == LoDTensor<bool>({true, false, true}, {{0, 2, 3}})));
    CHECK((LoDTensor<std::int64_t>::from_nested({{7}, {8, 9}}) == LoDTensor<std::int64_t>({7, 8, 9}, {{0, 1, 3}})));
}

TEST_CASE("lists can all be empty", "[lod_tensor]") {
    using Two = std::vector<std::vector<std::vector<float>>>;
    CHECK((LoDTensor<float>::from_nested({}) == LoDTensor<float>(counted({0}), {{0}})));
    CHECK((LoDTensor<float>::from_nested({{}, {}}) == LoDTensor<float>(counted({0}), {{0, 0, 0}})));
    CHECK((LoDTensor<float>::from_nested(Two{}) == LoDTensor<float>(counted({0}), {{0}, {0}})));
    CHECK((LoDTensor<float>::from_nested(Two{{}, {}}) == LoDTensor<float>(counted({0}), {{0, 0, 0}, {0}})));
    CHECK((LoDTensor<float>::from_nested(Two{{{}}, {{}, {}}}) == LoDTensor<float>(counted({0}), {{0, 1, 3}, {0, 0, 0, 0}})));
}

TEST_CASE("other sequences of the same rows", "[lod_tensor]") {
    LoDTensor<float> x(counted({5, 1}), {{0, 2, 5}});
    float const* const rows = x.value().data();
    x.set_lod({{0, 5}});
    CHECK((x.lod() == Lod{{0, 5}} && x.value().data() == rows));
    x.set_lod({{0, 1, 3}, {0, 5, 5, 5}});
    CHECK(x.size() == 2);
    x.set_lod({});
    CHECK((x.lod().empty() && x.size() == 5));
}

TEST_CASE("a Lod that does not match leaves the tensor unchanged", "[lod_tensor][bad_input]") {
    LoDTensor<float> x(counted({5, 1}), {{0, 2, 5}});
    CHECK(refusal<LodError>([&] { x.set_lod({{0, 4}}); }, x) == "lod[0][1] = 4 is not 5, the number of rows");
    CHECK(refusal<LodError>([&] { x.set_lod({{0}}); }, x) == "lod[0][0] = 0 is not 5, the number of rows");
    CHECK(refusal<LodError>([&] { x.set_lod({{1, 5}}); }, x) == "lod[0][0] = 1 is not 0, where the first sequence begins");
    CHECK(x.lod() == Lod{{0, 2, 5}});
}

TEST_CASE("check throws after the number of rows has changed", "[lod_tensor][bad_input]") {
    LoDTensor<float> x(counted({5, 1}), {{0, 2, 5}});
    x.value().resize(Shape{4, 1});
    CHECK(refusal<LodError>([&] { x.check(); }) == "lod[0][2] = 5 is not 4, the number of rows");
    x.value() = Tensor<float>::full({}, 1);
    CHECK(refusal<ShapeError>([&] { x.check(); }) == "value rank is 0, expected at least 1");
}

TEST_CASE("a copy is deep, share returns an alias", "[lod_tensor]") {
    LoDTensor<float> x(counted({3}), {{0, 3}});
    LoDTensor<float> copy = x;
    auto shared = x.share();
    x.value()(1) = 9;
    CHECK(copy.value()(1) == 1);
    CHECK(shared.value()(1) == 9);
    shared.value()(2) = 8;
    CHECK(x.value()(2) == 8);
    CHECK((shared.lod() == x.lod() && shared.value().data() == x.value().data()));
    shared.set_lod({});
    CHECK(x.lod() == Lod{{0, 3}});
    copy = x;
    copy.value()(0) = 7;
    CHECK(x.value()(0) == 0);
}

TEST_CASE("an alias outlives the tensor", "[lod_tensor]") {
    LoDTensor<float> shared;
    {
        LoDTensor<float> const x(counted({3}), {{0, 1, 3}});
        shared = x.share();
    }
    CHECK((shared == LoDTensor<float>({0, 1, 2}, {{0, 1, 3}})));
}

TEST_CASE("a slice has sequences of the first level, or rows, and aliases them", "[lod_tensor]") {
    LoDTensor<float> const x(Tensor<float>{{1}, {2}, {3}, {4}, {5}}, Lod{{0, 2, 3}, {0, 1, 2, 5}});
    auto part = x.slice(1, 2);
    CHECK((part == LoDTensor<float>({{3}, {4}, {5}}, Lod{{0, 1}, {0, 3}})));
    part.value()(0, 0) = 7;
    CHECK(x.value()(2, 0) == 7);
    CHECK((x.slice(2, 2) == LoDTensor<float>(Tensor<float>::from_shape({0, 1}), Lod{{0}, {0}})));
    LoDTensor<float> const rows(x.value().share());
    CHECK((rows.slice(1, 3) == LoDTensor<float>({{2}, {7}})));
    CHECK_THROWS_WITH(x.slice(1, 3), "sequences[1] = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(x.slice(2, 1), "sequences[0] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(rows.slice(1, 6), "slice[1] = 6 is not in [0, 6)");
}

TEST_CASE("a tensor converts to a batch without levels, and a batch to its rows", "[lod_tensor]") {
    STATIC_REQUIRE(std::convertible_to<Tensor<float>, LoDTensor<float>>);
    STATIC_REQUIRE(!std::convertible_to<Tensor<double>, LoDTensor<float>>);
    LoDTensor<float> x(counted({2}), {{0, 2}});
    Tensor<float> const& rows = x;
    CHECK(rows.data() == x.value().data());
    Tensor<float>& in_place = x;
    in_place(0) = 5;
    CHECK(x.value()(0) == 5);
    Tensor<float> copy = x;
    copy(0) = 6;
    CHECK(x.value()(0) == 5);
    float const* const memory = x.value().data();
    Tensor<float> const moved = std::move(x);
    CHECK(moved.data() == memory);
    CHECK((x.value().size() == 0 && moved == Tensor<float>{5, 1}));
    CHECK((x == LoDTensor<float>()));
    CHECK_NOTHROW(x.check());
    CHECK(x.share().size() == 0);
}

TEST_CASE("functions of tensors accept batches, also temporary ones", "[lod_tensor]") {
    auto const first = [](Tensor<float> const& rows) { return rows(0); };
    auto const taken = [](Tensor<float> rows) { return rows.data(); };
    LoDTensor<float> x(counted({2}), {{0, 2}});
    LoDTensor<float> const fixed({7, 8}, {{0, 2}});
    CHECK((first(x) == 0 && first(fixed) == 7 && first(fixed.share()) == 7 && first(std::as_const(x)) == 0));
    CHECK(taken(x.share()) == x.value().data());
    CHECK(taken(fixed) != fixed.value().data());
}

TEST_CASE("batches are equal if rows and sequences are", "[lod_tensor]") {
    LoDTensor<float> const x({1, 2, 3}, {{0, 1, 3}});
    CHECK((x == LoDTensor<float>({1, 2, 3}, {{0, 1, 3}})));
    CHECK((x != LoDTensor<float>({1, 2, 4}, {{0, 1, 3}})));
    CHECK((x != LoDTensor<float>({1, 2, 3}, {{0, 2, 3}})));
    CHECK((x != LoDTensor<float>({{1}, {2}, {3}}, {{0, 1, 3}})));
    CHECK((x != LoDTensor<float>({1, 2, 3})));
}

TEST_CASE("a tensor that is moved into a constructor that throws is still there", "[lod_tensor]") {
    Tensor<float> value{1, 2, 3};
    CHECK_THROWS_AS(LoDTensor<float>(std::move(value), {{0, 2}}), LodError);
    CHECK(value == Tensor<float>{1, 2, 3});
}

TEST_CASE("loops over the rows, dims and levels of a batch that a function returns", "[lod_tensor]") {
    auto const made = [] { return LoDTensor<float>({{1}, {2}, {3}}, {{0, 1, 3}}); };
    float total = 0;
    for (float const x : made().value()) total += x;
    for (float const x : made().value().row(2)) total += x;
    CHECK(total == 9);
    std::vector<std::int64_t> numbers;
    for (std::int64_t const o : made().lod()[0]) numbers.push_back(o);
    for (std::int64_t const o : made().slice(1, 2).lod()[0]) numbers.push_back(o);
    for (std::size_t const dim : made().shape()) numbers.push_back(static_cast<std::int64_t>(dim));
    for (std::size_t const dim : made().value().shape()) numbers.push_back(static_cast<std::int64_t>(dim));
    for (std::int64_t const e : rowan::StepMap<>(made().lod(), 0).elements()) numbers.push_back(e);
    CHECK(numbers == std::vector<std::int64_t>{0, 1, 3, 0, 2, 3, 1, 3, 1, 1, 0, 2});
}

TEST_CASE("a batch that is moved gives its memory, not a copy", "[lod_tensor]") {
    LoDTensor<float> x({{1}, {2}, {3}}, {{0, 1, 3}});
    float const* const memory = x.value().data();
    CHECK(std::move(x).value().data() == memory);
}

TEST_CASE("a moved-from batch is empty and can be used", "[lod_tensor]") {
    LoDTensor<float> x({1, 2, 3}, {{0, 1, 3}});
    LoDTensor<float> const moved = std::move(x);
    CHECK((moved == LoDTensor<float>({1, 2, 3}, {{0, 1, 3}})));
    CHECK((x == LoDTensor<float>()));
    CHECK_NOTHROW(x.check());
    x = LoDTensor<float>({4}, {{0, 1}});
    CHECK(x.size() == 1);
}

}  // namespace test_lod_tensor
