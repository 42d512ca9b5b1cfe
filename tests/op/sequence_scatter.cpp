// tests/op/sequence_scatter.cpp
#include <rowan/op/sequence/sequence_scatter.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cstdint>

namespace test_op_sequence_scatter {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_scatter, rowan::sequence_scatter_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

namespace {

constexpr auto ids = tensor_spec<std::int64_t>({UNK}, 1);
static_assert(sequence_scatter_op::infer(tensor_spec<float>({UNK, 4}, 1), ids, tensor_spec<float>({UNK})) == tensor_spec<float>({UNK, 4}, 1));
static_assert(sequence_scatter_op::infer(tensor_spec<float>({3, 4, 2}), ids, tensor_spec<float>({7, 2}, 1)) == tensor_spec<float>({3, 4, 2}));

}  // namespace

TEST_CASE("sequence_scatter adds updates to places of rows", "[op][golden]") {
    // the example of Paddle's documentation, in which x contains ones
    auto const ones = Tensor<float>::full({3, 6}, 1);
    LoDTensor<std::int64_t> const places({0, 1, 2, 5, 4, 3, 2, 1, 3, 2, 5, 4}, Lod{{0, 3, 8, 12}});
    Tensor<float> const updates{0.3F, 0.3F, 0.4F, 0.1F, 0.2F, 0.3F, 0.4F, 0.0F, 0.2F, 0.3F, 0.1F, 0.4F};
    auto const out = sequence_scatter(LoDTensor<float>(ones), places, updates);
    CHECK((out == LoDTensor<float>(Tensor<float>{{1.3F, 1.3F, 1.4F, 1.0F, 1.0F, 1.0F}, {1.0F, 1.0F, 1.4F, 1.3F, 1.2F, 1.1F}, {1.0F, 1.0F, 1.3F, 1.2F, 1.4F, 1.1F}})));
    CHECK(ones(0, 0) == 1);

    LoDTensor<float> const x(Tensor<float>::zeros({3, 3}), Lod{{0, 1, 3}});
    LoDTensor<std::int32_t> const repeated({2, 0, 2, 1}, Lod{{0, 3}, {0, 3, 3, 4}});
    CHECK((sequence_scatter(x, repeated, Tensor<float>{1, 2, 3, 4}) == LoDTensor<float>({{2, 0, 4}, {0, 0, 0}, {0, 4, 0}}, x.lod())));
}

TEST_CASE("sequence_scatter of 16 bits rounds the sum of a place once", "[op]") {
    using T = rowan::bfloat16;
    LoDTensor<std::int32_t> const same(Tensor<std::int32_t>::zeros({1000}), Lod{{0, 1000}});
    CHECK((sequence_scatter(LoDTensor<T>({{24, 1}}, Lod()), same, Tensor<T>::full({1000}, T(1.0F))).value() == Tensor<T>{{1024, 1}}));
}

TEST_CASE("sequence_scatter without elements", "[op]") {
    LoDTensor<std::int64_t> const none(Tensor<std::int64_t>::zeros({0}), Lod{{0, 0}}), no_rows(Tensor<std::int64_t>::zeros({0}), Lod{{0}}), one({1}, Lod{{0, 1}});
    LoDTensor<float> const x({{1, 2}}, Lod()), narrow(Tensor<float>::zeros({1, 0})), empty(Tensor<float>::zeros({0, 2})), flat(Tensor<float>::zeros({1, 2, 0}));
    CHECK(sequence_scatter(x, none, Tensor<float>::zeros({0})) == x);
    CHECK(sequence_scatter(narrow, none, Tensor<float>::zeros({0})) == narrow);
    CHECK(sequence_scatter(empty, no_rows, Tensor<float>::zeros({0})) == empty);
    CHECK(sequence_scatter(flat, one, Tensor<float>::zeros({1, 0})) == flat);
    CHECK(rowan::sequence_scatter_op::backward(Cpu{}, one, LoDTensor<float>(Tensor<float>::zeros({1, 0})), flat).shape() == Tensor<float>::shape_type{1, 0});
}

TEST_CASE("sequence_scatter has the same bits on any number of threads", "[op]") {
    std::vector<std::int64_t> lengths(300, 700);
    LoDTensor<double> const x(test::values({300, 50}, 1));
    LoDTensor<std::int32_t> places(Tensor<std::int32_t>::from_shape({210'000}), Lod::from_lengths({lengths}));
    for (std::size_t i = 0; i < places.value().size(); ++i) places.value()(i) = static_cast<std::int32_t>(i * i % 47);
    auto const updates = test::values({210'000}, 2);
    auto slow = x;
    for (std::size_t i = 0; i < updates.size(); ++i) slow.value()(i / 700, static_cast<std::size_t>(places.value()(i))) += updates(i);
    for (int const threads : {1, 2, 8}) CHECK(sequence_scatter(Cpu{threads}, x, places, updates) == slow);
}

}  // namespace test_op_sequence_scatter
