// tests/thrust/sequence_reverse.cpp: sequences in reverse on a device.
#include "sequences.hpp"

#include <cstddef>

namespace test_sequence_reverse {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_reverse, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("the rows of each sequence are reversed on a device", "[thrust][sequence_reverse]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{1}, {2}, {3}, {4}, {5}}, Lod{{0, 3, 3, 5}});
    CHECK(same_bits(sequence_reverse(x), LoDTensor<float>({{3}, {2}, {1}, {5}, {4}}, Lod{{0, 3, 3, 5}})));
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        CHECK(same_bits(sequence_reverse(D{}, to_device(D{}, host)), sequence_reverse(host)));
    });
    LoDTensor<float> const flat(Tensor<float>{{1}});
    CHECK(refused_alike([&] { sequence_reverse(flat); }, [&] { sequence_reverse(to_device(D{}, flat)); }));
}

}  // namespace test_sequence_reverse
