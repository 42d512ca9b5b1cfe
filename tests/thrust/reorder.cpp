// tests/thrust/reorder.cpp: sequences in the order of a map on a device, and back.
#include "sequences.hpp"

#include <cstddef>

namespace test_reorder {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::reorder, rowan::reorder_grad, rowan::StepMap, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("rows on a device are moved to the order of a map and back", "[thrust][reorder]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    StepMap<D> const map(Lod::from_lengths({{3, 6, 1}}), 0);
    Tensor<float, D> const x{{1}, {2}, {3}};
    CHECK(same_bits(reorder(x, map), Tensor<float>{{2}, {1}, {3}}));
    CHECK(same_bits(reorder_grad(D{}, reorder(x, map), map), to_host(x)));
}

TEMPLATE_TEST_CASE("rows and sequences on a device are reordered like the host's", "[thrust][reorder]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        auto const rows = device::filled<T>({lod.sequences(0), width}, 2);
        auto const x = to_device(D{}, host);
        for (bool const sorted : {true, false}) {
            StepMap<D> const map(lod, 0, sorted);
            StepMap<> const host_map(lod, 0, sorted);
            CHECK(same_bits(reorder(D{}, x, map), reorder(host, host_map)));
            CHECK(same_bits(reorder_grad(x, map), reorder_grad(host, host_map)));
            CHECK(same_bits(reorder(D{}, to_device(D{}, rows), map), reorder(rows, host_map)));
            CHECK(same_bits(reorder_grad(to_device(D{}, rows), map), reorder_grad(rows, host_map)));
        }
    });
}

TEMPLATE_TEST_CASE("reorder on a device refuses another number of rows", "[thrust][reorder][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Lod const lod = Lod::from_lengths({{3, 6, 1}});
    Tensor<float> const two{{1}, {2}};
    CHECK(refused_alike([&] { reorder(two, StepMap<>(lod, 0)); }, [&] { reorder(to_device(D{}, two), StepMap<D>(lod, 0)); }));
}

}  // namespace test_reorder
