// tests/thrust/map_fn.cpp: a function applied to every slot of an array on a device.
#include "sequences.hpp"

#include <cstddef>

namespace test_map_fn {

using device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::map_fn, rowan::Pooling, rowan::Tensor, rowan::TensorArray, rowan::to_device;

TEMPLATE_TEST_CASE("a function of the host's is called with the slots of a device", "[thrust][map_fn]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const lod = Lod::from_lengths({{2, 0, 1}, {3, 1, 2}});
    auto const host = TensorArray<float>::unpack(device::some_batch<float>(lod, 3, 1)).steps;
    auto const pool = [](auto const& step) { return sequence_pool(step, Pooling::mean); };
    CHECK(same_bits(map_fn(pool, to_device(D{}, host)), map_fn(pool, host)));
    auto const rows = [](Tensor<float, D> const& step) { return step; };
    CHECK(same_bits(map_fn(rows, to_device(D{}, host)).concat(), host.concat()));
    TensorArray<float, D> gap;
    gap.resize(1);
    CHECK_THROWS_AS(map_fn(pool, gap), rowan::IndexError);
}

}  // namespace test_map_fn
