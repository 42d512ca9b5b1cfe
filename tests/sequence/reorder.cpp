// tests/sequence/reorder.cpp: rows and sequences brought into a map's order, and back.
#include <rowan/sequence/reorder.hpp>

#include "sequence/batches.hpp"

#include "dtypes/own_types.hpp"

namespace test_reorder {

namespace {

using batches::batch, batches::counted, batches::dot, batches::eighths, batches::List, batches::Lists, batches::map_of, batches::refusal,
    batches::refused, batches::same, batches::Shape, batches::wild_batch;
using rowan::Cpu, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::StepMap, rowan::Tensor;

List random_order(std::size_t n) {
    List order(n);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::size_t i = 1; i < n; ++i) std::swap(order[i], order[*rc::gen::inRange<std::size_t>(0, i + 1)]);
    return order;
}

}  // namespace

TEST_CASE("rows are moved to the order of the map", "[reorder]") {
    auto const map = map_of({2, 4, 1, 3});
    CHECK(reorder(counted({4}), map) == Tensor<float>{1, 3, 0, 2});
    CHECK(reorder(counted({4, 2}), map) == Tensor<float>{{2, 3}, {6, 7}, {0, 1}, {4, 5}});
    CHECK(reorder(Cpu{2}, Tensor<std::int64_t>{5, 6, 7, 8}, map) == Tensor<std::int64_t>{6, 8, 5, 7});
    CHECK((reorder(LoDTensor<float>(counted({4})), map) == LoDTensor<float>({1, 3, 0, 2})));
    CHECK(reorder(counted({4}), map_of({2, 4, 1, 3}, false)) == counted({4}));
}

TEST_CASE("with levels, whole sequences move, also empty ones", "[reorder]") {
    CHECK((reorder(batch(Lod::from_lengths({{1, 2, 0, 3}})), map_of({2, 4, 1, 3})) ==
           LoDTensor<float>({1, 2, 3, 4, 5, 0}, {{0, 2, 5, 6, 6}})));
    CHECK((reorder(batch(Lod::from_lengths({{2, 0, 1}, {1, 2, 3}})), map_of({1, 2, 3})) ==
           LoDTensor<float>({3, 4, 5, 0, 1, 2}, {{0, 1, 1, 3}, {0, 3, 4, 6}})));
    CHECK((reorder(batch(Lod{{0, 0, 0}}), map_of({0, 3})) == batch(Lod{{0, 0, 0}})));
}

TEST_CASE("an empty batch is reordered to an empty one with its width", "[reorder]") {
    auto const none = map_of({});
    CHECK(reorder(Tensor<float>::from_shape({0, 3}), none).shape() == Shape{0, 3});
    CHECK(reorder(Tensor<float>::from_shape({2, 0}), map_of({1, 2})).shape() == Shape{2, 0});
    LoDTensor<float> const x(Tensor<float>::from_shape({0, 3}), {{0}, {0}});
    CHECK(same(reorder(x, none), x));
    CHECK(reorder(counted({0, 2}), StepMap<>()).shape() == Shape{0, 2});
    CHECK(reorder_grad(counted({0, 2}), none).shape() == Shape{0, 2});
}

TEST_CASE("a reordered batch equals one built sequence by sequence", "[reorder][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        Shape const row(*rc::gen::inRange<std::size_t>(0, 4), 2);
        auto const x = wild_batch<double>(lod, row, *rc::gen::arbitrary<std::uint64_t>());
        auto const order = random_order(lod.sequences(0));
        StepMap<> const map(lod, 0, order);
        RC_ASSERT(same(reorder(x, map), batches::rows_of(x, batches::sub_batch(lod, 0, order))));
    }));
}

TEST_CASE("reorder and reorder_grad are inverse to each other", "[reorder][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        auto const x = wild_batch<float>(lod, {2}, *rc::gen::arbitrary<std::uint64_t>());
        StepMap<> const map(lod, 0, random_order(lod.sequences(0)));
        RC_ASSERT(same(reorder_grad(reorder(x, map), map), x));
        RC_ASSERT(same(reorder(reorder_grad(x, map), map), x));
        auto const rows = inputs::wild<float>({lod.sequences(0), 3}, 4);
        RC_ASSERT(same(reorder_grad(reorder(rows, map), map), rows));
    }));
}

TEST_CASE("reorder and reorder_grad are each other's adjoint", "[reorder][adjoint]") {
    for (bool const sorted : {true, false}) {
        auto const map = map_of({2, 4, 0, 1, 3, 3}, sorted);
        for (Shape const& shape : {Shape{6}, Shape{6, 3}, Shape{6, 2, 2}, Shape{6, 1, 3, 2}}) {
            auto const x = eighths(shape, 1), y = eighths(shape, 2);
            CHECK(dot(y, reorder(x, map)) == dot(reorder_grad(y, map), x));
        }
        auto const lod = Lod::from_lengths({{2, 0, 1, 3, 1, 0}, {1, 2, 0, 3, 1, 1, 2}});
        LoDTensor<double> const x(eighths({10, 2}, 1), lod);
        auto const moved = reorder(x, map);
        LoDTensor<double> const y(eighths({10, 2}, 2), moved.lod());
        auto const grad = reorder_grad(y, map);
        CHECK(grad.lod() == lod);
        CHECK(dot(y.value(), moved.value()) == dot(grad.value(), x.value()));
    }
}

TEST_CASE("a batch with another number of sequences throws", "[reorder][bad_input]") {
    auto const map = map_of({2, 4, 1, 3});
    for (std::size_t const n : {0U, 3U, 5U}) {
        auto const x = counted({n, 2});
        std::string const text = "x.size() is " + std::to_string(n) + ", expected 4, the number of sequences of the map";
        CHECK(refusal<ShapeError>([&](Cpu exec) { reorder(exec, x, map); }, x, map) == text);
        CHECK(refusal<ShapeError>([&](Cpu exec) { reorder_grad(exec, x, map); }, x, map) == text);
    }
    auto const four_rows = batch(Lod::from_lengths({{1, 2, 1}}));
    auto const error = refused<ShapeError>([&](Cpu exec) { reorder(exec, four_rows, map); }, four_rows);
    CHECK((error.field() == "x.size()" && error.actual() == "3"));
    CHECK(refusal<ShapeError>([&](Cpu exec) { reorder_grad(exec, four_rows, map); }, four_rows) == error.what());
    auto const number = Tensor<float>::full({}, 1);
    CHECK(refusal<ShapeError>([&](Cpu exec) { reorder(exec, number, map_of({1})); }, number) == "value rank is 0, expected at least 1");
    auto x = batch(Lod::from_lengths({{1, 2, 0, 3}}));
    x.value().resize(Shape{5});
    CHECK(refusal<LodError>([&](Cpu exec) { reorder(exec, x, map); }) == "lod[0][4] = 6 is not 5, the number of rows");
    CHECK_NOTHROW(reorder(counted({4, 2}), map));
}

TEMPLATE_TEST_CASE("rows of every element type are reordered", "[reorder]", double, rowan::bfloat16, bool, std::int32_t, std::uint8_t) {
    auto const x = inputs::wild<TestType>({4, 5}, 1);
    auto const moved = reorder(x, map_of({2, 4, 1, 3}));
    for (std::size_t j = 0; j < 4; ++j) {
        std::size_t const from[]{1, 3, 0, 2};
        CHECK(same(Tensor<TestType>(moved.slice(j, j + 1)), Tensor<TestType>(x.slice(from[j], from[j] + 1))));
    }
}

TEST_CASE("rows of a custom element type are reordered", "[reorder]") {
    CHECK(reorder(Tensor<test::fixed>{0.5, 1, 2, 4}, map_of({2, 4, 1, 3})) == Tensor<test::fixed>{1, 4, 0.5, 2});
}

TEST_CASE("a reordered tensor does not share memory with its source", "[reorder]") {
    auto const x = counted({2});
    auto moved = reorder(x, map_of({2, 1}));
    moved.fill(9);
    CHECK(x == counted({2}));
}

TEST_CASE("the same order on any number of threads", "[reorder]") {
    inputs::Random random(8);
    List lengths(70'000), sizes(70'000);
    for (auto& length : lengths) length = random.below(9);
    for (auto& size : sizes) size = random.below(9);
    sizes[60'000] = 200'000;
    auto const lod = Lod::from_lengths({sizes});
    for (bool const sorted : {true, false}) {
        auto const map = map_of(lengths, sorted);
        auto const order = batches::order(map);
        auto const rows = inputs::wild<float>({70'000, 5}, 1);
        auto const x = wild_batch<float>(lod, {2}, 2);
        auto const sequences = batches::rows_of(x, batches::sub_batch(lod, 0, order));
        for (int const threads : {1, 2, 3, 8}) {
            CAPTURE(sorted, threads);
            Cpu const exec{threads};
            auto const moved = reorder(exec, rows, map);
            bool good = true;
            for (std::size_t j = 0; j < order.size(); ++j) {
                good = good && std::ranges::equal(moved.row(j), rows.row(static_cast<std::size_t>(order[j])),
                                                  [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; });
            }
            CHECK(good);
            CHECK(same(reorder_grad(exec, moved, map), rows));
            CHECK(same(reorder(exec, x, map), sequences));
            CHECK(same(reorder_grad(exec, sequences, map), x));
        }
    }
}

}  // namespace test_reorder
