// tests/thrust/sequence_slice.cpp: a part of each sequence on a device.
#include "sequences.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_sequence_slice {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_slice, rowan::sequence_slice_grad, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("sequences are sliced on a device, and their gradients put back", "[thrust][sequence_slice]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{1}, {2}, {3}, {4}, {5}}, Lod::from_lengths({{3, 2}}));
    LoDTensor<float> const part({{2}, {3}}, Lod::from_lengths({{2, 0}}));
    CHECK(same_bits(sequence_slice(x, {1, 0}, {2, 0}), part));
    CHECK(same_bits(sequence_slice(x, to_device(D{}, Tensor<std::int32_t>{1, 0}), to_device(D{}, Tensor<std::int64_t>{2, 0})), part));
    CHECK(same_bits(sequence_slice_grad(to_device(D{}, part), x.lod(), {1, 0}, {2, 0}).value(), Tensor<float>{{0}, {2}, {3}, {0}, {0}}));
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        std::vector<std::int64_t> offset, length;
        for (auto const n : lod.lengths(lod.levels() - 1)) {
            offset.push_back(n / 3);
            length.push_back(n / 2);
        }
        auto const sliced = sequence_slice(host, offset, length);
        CHECK(same_bits(sequence_slice(D{}, to_device(D{}, host), offset, length), sliced));
        CHECK(same_bits(sequence_slice_grad(D{}, to_device(D{}, sliced), lod, offset, length), sequence_slice_grad(sliced, lod, offset, length)));
    });
}

TEMPLATE_TEST_CASE("sequence_slice on a device throws like the host's", "[thrust][sequence_slice][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using List = std::vector<std::int64_t>;
    LoDTensor<float> const host({{1}, {2}, {3}}, Lod::from_lengths({{1, 2}}));
    auto const slice = [](auto const& x, List offset, List length) { return [x, offset, length] { sequence_slice(x, offset, length); }; };
    auto const alike = [&](List const& offset, List const& length) { return refused_alike(slice(host, offset, length), slice(to_device(D{}, host), offset, length)); };
    CHECK(alike({0}, {1, 1}));
    CHECK(alike({0, 0}, {1}));
    CHECK(alike({0, -1}, {1, 1}));
    CHECK(alike({0, 1}, {1, 2}));
    CHECK(refused_alike([&] { sequence_slice_grad(host, host.lod(), {0, 0}, {1, 1}); }, [&] { sequence_slice_grad(to_device(D{}, host), host.lod(), {0, 0}, {1, 1}); }));
}

}  // namespace test_sequence_slice
