// tests/thrust/shrink.cpp: the sequences that go on, on a device.
#include "sequences.hpp"

#include <cstddef>
#include <vector>

namespace test_shrink {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::shrink, rowan::shrink_grad, rowan::StepMap, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("shrink on a device keeps rows of longer sequences, without a copy if they are sorted", "[thrust][shrink]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    StepMap<D> const map(Lod::from_lengths({{3, 6, 1}}), 0);
    Tensor<float, D> const x{{1}, {2}, {3}};
    auto const rest = shrink(x, map, 1);
    CHECK(rest.data() == x.data());
    CHECK(same_bits(rest, Tensor<float>{{1}, {2}}));
    CHECK(same_bits(shrink_grad(rest, map, 1, 3), Tensor<float>{{1}, {2}, {0}}));
    StepMap<D> const input_order(Lod::from_lengths({{3, 1, 6}}), 0, false);
    CHECK(same_bits(shrink(D{}, x, input_order, 1), Tensor<float>{{1}, {3}}));
}

TEMPLATE_TEST_CASE("shrink on a device equals the host's", "[thrust][shrink]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        for (bool const sorted : {true, false}) {
            StepMap<D> const map(lod, 0, sorted);
            StepMap<> const host_map(lod, 0, sorted);
            auto const all = reorder(device::some_batch<T>(lod, width, 1), host_map);
            std::vector<std::size_t> const steps{0, 1, 2, 64, host_map.steps()};
            for (std::size_t const t : steps) {
                auto const rows = device::filled<T>({t == 0 ? host_map.sequences() : host_map.step_size(t - 1), width}, 2);
                auto const kept = shrink(rows, host_map, t);
                CHECK(same_bits(shrink(D{}, to_device(D{}, rows), map, t), kept));
                CHECK(same_bits(shrink_grad(D{}, to_device(D{}, kept), map, t, rows.shape()[0]), shrink_grad(kept, host_map, t, rows.shape()[0])));
                auto const going = shrink(all, host_map, t);
                CHECK(same_bits(shrink(to_device(D{}, all), map, t), going));
                CHECK(same_bits(shrink_grad(to_device(D{}, going), map, t, all.lod()), shrink_grad(going, host_map, t, all.lod())));
            }
        }
    });
}

TEMPLATE_TEST_CASE("shrink on a device throws like the host's", "[thrust][shrink][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Lod const lod = Lod::from_lengths({{3, 6, 1}});
    StepMap<D> const map(lod, 0);
    StepMap<> const host_map(lod, 0);
    Tensor<float> const four{{1}, {2}, {3}, {4}};
    CHECK(refused_alike([&] { shrink(four, host_map, 1); }, [&] { shrink(to_device(D{}, four), map, 1); }));
    CHECK(refused_alike([&] { shrink_grad(four, host_map, 1, 3); }, [&] { shrink_grad(to_device(D{}, four), map, 1, 3); }));
    CHECK(refused_alike([&] { shrink_grad(LoDTensor<float>(four), host_map, 1, Lod()); }, [&] { shrink_grad(LoDTensor<float, D>(to_device(D{}, four)), map, 1, Lod()); }));
}

}  // namespace test_shrink
