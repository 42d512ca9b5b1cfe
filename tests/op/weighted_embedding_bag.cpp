// tests/op/weighted_embedding_bag.cpp
#include <rowan/op/table/weighted_embedding_bag.hpp>

#include "catch.hpp"

namespace test_weighted_embedding_bag {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::Tensor, rowan::weighted_embedding_bag_op;
using rowan::tensor_spec, rowan::UNK;

namespace {

LoDTensor<std::int64_t> const bags({3, 1, 3, 0, 2, 2}, Lod{{0, 3, 3, 4, 6}});  // [3 1 3] [] [0] [2 2]
Tensor<float> const table{{1, 10}, {2, 20}, {3, 30}, {4, 40}};

}  // namespace

static_assert(weighted_embedding_bag_op::infer(tensor_spec<float>({9, 4}), tensor_spec<std::int32_t>({UNK}, 1), tensor_spec<float>({UNK})) ==
              tensor_spec<float>({UNK, 4}));

TEST_CASE("weights of a bag count as in embedding_lookup_sparse", "[op]") {
    Tensor<float> const weight{1, 2, 3, 5, 1, -1};
    auto const pooled = [&](Pooling pool) { return rowan::embedding_bag(Cpu{}, table, bags, weight, {pool}).value(); };
    CHECK((pooled(Pooling::sum) == Tensor<float>{{20, 200}, {0, 0}, {5, 50}, {0, 0}}));
    CHECK((pooled(Pooling::mean) == Tensor<float>{{20.f / 6, 200.f / 6}, {0, 0}, {1, 10}, {0, 0}}));  // the last divides by 0
    CHECK((pooled(Pooling::max) == Tensor<float>{{12, 120}, {0, 0}, {5, 50}, {3, 30}}));
}

TEST_CASE("the gradient of a weight of 16 bits is rounded once, after all columns", "[op]") {
    using rowan::bfloat16;
    auto const ones = Tensor<bfloat16>::full({1, 1000}, bfloat16(1.0F));
    LoDTensor<std::int64_t> const id(Tensor<std::int64_t>{0}, Lod{{0, 1}});
    for (Pooling const pool : {Pooling::sum, Pooling::max})
        CHECK(std::get<1>(rowan::embedding_bag_grad(Cpu{}, ones, id, Tensor<bfloat16>{bfloat16(1.0F)}, ones, {pool})) == Tensor<bfloat16>{bfloat16(1000.0F)});
}

}  // namespace test_weighted_embedding_bag
