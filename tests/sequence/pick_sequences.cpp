// tests/sequence/pick_sequences.cpp: sequences picked by a list, and their gradients.
#include <rowan/sequence/pick_sequences.hpp>

#include "sequence/batches.hpp"

namespace test_pick_sequences {

using batches::batch, batches::counted, batches::dot, batches::eighths, batches::List, batches::refusal, batches::refused, batches::same,
    batches::Shape, batches::wild_batch;
using rowan::Cpu, rowan::IndexError, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::pick_sequences, rowan::pick_sequences_grad,
    rowan::ShapeError, rowan::Tensor;

TEST_CASE("sequences are picked in the order of the list, repeated ones again", "[pick_sequences][golden]") {
    auto const x = batch(Lod::from_lengths({{2, 0, 3}}));
    CHECK((pick_sequences(x, {0, 2, 2}) == LoDTensor<float>({0, 1, 2, 3, 4, 2, 3, 4}, {{0, 2, 5, 8}})));
    CHECK((pick_sequences(Cpu{2}, x, std::vector<int>{2, 1, 0}) == LoDTensor<float>({2, 3, 4, 0, 1}, {{0, 3, 3, 5}})));
    CHECK((pick_sequences(batch(Lod::from_lengths({{2, 0, 1}, {1, 2, 3}})), {2, 0, 1, 2}) ==
           LoDTensor<float>({3, 4, 5, 0, 1, 2, 3, 4, 5}, {{0, 1, 3, 3, 4}, {0, 3, 4, 6, 9}})));
    CHECK(pick_sequences(x, {}).shape() == Shape{0});
    CHECK(pick_sequences(x, {}).lod() == Lod{{0}});
}

TEST_CASE("without levels, rows are picked", "[pick_sequences][golden]") {
    LoDTensor<float> const x(counted({3, 2}));
    CHECK((pick_sequences(x, {2, 0, 2}) == LoDTensor<float>({{4, 5}, {0, 1}, {4, 5}})));
    CHECK((pick_sequences_grad({{1, 2}, {3, 4}, {5, 6}}, x, {2, 0, 2}) == LoDTensor<float>({{3, 4}, {0, 0}, {6, 8}})));
}

TEST_CASE("the gradient of a repeated sequence is the sum in the order of the list", "[pick_sequences][golden]") {
    auto const x = batch(Lod::from_lengths({{2, 1, 1}}));
    CHECK((pick_sequences_grad({1, 2, 30, 4, 5}, x, {0, 2, 0}) == LoDTensor<float>({5, 7, 0, 30}, x.lod())));
    Tensor<float> const out_grad{7, 1e8F, 1, -1e8F};  // 1e8 + 1 is rounded to 1e8
    CHECK((pick_sequences_grad(out_grad, LoDTensor<float>(counted({2})), {1, 0, 0, 0}) == LoDTensor<float>({0, 7})));
    CHECK((pick_sequences_grad({1e8F, 7, -1e8F, 1}, LoDTensor<float>(counted({2})), {0, 1, 0, 0}) == LoDTensor<float>({1, 7})));
}

TEST_CASE("picked sequences equal those copied one by one, and the gradient is the adjoint", "[pick_sequences][property]") {
    CHECK(rc::check([] {
        auto const levels = *rc::gen::inRange<std::size_t>(0, 4);
        auto const lod = levels == 0 ? Lod() : batches::arbitrary_lod(levels);
        Shape shape{levels == 0 ? *rc::gen::inRange<std::size_t>(0, 5) : static_cast<std::size_t>(lod.rows()), 2};
        LoDTensor<double> const x(eighths(shape, *rc::gen::arbitrary<std::uint64_t>()), lod);
        auto const m = static_cast<std::int64_t>(x.size());
        auto const ids = m == 0 ? List() : *rc::gen::container<List>(rc::gen::inRange<std::int64_t>(0, m));
        auto const picked = pick_sequences(x, ids);
        RC_ASSERT(same(picked, batches::rows_of(x, levels == 0 ? batches::Plain{{}, ids} : batches::sub_batch(lod, 0, ids))));
        auto const y = eighths(picked.shape(), 3);
        auto const grad = pick_sequences_grad(y, x, ids);
        RC_ASSERT(grad.lod() == lod);
        RC_ASSERT(dot(y, picked.value()) == dot(grad.value(), x.value()));
    }));
}

TEST_CASE("bad ids and other gradients throw", "[pick_sequences][bad_input]") {
    auto x = batch(Lod::from_lengths({{2, 0, 3}}));
    auto const error = refused<IndexError>([&](Cpu exec) { pick_sequences(exec, x, {0, 3, -1}); }, x);
    CHECK((error.field() == "ids" && error.position() == 1 && error.value() == 3 && error.bound() == 3));
    CHECK(error.what() == std::string("ids[1] = 3 is not in [0, 3)"));
    CHECK(refusal<IndexError>([&](Cpu exec) { pick_sequences_grad(exec, Tensor<float>{1}, x, {-1}); }, x) == "ids[0] = -1 is not in [0, 3)");
    CHECK(refusal<IndexError>([&](Cpu exec) { pick_sequences(exec, LoDTensor<float>(counted({0, 2})), {0}); }) == "ids[0] = 0 is not in [0, 0)");
    CHECK(refusal<ShapeError>([&](Cpu exec) { pick_sequences(exec, x, Tensor<std::int64_t>{{0}}); }) == "ids rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { pick_sequences_grad(exec, counted({5, 1}), x, {2, 0}); }, x) == "out_grad.shape() is [5, 1], expected [5]");
    std::size_t const many = std::size_t{1} << 62;
    LoDTensor<std::uint8_t> const wide(Tensor<std::uint8_t>::from_shape({many, 0}), Lod::from_lengths({{static_cast<std::int64_t>(many)}}));
    CHECK_THROWS_AS(pick_sequences(wide, {0, 0}), ShapeError);
    x.value().resize(Shape{4});
    CHECK(refusal<LodError>([&](Cpu exec) { pick_sequences(exec, x, {0}); }) == "lod[0][3] = 5 is not 4, the number of rows");
}

}  // namespace test_pick_sequences
