// tests/op/lookup_bag.cpp: the deprecated names.
#include <rowan/op/table/lookup_bag.hpp>

#include "catch.hpp"

#include <cstdint>
#include <type_traits>

namespace test_lookup_bag {

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Tensor;

static_assert(std::is_same_v<rowan::lookup_bag_op, rowan::embedding_bag_op>);
static_assert(std::is_same_v<rowan::weighted_bag_op, rowan::weighted_embedding_bag_op>);

TEST_CASE("lookup_bag and its gradients equal those of embedding_bag", "[op]") {
    LoDTensor<std::int64_t> const bags({3, 1, 0}, Lod{{0, 2, 3}});
    Tensor<float> const table{{1, 10}, {2, 20}, {3, 30}, {4, 40}}, weight{2, 1, 3}, grad{{1, 2}, {3, 4}};
    CHECK(lookup_bag(Cpu{}, table, bags) == embedding_bag(Cpu{}, table, bags));
    CHECK(lookup_bag(Cpu{}, table, bags, weight) == embedding_bag(Cpu{}, table, bags, weight));
    CHECK(lookup_bag_grad(Cpu{}, table, bags, grad) == embedding_bag_grad(Cpu{}, table, bags, grad));
    CHECK((lookup_bag_grad(Cpu{}, table, bags, weight, grad) == embedding_bag_grad(Cpu{}, table, bags, weight, grad)));
}

}  // namespace test_lookup_bag
