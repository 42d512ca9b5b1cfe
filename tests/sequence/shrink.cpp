// tests/sequence/shrink.cpp: the sequences that go on when the shorter ones have ended.
#include <rowan/sequence/reorder.hpp>
#include <rowan/sequence/shrink.hpp>

#include "sequence/batches.hpp"

#include "dtypes/own_types.hpp"

namespace test_shrink {

namespace {

using batches::batch, batches::counted, batches::dot, batches::eighths, batches::List, batches::Lists, batches::map_of, batches::refusal,
    batches::refused, batches::same, batches::Shape, batches::wild_batch;
using rowan::Cpu, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::StepMap, rowan::Tensor;

// The positions of the sequences with a step t, among those with a step `from` (all, if `from` is negative).
List live(StepMap<> const& map, std::int64_t from, std::size_t t) {
    List kept;
    std::int64_t position = 0;
    for (std::size_t j = 0; j < map.sequences(); ++j) {
        if (map.length(j) <= from) continue;
        if (map.length(j) > static_cast<std::int64_t>(t)) kept.push_back(position);
        ++position;
    }
    return kept;
}

}  // namespace

TEST_CASE("the golden cases", "[shrink]") {
    auto const map = map_of({1, 2, 3});
    auto const x = batch(Lod::from_lengths({{2, 3, 1}}));
    CHECK((shrink(x, map, 0) == x));
    CHECK((shrink(x, map, 1) == LoDTensor<float>({0, 1, 2, 3, 4}, {{0, 2, 5}})));
    CHECK((shrink(x, map, 2) == LoDTensor<float>({0, 1}, {{0, 2}})));
    auto const rows = counted({3, 2});
    CHECK(shrink(rows, map, 0) == rows);
    CHECK(shrink(rows, map, 1) == Tensor<float>{{0, 1}, {2, 3}});
    CHECK(shrink(rows, map, 2) == Tensor<float>{{0, 1}});
    CHECK((shrink(LoDTensor<float>(rows), map, 1) == LoDTensor<float>({{0, 1}, {2, 3}})));
}

TEST_CASE("sequences without a first step go at step 0", "[shrink]") {
    CHECK(shrink(counted({4}), map_of({0, 2, 0, 1}), 0) == Tensor<float>{0, 1});
    CHECK(shrink(counted({4}), map_of({0, 2, 0, 1}, false), 0) == Tensor<float>{1, 3});
}

TEST_CASE("after the last step the result is empty and valid", "[shrink]") {
    for (bool const sorted : {true, false}) {
        auto const map = map_of({1, 2, 3}, sorted);
        for (std::size_t const t : {3U, 4U, 1000U}) {
            CAPTURE(sorted, t);
            CHECK(shrink(counted({3, 2}), map, t).shape() == Shape{0, 2});
            auto const none = shrink(LoDTensor<float>(counted({6, 2}), Lod::from_lengths({{2, 3, 1}})), map, t);
            CHECK((none.lod() == Lod{{0}} && none.shape() == Shape{0, 2}));
            auto const deep = shrink(LoDTensor<float>(counted({6, 2}), Lod::from_lengths({{1, 0, 1}, {4, 2}})), map, t);
            CHECK((deep.lod() == Lod{{0}, {0}} && deep.shape() == Shape{0, 2}));
            CHECK(shrink_grad(counted({0, 2}), map, t, 3) == Tensor<float>::zeros({3, 2}));
        }
        CHECK(shrink(counted({1, 2}), map, 3).shape() == Shape{0, 2});
        CHECK(shrink(counted({0, 2}), map, 4).shape() == Shape{0, 2});
        CHECK(shrink(counted({0, 2}), map_of({}, sorted), 0).shape() == Shape{0, 2});
        CHECK(shrink(counted({2, 2}), map_of({0, 0}, sorted), 0).shape() == Shape{0, 2});
    }
}

TEST_CASE("with a sorted map, shrink returns an alias of the first rows", "[shrink]") {
    auto const map = map_of({1, 2, 3});
    auto const x = counted({3, 2});
    CHECK(shrink(x, map, 1).data() == x.data());
    auto const batch_of_three = batch(Lod::from_lengths({{2, 3, 1}}));
    CHECK(shrink(batch_of_three, map, 2).value().data() == batch_of_three.value().data());
    shrink(x, map, 2)(0, 1) = 9;
    CHECK(x(0, 1) == 9);
    Tensor<float> kept;
    LoDTensor<float> kept_batch;
    {
        kept = shrink(counted({3}), map, 1);
        kept_batch = shrink(batch(Lod::from_lengths({{2, 3, 1}})), map, 1);
    }
    CHECK(kept == Tensor<float>{0, 1});
    CHECK((kept_batch == LoDTensor<float>({0, 1, 2, 3, 4}, {{0, 2, 5}})));
}

TEST_CASE("with an unsorted map, shrink keeps the sequences that go on, from all or from the previous step", "[shrink]") {
    auto const map = map_of({1, 3, 0, 2}, false);
    CHECK(shrink(counted({4}), map, 0) == Tensor<float>{0, 1, 3});
    CHECK(shrink(counted({4}), map, 1) == Tensor<float>{1, 3});
    CHECK(shrink(Tensor<float>{10, 20, 30}, map, 1) == Tensor<float>{20, 30});
    CHECK(shrink(Tensor<float>{20, 30}, map, 2) == Tensor<float>{20});
    CHECK(shrink(counted({4}), map, 2) == Tensor<float>{1});
    auto const x = counted({4});
    shrink(x, map, 0).fill(9);
    CHECK(x == counted({4}));
    StepMap<> const own(Lod::from_lengths({{1, 3, 0, 2}}), 0, {3, 2, 0, 1});
    CHECK(shrink(counted({4}), own, 0) == Tensor<float>{0, 2, 3});
    CHECK(shrink(Tensor<float>{0, 2, 3}, own, 1) == Tensor<float>{0, 3});
    CHECK(shrink(Tensor<float>{0, 3}, own, 2) == Tensor<float>{3});
}

TEST_CASE("sequences with any levels are kept whole", "[shrink]") {
    auto const x = batch(Lod::from_lengths({{2, 0, 1, 1}, {1, 2, 0, 3}}));
    CHECK((shrink(x, map_of({1, 3, 0, 2}, false), 1) == LoDTensor<float>({3, 4, 5}, {{0, 0, 1}, {0, 3}})));
    CHECK((shrink(x, map_of({1, 3, 0, 2}, false), 0) == LoDTensor<float>({0, 1, 2, 3, 4, 5}, {{0, 2, 2, 3}, {0, 1, 3, 6}})));
    CHECK((shrink(x, map_of({1, 3, 0, 2}), 0) == LoDTensor<float>({0, 1, 2}, {{0, 2, 2, 3}, {0, 1, 3, 3}})));
    CHECK((shrink(x, map_of({1, 3, 0, 2}), 2) == LoDTensor<float>({0, 1, 2}, {{0, 2}, {0, 1, 3}})));
}

TEST_CASE("shrink keeps the sequences that go on, for random batches", "[shrink][property]") {
    CHECK(rc::check([] {
        auto const lengths = *rc::gen::container<List>(rc::gen::inRange<std::int64_t>(0, 5));
        auto const map = map_of(lengths, *rc::gen::arbitrary<bool>());
        auto const levels = *rc::gen::inRange<std::size_t>(1, 4);
        Shape const row(*rc::gen::inRange<std::size_t>(0, 4), 2);
        for (std::size_t t = 0; t <= map.steps(); ++t) {
            for (std::int64_t const from : {std::int64_t{-1}, static_cast<std::int64_t>(t) - 1}) {
                auto const n = from < 0 ? map.sequences() : map.step_size(t - 1);
                auto const kept = live(map, from, t);
                auto shape = Shape{n};
                shape.insert(shape.end(), row.begin(), row.end());
                LoDTensor<double> const rows = inputs::wild<double>(shape, t);
                auto const expected = batches::rows_of(rows, {{}, kept});
                RC_ASSERT(same(shrink(rows.value(), map, t), expected.value()));
                RC_ASSERT(same(shrink(rows, map, t), expected));

                Lists deep(levels);
                for (std::size_t l = 0, size = n; l < levels; ++l) {
                    deep[l] = *rc::gen::container<List>(size, rc::gen::inRange<std::int64_t>(0, 3));
                    size = static_cast<std::size_t>(std::accumulate(deep[l].begin(), deep[l].end(), std::int64_t{0}));
                }
                auto const x = wild_batch<double>(Lod::from_lengths(deep), row, t);
                RC_ASSERT(same(shrink(x, map, t), batches::rows_of(x, batches::sub_batch(x.lod(), 0, kept))));
            }
        }
    }));
}

TEST_CASE("shrink_grad is the adjoint, with zeros for removed rows", "[shrink][adjoint]") {
    CHECK(shrink_grad(Tensor<float>{5, 6}, map_of({1, 2, 3}), 1, 3) == Tensor<float>{5, 6, 0});
    CHECK(shrink_grad(Tensor<float>{5, 6}, map_of({1, 3, 0, 2}, false), 1, 4) == Tensor<float>{0, 5, 0, 6});
    CHECK(shrink_grad(Tensor<float>{5, 6}, map_of({1, 3, 0, 2}, false), 1, 3) == Tensor<float>{0, 5, 6});
    for (bool const sorted : {true, false}) {
        auto const map = map_of({2, 4, 0, 1, 3, 3}, sorted);
        for (std::size_t t = 0; t < 6; ++t) {
            for (std::size_t const rows : {map.sequences(), t == 0 ? map.sequences() : map.step_size(t - 1)}) {
                for (Shape const& row : {Shape{}, Shape{3}, Shape{2, 2}, Shape{1, 3, 2}}) {
                    CAPTURE(sorted, t, rows, row);
                    Shape shape{rows};
                    shape.insert(shape.end(), row.begin(), row.end());
                    auto const x = eighths(shape, 1);
                    auto const out = shrink(x, map, t);
                    auto const y = eighths(out.shape(), 2);
                    auto const grad = shrink_grad(y, map, t, rows);
                    REQUIRE(grad.shape() == shape);
                    CHECK(dot(y, out) == dot(grad, x));
                }
            }
        }
    }
}

TEST_CASE("the gradient of a batch with levels has zeros for removed sequences", "[shrink][adjoint]") {
    Lod const x_lod = Lod::from_lengths({{2, 0, 1, 1}, {1, 2, 0, 3}});
    LoDTensor<float> const grad({1, 2, 3}, {{0, 0, 1}, {0, 3}});
    CHECK((shrink_grad(grad, map_of({1, 3, 0, 2}, false), 1, x_lod) == LoDTensor<float>({0, 0, 0, 1, 2, 3}, x_lod)));
    LoDTensor<float> const first({4, 5, 6}, {{0, 2}, {0, 1, 3}});
    CHECK((shrink_grad(first, map_of({1, 3, 0, 2}), 2, x_lod) == LoDTensor<float>({4, 5, 6, 0, 0, 0}, x_lod)));
    for (bool const sorted : {true, false}) {
        auto const map = map_of({2, 4, 0, 1, 3, 3}, sorted);
        for (std::size_t t = 0; t < 6; ++t) {
            for (std::size_t const n : {map.sequences(), t == 0 ? map.sequences() : map.step_size(t - 1)}) {
                for (std::size_t levels = 1; levels < 3; ++levels) {
                    CAPTURE(sorted, t, n, levels);
                    Lists lengths{List(n)};
                    for (std::size_t s = 0; s < n; ++s) lengths[0][s] = static_cast<std::int64_t>((s + 2) % 3);
                    auto const below = static_cast<std::size_t>(std::accumulate(lengths[0].begin(), lengths[0].end(), std::int64_t{0}));
                    if (levels == 2) lengths.push_back(List(below, 2));
                    auto const lod = Lod::from_lengths(lengths);
                    LoDTensor<double> const x(eighths({static_cast<std::size_t>(lod.rows()), 2}, 1), lod);
                    auto const out = shrink(x, map, t);
                    LoDTensor<double> const y(eighths(out.shape(), 2), out.lod());
                    auto const x_grad = shrink_grad(y, map, t, lod);
                    CHECK(x_grad.lod() == lod);
                    CHECK(dot(y.value(), out.value()) == dot(x_grad.value(), x.value()));
                    CHECK(same(shrink_grad(Cpu{3}, y, map, t, lod), x_grad));
                }
            }
        }
    }
    auto const map = map_of({1, 2, 3});
    auto const refuse = [&](LoDTensor<float> const& g, Lod const& lod) {
        return refusal<ShapeError>([&](Cpu exec) { shrink_grad(exec, g, map, 1, lod); }, g, map);
    };
    LoDTensor<float> const two({1, 2}, {{0, 1, 2}});
    CHECK(refuse(two, Lod()) == "x_lod.levels() is 0, expected at least 1");
    CHECK(refuse(two, Lod{{0, 1, 2, 3, 4}}) == "x.size() is 4, expected the number of sequences, or of those that have a step 0");
    CHECK(refuse(two, Lod{{0, 1, 3, 4}}) == "out_grad.shape(0) is 2, expected 3");
}

TEST_CASE("a wrong number of rows throws", "[shrink][bad_input]") {
    auto const sorted = map_of({1, 3, 0, 2, 3});
    auto const input_order = map_of({1, 3, 0, 2, 3}, false);
    auto const refuse = [](StepMap<> const& map, std::size_t n, std::size_t t) {
        auto const x = counted({n, 2});
        LoDTensor<float> const sequences(counted({n}), Lod::from_lengths({List(n, 1)}));
        auto const text = refusal<ShapeError>([&](Cpu exec) { shrink(exec, x, map, t); }, x, map);
        CHECK(refusal<ShapeError>([&](Cpu exec) { shrink(exec, sequences, map, t); }, sequences, map) == text);
        auto const grad = counted({map.step_size(t), 2});
        CHECK(refusal<ShapeError>([&](Cpu exec) { shrink_grad(exec, grad, map, t, n); }, grad, map) == text);
        return text;
    };
    auto const text = [](std::size_t n, std::size_t before) {
        return "x.size() is " + std::to_string(n) + ", expected the number of sequences, or of those that have a step " +
               std::to_string(before);
    };
    CHECK(refuse(sorted, 6, 1) == text(6, 0));
    CHECK(refuse(sorted, 2, 1) == text(2, 0));
    CHECK(refuse(sorted, 1, 2) == text(1, 1));
    CHECK(refuse(sorted, 3, 0) == text(3, 0));
    CHECK(refuse(input_order, 6, 1) == text(6, 0));
    CHECK(refuse(input_order, 3, 1) == text(3, 0));
    CHECK(refuse(input_order, 4, 2) == text(4, 1));
    CHECK(refuse(input_order, 4, 0) == text(4, 0));
    CHECK(refuse(input_order, 1, 9) == text(1, 8));
    CHECK_NOTHROW(shrink(counted({4, 2}), input_order, 1));
    CHECK_NOTHROW(shrink(counted({5, 2}), input_order, 1));
    CHECK_NOTHROW(shrink(counted({3, 2}), sorted, 1));
}

TEST_CASE("a gradient of another size, a tensor of rank 0 and missing rows throw", "[shrink][bad_input]") {
    auto const map = map_of({1, 2, 3});
    auto const grad = counted({3, 2});
    auto const error = refused<ShapeError>([&](Cpu exec) { shrink_grad(exec, grad, map, 1, 3); }, grad);
    CHECK(error.what() == std::string("out_grad.shape(0) is 3, expected 2"));
    auto const number = Tensor<float>::full({}, 1);
    CHECK(refusal<ShapeError>([&](Cpu exec) { shrink(exec, number, map, 0); }, number) == "x rank is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { shrink_grad(exec, number, map, 2, 3); }, number) == "out_grad rank is 0, expected at least 1");
    auto x = batch(Lod::from_lengths({{2, 3, 1}}));
    x.value().resize(Shape{5});
    CHECK(refusal<LodError>([&](Cpu exec) { shrink(exec, x, map, 1); }) == "lod[0][3] = 6 is not 5, the number of rows");
}

TEST_CASE("rows of a custom element type are kept", "[shrink]") {
    auto const map = map_of({1, 3, 0, 2}, false);
    CHECK(shrink(Tensor<test::fixed>{0.5, 1, 2, 4}, map, 1) == Tensor<test::fixed>{1, 4});
    CHECK(shrink_grad(Tensor<test::fixed>{1, 4}, map, 1, 4) == Tensor<test::fixed>{0, 1, 0, 4});
    CHECK(shrink(Tensor<bool>{true, false, true, true}, map, 1) == Tensor<bool>{false, true});
}

TEST_CASE("the same rows on any number of threads", "[shrink]") {
    inputs::Random random(9);
    List lengths(90'000), sizes(90'000);
    for (auto& length : lengths) length = random.below(4);
    for (auto& size : sizes) size = random.below(4);
    sizes[70'001] = 300'000;
    lengths[70'001] = 3;
    auto const rows = inputs::wild<float>({90'000, 7}, 1);
    auto const x = wild_batch<float>(Lod::from_lengths({sizes}), {2}, 2);
    for (bool const sorted : {true, false}) {
        auto const map = map_of(lengths, sorted);
        auto const kept = live(map, -1, 1);
        auto const expected = batches::rows_of(LoDTensor<float>(rows), {{}, kept}).value();
        auto const sequences = batches::rows_of(x, batches::sub_batch(x.lod(), 0, kept));
        auto padded = Tensor<float>::zeros(rows.shape());
        for (auto const r : kept) std::ranges::copy(rows.row(static_cast<std::size_t>(r)), padded.row(static_cast<std::size_t>(r)).begin());
        for (int const threads : {1, 2, 3, 8}) {
            CAPTURE(sorted, threads);
            CHECK(same(shrink(Cpu{threads}, rows, map, 1), expected));
            CHECK(same(shrink(Cpu{threads}, x, map, 1), sequences));
            CHECK(same(shrink_grad(Cpu{threads}, expected, map, 1, 90'000), padded));
        }
    }
}

}  // namespace test_shrink
