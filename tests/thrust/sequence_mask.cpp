// tests/thrust/sequence_mask.cpp: which places of padded sequences hold elements, on a device.
#include "sequences.hpp"

#include <cstdint>

namespace test_sequence_mask {

using device::late_refusal, device::refused_alike, device::same_bits;
using rowan::sequence_mask, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("places are marked on a device", "[thrust][sequence_mask]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<std::int32_t> const lengths{{2, 0}, {1, 3}};
    auto const on_device = to_device(D{}, lengths);
    CHECK(same_bits(sequence_mask(on_device), sequence_mask(lengths)));
    CHECK(same_bits(sequence_mask(D{}, on_device, 2), sequence_mask(lengths, 2)));
    CHECK(same_bits(sequence_mask(D{}, {2, 0, 5}, 70), sequence_mask({2, 0, 5}, 70)));
    CHECK(same_bits(sequence_mask(D{}, {2, 0, 5}), sequence_mask({2, 0, 5})));
    CHECK(same_bits(sequence_mask(D{}, {}), sequence_mask({})));
    CHECK(same_bits(sequence_mask(on_device, 0), sequence_mask(lengths, 0)));
}

TEMPLATE_TEST_CASE("negative lengths throw on a device, at the latest when synchronized", "[thrust][sequence_mask][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<std::int64_t> const bad{2, -1, 3};
    CHECK(refused_alike([&] { sequence_mask(bad); }, [&] { sequence_mask(to_device(D{}, bad)); }));
    CHECK(refused_alike([] { sequence_mask({0, -3}, 4); }, [] { sequence_mask(D{}, {0, -3}, 4); }));
    auto const mask = sequence_mask(to_device(D{}, bad), 4);
    CHECK(late_refusal(D{}).find("lengths[1] = -1") != std::string::npos);
}

}  // namespace test_sequence_mask
